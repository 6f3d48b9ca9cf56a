"""Ports of tests: those that were chosen and are not yet open are not chosen again."""
from ports import free_port, free_ports


def test_no_port_is_chosen_twice():
    chosen = [free_port() for _ in range(500)] + free_ports(100)
    assert len(set(chosen)) == len(chosen)
