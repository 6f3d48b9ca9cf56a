"""Loopback ports for servers of tests."""
import collections
import itertools
import os
import random
import socket

CHANCE = random.SystemRandom()  # tests seed random, ports must not follow
N_HELD = 128


def port_range():
    """Where this run takes its ports: below those of outgoing connections; workers of pytest-xdist ("gw0", …) have ranges of
    their own."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    width = 22000 // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return range(10000 + worker * width, 10000 + (worker + 1) * width)


def walk(ports):
    """All of them in an order left to chance, round and round: none comes again before all others have."""
    return itertools.cycle(CHANCE.sample(ports, len(ports)))


WALK = walk(port_range())
HELD = collections.deque()


def hold(port):
    """A name that says that this port is chosen, though nobody listens there yet: until it is closed no other run takes it.
    None when another one has. As ports are, such names are the network namespace's, and go with the process."""
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0bobbin-test-port-{port}")
        return name
    except OSError:
        name.close()
        return None


def is_free(port):
    """Does nobody use it, neither for TCP nor for UDP?"""
    try:
        with socket.create_server(("127.0.0.1", port)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("127.0.0.1", port))
            return True
    except OSError:
        return False


def free_port():
    """A loopback port that nobody uses and that no outgoing connection is given; nor was it chosen lately, by this run or by
    another one: what is chosen need not be open yet, and who knew a server that is gone may still ask for it."""
    while True:
        port = next(WALK)
        held = hold(port)
        if not held:
            continue
        if is_free(port):
            HELD.append(held)
            if len(HELD) > N_HELD:
                HELD.popleft().close()
            return port
        held.close()


def free_ports(n):
    """n different ones."""
    return sorted(free_port() for _ in range(n))
