"""Placeholders make large texts of small documents: svcmgr refuses them by name before it has built them."""
import pytest

from harness import SANITIZED, Stack, wait_for

pytestmark = pytest.mark.sanitize

USER = "?user.name=alice"
GROWTH_MIB = 200  # the documents would expand to 10 GB
LIMIT = "16777216 bytes"


def peak_mib(stack):
    with open(f"/proc/{stack.svcmgr.process.pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmHWM:"))


def document(name, configuration, command="exec sleep 1000"):
    configuration["properties"] = {"yarn.service.container-failure-per-component.threshold": "1"}
    return {"name": name, "version": "1", "components": [{
        "name": "w", "number_of_containers": 1, "launch_command": command, "configuration": configuration,
        "resource": {"cpus": 1, "memory": "16"}}]}


LONG = "x" * 100000


@pytest.mark.parametrize("configuration, command, place", [
    ({"files": [{"type": "TEMPLATE", "dest_file": "big.conf", "properties": {"content": "{{v}}" * 100000, "v": LONG}}]},
     "exec sleep 1000", "config file big.conf"),
    ({"env": {"V": LONG}, "files": [{"type": "XML", "dest_file": "big.xml", "properties": {"a": "${V}" * 100000}}]},
     "exec sleep 1000", "config file big.xml"),
    ({"env": {"V": LONG}}, "echo " + "${V}" * 100000, "launch_command"),
], ids=["template", "properties", "command"])
def test_a_document_that_expands_to_gigabytes_is_refused(configuration, command, place):
    with Stack(services=True) as stack:
        before = peak_mib(stack)
        answer = stack.services("POST", USER, document("big", configuration, command))
        assert answer.status == 400, answer
        assert place in answer.body.decode() and LIMIT in answer.body.decode(), answer.body
        assert SANITIZED or peak_mib(stack) - before < GROWTH_MIB


def test_variables_that_expand_at_the_launch_fail_it_by_name():
    """What `{{NAME}}` stands for is known when the container is there: each names the one before ten times."""
    with Stack(services=True) as stack:
        before = peak_mib(stack)
        env = {"A0": "x" * 1000, **{f"A{i}": f"{{{{A{i - 1}}}}}" * 10 for i in range(1, 9)}}
        assert stack.services("POST", USER, document("nested", {"env": env})).status == 202

        def said():
            text = stack.services("GET", f"/nested{USER}&explain=true").body.decode()
            return LIMIT in text and "variable A" in text
        wait_for(said, "explain=true names the variable and the limit")
        assert SANITIZED or peak_mib(stack) - before < GROWTH_MIB
