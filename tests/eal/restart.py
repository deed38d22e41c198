#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-iwarp-app is killed (SIGKILL) while peers are connected, and started again at once with the same addresses: the
peers are told by RST, new connections work within a second.

    restart.py APP

Exit code 0: it worked; 77: it cannot run here, and why (in CI that is a failure: 1)."""
import socket
import sys
import time

import mpa_peer as mpa
import scripted
from programs import CLIENT, SERVER, AfPacket, Pair, need_root
from scripted import PORT, ping_round, serve_round

PEERS, WITHIN = 4, 1.0  # seconds


def open_peer(source_port=0):
    peer = scripted.connect(source_port)
    peer.ask(mpa.S | mpa.C, 2, mpa.words(4, 4))
    peer.msn = ping_round(peer, 1)
    return peer


def expect_reset(peer, what, within=WITHIN, say=None):
    began = time.monotonic()
    try:
        if say:
            peer.say(say)
        while got := peer.sock.recv(65536):  # what came before
            pass
    except ConnectionResetError:
        took = time.monotonic() - began
        assert took < within, f"{what}: told after {took:.1f} s"
        return
    raise AssertionError(f"{what}: not reset, but {got}")


def server_is_killed(pair, app):
    server = pair.start(0, app, "ping", "-s", "-V")
    server.says("listening")
    peers = [open_peer() for _ in range(PEERS)]
    ports = [peer.sock.getsockname()[1] for peer in peers]
    server.kill()
    server = pair.start(0, app, "ping", "-s", "-V")
    # One that says nothing hears of it when it asks whether the other end is still there.
    for option, value in (socket.TCP_KEEPIDLE, 1), (socket.TCP_KEEPINTVL, 1):
        peers[0].sock.setsockopt(socket.IPPROTO_TCP, option, value)
    peers[0].sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    server.says("listening")
    began = time.monotonic()
    for peer in peers[1:]:
        expect_reset(peer, "a peer that speaks", say=mpa.send(peer.msn, bytes(16)))
    fresh = [open_peer(), open_peer(ports[1])]  # from a new port, and with the addresses and ports of before
    took = time.monotonic() - began
    assert took < WITHIN, f"new connections worked after {took:.1f} s"
    expect_reset(peers[0], "a silent peer", 3)
    for peer in fresh:
        peer.finish()
    assert server.stop() == 0, server


def client_is_killed(pair, app):
    words = ("ping", "-c", "-a", CLIENT, "-C", "0", "-V")
    accept = scripted.accept_with(0, write=True)
    with scripted.space.inside():
        listener = socket.create_server((CLIENT, PORT))

    def come():
        peer = mpa.Peer(listener.accept()[0])
        scripted.serve_round.reads = 1
        accept(peer, peer.read_startup(mpa.REQUEST))
        serve_round(peer)
        return peer

    with listener:
        listener.settimeout(20)
        client = pair.start(0, app, *words)
        old = come()
        client.kill()
        client = pair.start(0, app, *words)
        new = come()
        expect_reset(old, "the server of the killed client", say=mpa.send(9, bytes(16)))
        client.kill()
        new.sock.close()


def peer_is_ours(app):
    """The end that stays is ours: it hears of it, and serves on."""
    with Pair(AfPacket()) as pair:
        server = pair.start(0, app, "ping", "-s", "-V", "-t", "5")
        server.says("listening")
        words = ("ping", "-c", "-a", SERVER, "-C", "0", "-V", "-v")
        client = pair.start(1, app, *words)
        client.says("ping data: rdma-ping-10:")
        client.kill()
        client = pair.start(1, app, *words)
        client.says("ping data: rdma-ping-10:")
        end = time.monotonic() + 15
        while not server.errors() and time.monotonic() < end:
            time.sleep(0.02)
        said = server.errors()
        assert len(said) == 1 and "the connection was lost: " in said[0] and "reset" in said[0], said
        assert client.stop() == 0, client
        assert server.stop() == 1, server  # a connection was lost


def main():
    app = sys.argv[1]
    need_root()
    with scripted.bench() as pair:
        good = scripted.run("the server is killed", server_is_killed, pair, app)
        good &= scripted.run("the client is killed", client_is_killed, pair, app)
    good &= scripted.run("the peer of the killed one is ours", peer_is_ours, app)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
