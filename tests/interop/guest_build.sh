#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the guest that is our peer in the interop tests: Debian's kernel with Linux' soft-iWARP driver (siw).
#
#   guest_build.sh OUTDIR     needs root for apt-get; two minutes the first time, nothing when it is up to date
#
# OUTDIR gets vmlinux, initrd, initrd-nvme (the same guest as a host of NVMe over Fabrics, four times as large: fio is
# linked with much) and stamp.  Debian ships every RDMA module but siw, so siw is compiled from Debian's
# own kernel source, once for each variant: a variant turns one constant of the driver.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
packages="qemu-system-x86 tcpdump tshark iproute2 util-linux python3
  linux-source-6.1 busybox-static cpio kmod xz-utils make gcc binutils
  libc6-dev librdmacm-dev libibverbs-dev rdmacm-utils perftest ibverbs-utils ibverbs-providers strace nvme-cli fio e2fsprogs"
modules="virtio_pci virtio_net ib_uverbs rdma_ucm iw_cm libcrc32c crc32c_generic"
programs="ip rdma rping ucmatose ibv_devinfo ib_send_bw ib_write_bw ib_read_bw ib_send_lat ib_write_lat ib_read_lat
  tcpdump strace flock"
nvme_modules="nvme_rdma ext4 sch_netem sch_ingress ifb act_mirred cls_matchall"
nvme_programs="nvme fio mkfs.ext4 tc"

wanted_stamp() { cat "$here/guest_build.sh" "$here/guest/init" "$here/guest/ends.c" "$here"/guest/helpers/* | sha256sum; }

# The guest may come from a cache while this machine is new, so the programs that run it count as well.
up_to_date() {
  local tool
  [ "$(cat "$out/stamp" 2>/dev/null)" = "$(wanted_stamp)" ] && [ -s "$out/vmlinux" ] && [ -s "$out/initrd" ] &&
    [ -s "$out/initrd-nvme" ] || return
  for tool in qemu-system-x86_64 tcpdump tshark; do command -v "$tool" >/dev/null || return; done
}

# Another apt-get may hold the lists for a moment; only the dpkg lock has a waiting option.
apt_update() {
  local try
  for try in $(seq 60); do
    apt-get update -qq && return
    echo "apt-get update failed ($try); once more in 5 s" >&2
    sleep 5
  done
  return 1
}

install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  apt_update
  image=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-/ {print $2; exit}')
  release=${image#linux-image-}
  # shellcheck disable=SC2086 # a list of words
  apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 \
    $packages "linux-headers-$release" >/dev/null
}

# The package is unpacked, never installed: the host keeps its own kernel.
fetch_kernel() {
  (cd "$work" && apt-get download -qq "$image" 2>/dev/null && dpkg-deb -x linux-image-*.deb kernel)
  extract_vmlinux "$work/kernel/boot/vmlinuz-$release" "$out/vmlinux"
}

# QEMU starts a bare ELF kernel through its PVH entry, which spares the guest five seconds of emulated xz.
extract_vmlinux() {
  local start
  start=$(LC_ALL=C grep -aobm1 $'\xfd7zXZ' "$1" | head -1 | cut -d: -f1)
  tail -c "+$((start + 1))" "$1" >"$work/vmlinux.xz"
  xz -dc --single-stream <"$work/vmlinux.xz" >"$2"
  readelf -h "$2" >/dev/null
}

unpack_siw() {
  tar -C "$work" -xf /usr/src/linux-source-6.1.tar.xz --wildcards '*/drivers/infiniband/sw/siw/*'
  siw=$(echo "$work"/linux-source-*/drivers/infiniband/sw/siw)
}

