"""Every row of registry_cli.tsv by `bobbin registry -o hadoop`, on the embedded store and on a real ZooKeeper."""
import os
import subprocess

import pytest

from cli import check, read_cases
from harness import BIN, STORES, Registry, store_url
from operations import Rest, empty

CASES = read_cases()


@pytest.fixture(scope="module", params=STORES)
def registry(request):
    with store_url(request.param) as url:
        with Registry(store=url, options={"registryd": {"hadoop.registry.path.names": "zookeeper"}}) as r:
            yield r


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_command_line(registry, case):
    empty(Rest(registry))
    command = [os.path.join(BIN, "bobbin"), "registry", "--url", f"http://127.0.0.1:{registry.registry_port}", "-o", "hadoop"]
    for words, code, lines in case[1]:
        done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code % 256, (words, done)
        check(lines["1"], done.stdout, (words, "stdout"))
        check(lines["2"], done.stderr, (words, "stderr"))
