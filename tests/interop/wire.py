# SPDX-License-Identifier: BSD-3-Clause
"""A second opinion on what was on the wire: tshark decodes a capture, and we look at what it says."""
import re
import subprocess

from process import Failed

# Without the disabled dissectors tshark takes small Sends for RPC-over-RDMA or SMB Direct, and finds them malformed.
TSHARK = ["tshark", "-n", "-o", "tcp.try_heuristic_first:TRUE", "-o", "tcp.reassemble_out_of_order:TRUE",
          "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE",
          "--disable-protocol", "rpcordma", "--disable-protocol", "smb_direct"]


def tshark(file, *words):
    done = subprocess.run([*TSHARK, "-r", str(file), *words], capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise Failed("tshark failed", done.stderr.splitlines()[-5:])
    return done.stdout


def fpdu_lengths(file):
    """ULPDU lengths by the IPv4 address that sent them."""
    lengths = {}
    rows = tshark(file, "-Y", "iwarp_mpa.fpdu", "-T", "fields", "-e", "ip.src", "-e", "iwarp_mpa.ulpdulength")
    for row in rows.splitlines():
        source, values = row.split("\t")
        lengths.setdefault(source, []).extend(int(v, 0) for v in values.split(",") if v)
    return lengths


def check(file, ends):
    """Both ends sent FPDUs, nothing is malformed, no checksum is wrong and, where CRC was agreed, every CRC is good.

    Returns whether CRC was agreed, which the Reply says."""
    text = tshark(file, "-V")
    wrong = re.findall(r".*(?:Malformed|Bad CRC32|Expert Info \(Error).*", text)
    if wrong:
        raise Failed(f"tshark finds fault: {wrong[0].strip()}", wrong[:10])
    lengths = fpdu_lengths(file)
    silent = [end for end in ends if not lengths.get(end)]
    if silent:
        raise Failed(f"tshark sees no FPDU from {' and '.join(silent)}")
    return check_crc(text, sum(map(len, lengths.values())))


def check_crc(text, fpdus):
    replies = re.findall(r"Reply frame header.*?CRC flag: (True|False)", text, re.DOTALL)
    if len(set(replies)) != 1:
        raise Failed(f"CRC flags of the Replies: {replies or 'no Reply seen'}")
    agreed = replies[0] == "True"
    good = text.count("(Good CRC32)")
    if agreed and good != fpdus:
        raise Failed(f"of {fpdus} FPDUs {good} have a good CRC")
    return agreed
