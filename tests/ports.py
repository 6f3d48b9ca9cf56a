"""Loopback ports for servers of tests."""
import os
import random
import socket

CHANCE = random.SystemRandom()  # tests seed random, ports must not follow


def port_range():
    """Where this run takes its ports: below those of outgoing connections; runs side by side (BOBBIN_TEST_SHARD=I/N) have
    ranges of their own, so that none takes a port that another has chosen and not yet opened."""
    shard, _, of = os.environ.get("BOBBIN_TEST_SHARD", "0/1").partition("/")
    width = 22000 // int(of)
    return range(10000 + int(shard) * width, 10000 + (int(shard) + 1) * width)


def free_port():
    """A loopback port that nobody uses now, neither for TCP nor for UDP, and that no outgoing connection is given."""
    while True:
        port = CHANCE.choice(port_range())
        try:
            with socket.create_server(("127.0.0.1", port)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.bind(("127.0.0.1", port))
                return port
        except OSError:
            continue


def free_ports(n):
    """n different ones."""
    ports = set()
    while len(ports) < n:
        ports.add(free_port())
    return sorted(ports)