# variant NAME [FILE TEXT INSTEAD]: all in one folder, so that make compiles again only what has changed.
variant() {
  local file=$siw/${2:-siw_main.c}
  cp -p "$file" "$work/original"
  [ $# -eq 1 ] || turn "$file" "$3" "$4"
  make -s -C "/usr/src/linux-headers-$release" M="$siw" CONFIG_RDMA_SIW=m modules >"$work/make.log" 2>&1 ||
    { cat "$work/make.log" >&2; return 1; }
  strip -g -o "$root/modules/$1.ko" "$siw/siw.ko"
  cp "$work/original" "$file"
}

turn() {
  grep -qF "$2" "$1" || { echo "siw has changed: '$2' is not in ${1##*/}" >&2; return 1; }
  sed -i "s/$2/$3/" "$1"
}

build_variants() {
  variant siw
  variant siw-crc siw_main.c  'const bool mpa_crc_required;' 'const bool mpa_crc_required = true;'
  variant siw-p2p siw_main.c  'const bool peer_to_peer;'     'const bool peer_to_peer = true;'
  variant siw-gso siw_verbs.c 'gso_seg_limit = 1;'           'gso_seg_limit = 0;'
}

# Only what is loaded, with the order of loading in a list: the guest then needs neither depmod nor modprobe.
copy_modules() { # MODULE...
  local module file
  depmod -b "$work/kernel" "$release"
  for module; do modprobe -d "$work/kernel" -S "$release" --show-depends "$module"; done |
    awk '$1 == "insmod" && !seen[$2]++ {print $2}' |
    while read -r file; do
      cp "$file" "$root/modules/"
      basename "$file"
    done >"$root/modules/order"
}

copy_file() {
  [ -e "$root$2" ] || install -D "$(readlink -f "$1")" "$root$2"
}

copy_with_libraries() {
  local library
  copy_file "$1" "$2"
  ldd "$1" | grep -o '/[^ ]*' | while read -r library; do copy_file "$library" "$library"; done
}

copy_programs() {
  local name
  cp /bin/busybox "$root/bin/"
  for name in $(/bin/busybox --list | grep -vx busybox); do ln -sf busybox "$root/bin/$name"; done
  for name in $programs; do copy_with_libraries "$(command -v "$name")" "/usr/bin/$name"; done
  gcc -O1 -o "$work/ends" "$here/guest/ends.c" -lrdmacm -libverbs
  copy_with_libraries "$work/ends" /usr/bin/ends
  for name in /usr/lib/x86_64-linux-gnu/libibverbs/libsiw*.so; do copy_with_libraries "$name" "$name"; done
  copy_file /lib/x86_64-linux-gnu/libgcc_s.so.1 /lib/x86_64-linux-gnu/libgcc_s.so.1 # pthread_exit opens it by name
  copy_file /etc/libibverbs.d/siw.driver /etc/libibverbs.d/siw.driver
}

copy_nvme() {
  local name
  # shellcheck disable=SC2086 # lists of words
  copy_modules $modules $nvme_modules
  for name in $nvme_programs; do copy_with_libraries "$(command -v "$name")" "/usr/bin/$name"; done
  copy_file /etc/mke2fs.conf /etc/mke2fs.conf
  ln -sf /proc/mounts "$root/etc/mtab"
}

# Not compressed: the emulated processor would unpack more slowly than QEMU loads.
pack() { # NAME
  install -m 755 "$here/guest/init" "$root/init"
  install -m 755 "$here"/guest/helpers/* "$root/bin/"
  (cd "$root" && find . | cpio -o -H newc 2>/dev/null >"$out/$1")
}

main() {
  [ $# -eq 1 ] || { sed -n '3,5s/^# *//p' "$0" >&2; exit 64; }
  out=$(mkdir -p "$1" && cd "$1" && pwd)
  if up_to_date; then echo "guest in $out is up to date"; return; fi
  rm -f "$out/stamp"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  root=$work/root
  mkdir -p "$root"/{bin,usr/bin,proc,sys,dev,etc,tmp,run,modules}
  install_packages
  fetch_kernel
  unpack_siw
  build_variants
  # shellcheck disable=SC2086 # a list of words
  copy_modules $modules
  copy_programs
  pack initrd
  copy_nvme
  pack initrd-nvme
  wanted_stamp >"$out/stamp"
  echo "guest built in $out: kernel $release, initrd of $(du -h "$out/initrd" | cut -f1)"
}

main "$@"
