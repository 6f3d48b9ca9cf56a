"""`bobbin registry` and `bobbin app` through a real Apache Knox, with a password from a file."""
import json
import re

import pytest

from harness import ROOT, wait_for
from test_registry_access import RECORD, digest

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


def test_a_lease(people):
    """A record that goes when nobody renews: routes of registry-lease."""
    words = ("registry", "bind", HOME + "/leased", "--rest", "http://am:1/", "--api", "http://", "--ttl", "60s", "--parents")
    key = people(*words).splitlines()[-1].split()[1]
    assert people("registry", "renew", key) == "renewed ttl=60000ms\n"
    people("registry", "rm", HOME + "/leased")
    assert "no record has this lease" in people("registry", "renew", key, expect=code("ERR_NOTFOUND"))


def test_an_accessor(people, behind):
    """What lets bob's friends write on his node goes in a header of its own: Knox keeps Authorization."""
    put = behind.secure.registry("PUT", "/users/bob/shared", RECORD, {"X-Bobbin-Write-Accessors": digest("id:pass")},
                                 query="createParents=true&overwrite=true&user.name=bob")
    assert put.status in (200, 201), put
    bind = ("registry", "bind", "/users/bob/shared", "--rest", "http://am:1/ours", "--api", "http://", "--overwrite")
    assert "alice" in people(*bind, expect=code("ERR_PERMISSION"))
    people(*bind, "--accessor", "id:pass")
    assert "http://am:1/ours" in people("registry", "resolve", "/users/bob/shared")


def test_what_is_anothers_may_not_be_changed(people):
    assert "alice" in people("registry", "mknode", "/users/bob/mine", expect=code("ERR_PERMISSION"))


def test_the_life_of_a_service(people, behind, tmp_path):
    (tmp_path / "service.json").write_text(json.dumps(SERVICE))

    def states():
        """Its own, and those of its containers."""
        service = behind.stack.service("by-hand")
        return service["state"], [one["state"] for one in service["components"][0]["containers"]]
    people("app", "launch", str(tmp_path / "service.json"), "--wait")
    assert states() == ("READY", ["READY"]) and "by-hand" in people("app", "list")
    people("app", "flex", "by-hand", "talk=2", "--wait")
    assert states() == ("READY", ["READY"] * 2) and people("app", "status", "by-hand").count("READY") >= 2
    assert "hello" in people("app", "logs", "by-hand", "talk-0")
    people("app", "stop", "by-hand")
    wait_for(lambda: states() == ("STOPPED", []), "it has stopped")
    assert "STOPPED" in people("app", "status", "by-hand")
    people("app", "start", "by-hand", "--wait")
    assert states() == ("READY", ["READY"] * 2)
    assert "STOPPED" in people("app", "events", "by-hand")
    people("app", "destroy", "by-hand")
    assert "by-hand" not in people("app", "list")
    assert "by-hand" in people("app", "status", "by-hand", expect=code("ERR_NOTFOUND"))


def test_what_else_is_done_with_a_service(people, behind, tmp_path):
    def document(**changes):
        path = tmp_path / "service.json"
        path.write_text(json.dumps({**SERVICE, "name": "more", **changes}))
        return str(path)

    def instance():
        return behind.stack.service("more")["components"][0]["containers"][0]
    people("app", "launch", document(), "--wait")
    assert "all is as wanted" in people("app", "explain", "more")
    assert "talk-1" in people("app", "plan", "more", "talk=2") and len(behind.stack.service("more")["components"][0]["containers"]) == 1
    wait_for(lambda: "talk-0" in people("app", "top", "more"), "what it uses is measured")
    people("app", "signal", "more", "talk-0", "CONT")
    container = instance()["id"]
    people("app", "restart", "more", "talk-0")
    wait_for(lambda: instance()["state"] == "READY", "its process runs again")
    assert instance()["id"] == container
    people("app", "upgrade", "more", document(version="2", components=[{**SERVICE["components"][0], "launch_command": "sleep 1001"}]), "--wait")
    assert (behind.stack.service("more")["version"], behind.stack.service("more")["components"][0]["launch_command"]) == ("2", "sleep 1001")
    people("app", "destroy", "more")


def test_a_wrong_password_and_an_unknown_gateway(people, tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_text("wrong\n")
    assert people("registry", "ls", expect=code("ERR_AUTH"), more=("--password-file", str(wrong)))
    refused = people("registry", "ls", expect=code("ERR_UNAVAILABLE"), more=("--timeout", "4s", "--ca-file", SYSTEM_CA))
    assert "certificate" in refused, "nobody the system knows has signed it"


@pytest.mark.parametrize("words", ["registry mknode /users/alice/x", "registry rm /users/alice/x", "app stop x", "app destroy x"])
def test_a_write_whose_answer_knox_has_lost(people, behind, words):
    """Knox says 500 when what it asks ends the connection: the write may be done, and is not sent again."""
    before = behind.gone.n_writes
    said = people(*words.split(), more=("--url", behind.knox.url("gone")), expect=code("ERR_UNKNOWN_OUTCOME"))
    assert "whether this was done is not known" in said and behind.gone.n_writes == before + 1, "a command that waits for long reads meanwhile what it waits for"


@pytest.mark.parametrize("words, program", [("registry ls", "registryd"), ("registry find api=x", "registryd"), ("app list", "svcmgr")])
def test_a_read_whose_answer_knox_has_lost(people, behind, words, program):
    said = people(*words.split(), more=("--url", behind.knox.url("gone")), expect=code("ERR_UNAVAILABLE"))
    assert f"{program} is away, or does not answer" in said


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "https://a:1,https://b:1"])
def test_a_password_goes_to_one_https_url(people, url):
    assert "https://" in people("registry", "ls", expect=code("ERR_USAGE"), more=("--url", url))
