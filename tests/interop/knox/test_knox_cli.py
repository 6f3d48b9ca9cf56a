"""`bobbin registry` and `bobbin app` through a real Apache Knox, with a password from a file."""
import json
import re

import pytest

from harness import ROOT

SYSTEM_CA = "/etc/ssl/certs/ca-certificates.crt"
HOME = "/users/alice/services/cli"
SERVICE = {"name": "by-hand", "version": "1", "components": [
    {"name": "talk", "number_of_containers": 1, "launch_command": "echo hello; sleep 1000", "resource": {"cpus": 1, "memory": "64"}}]}


def code(name):
    """Exit code of an error."""
    with open(f"{ROOT}/include/bobbin/error.h", encoding="utf-8") as f:
        return int(re.search(rf'X\({name}, -\d+, "[^"]+", \d+, (\d+),', f.read())[1])


def test_the_registry(people):
    people("registry", "mknode", HOME, "--parents")
    people("registry", "bind", HOME + "/web", "--rest", "http://am:1/ws/v1/x", "--api", "http://", "--attr", "yarn:persistence=permanent")
    assert "web" in people("registry", "ls", HOME)
    assert "http://am:1/ws/v1/x" in people("registry", "resolve", HOME + "/web")
    assert HOME + "/web" in people("registry", "find", "api=http://")
    people("registry", "rm", HOME, "--recursive")
    assert "there is no such node" in people("registry", "stat", HOME, expect=code("ERR_NOTFOUND"))


def test_what_is_anothers_may_not_be_changed(people):
    assert "alice" in people("registry", "mknode", "/users/bob/mine", expect=code("ERR_PERMISSION"))


def test_the_life_of_a_service(people, tmp_path):
    (tmp_path / "service.json").write_text(json.dumps(SERVICE))
    people("app", "launch", str(tmp_path / "service.json"), "--wait")
    assert "by-hand" in people("app", "list")
    people("app", "flex", "by-hand", "talk=2", "--wait")
    assert people("app", "status", "by-hand").count("READY") >= 2
    assert "hello" in people("app", "logs", "by-hand", "talk-0")
    people("app", "stop", "by-hand")
    people("app", "start", "by-hand", "--wait")
    people("app", "destroy", "by-hand")
    assert "by-hand" not in people("app", "list")


def test_a_wrong_password_and_an_unknown_gateway(people, tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_text("wrong\n")
    assert people("registry", "ls", expect=code("ERR_AUTH"), more=("--password-file", str(wrong)))
    refused = people("registry", "ls", expect=code("ERR_UNAVAILABLE"), more=("--timeout", "4s", "--ca-file", SYSTEM_CA))
    assert "certificate" in refused, "nobody the system knows has signed it"


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "https://a:1,https://b:1"])
def test_a_password_goes_to_one_https_url(people, url):
    assert "https://" in people("registry", "ls", expect=code("ERR_USAGE"), more=("--url", url))
