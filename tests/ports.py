"""Loopback ports for servers of tests."""
import itertools
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


def walk(ports):
    """All of them from a random one on, round and round: none comes again before all others have."""
    start = CHANCE.randrange(len(ports))
    return itertools.cycle([*ports[start:], *ports[:start]])


WALK = walk(port_range())


def free_port():
    """A loopback port that nobody uses now, neither for TCP nor for UDP, that no outgoing connection is given, and that this
    run was not given lately: what was chosen need not be open yet, and who knew a server that is gone may still ask for it."""
    while True:
        port = next(WALK)
        try:
            with socket.create_server(("127.0.0.1", port)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.bind(("127.0.0.1", port))
                return port
        except OSError:
            continue


def free_ports(n):
    """n different ones."""
    return sorted(free_port() for _ in range(n))
