"""Ports of tests: those that were chosen and are not yet open are not chosen again."""
import os
import subprocess
import sys

import ports


def test_no_port_is_chosen_twice():
    chosen = [ports.free_port() for _ in range(500)] + ports.free_ports(100)
    assert len(set(chosen)) == len(chosen)


def test_nor_by_a_run_beside_this_one():
    port = ports.free_port()
    asked = f"import ports; print([ports.is_free({port}), bool(ports.hold({port}))])"
    other = subprocess.run([sys.executable, "-c", asked], cwd=os.path.dirname(ports.__file__), capture_output=True, text=True, check=True)
    assert other.stdout == "[True, False]\n", "nobody listens there, and it is taken all the same"
