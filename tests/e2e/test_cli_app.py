"""`bobbin app …` against a real svcmgr: launch, look, flex, stop, start, logs, destroy."""
import json
import os
import re
import signal
import subprocess
import threading

import pytest

from commands import commands, words_of
from harness import BIN, DOMAIN, PATIENCE, Stack, free_port, request, wait_for

pytestmark = pytest.mark.sanitize

TALKER = 'echo "out of ${COMPONENT_INSTANCE_NAME}"; echo "err of ${COMPONENT_INSTANCE_NAME}" >&2; '


def definition(name, command, count=1, probed=False, placement=None):
    component = {"name": "talk", "number_of_containers": count, "launch_command": command,
                 "resource": {"cpus": 1, "memory": "32"}}
    if placement:
        component["placement_policy"] = placement
    if probed:
        component["readiness_check"] = {"type": "PORT", "properties": {"port": "9"}}
    return {"name": name, "version": "1", "components": [component]}


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True, options={"svcmgr": {"yarn.service.stop-containers-on-exit": "true"}}) as s:
        yield s


def command(stack, *words):
    return words_of("app", stack, *words)


bobbin, ok, refused = commands("app")


@pytest.fixture
def launched(stack):
    """Launches services and destroys them afterwards."""
    names = []

    def launch(name, words=(), **more):
        names.append(name)
        return ok(stack, "launch", *words, "-", stdin=json.dumps(definition(name, **more)))
    yield launch
    for name in names:
        bobbin(stack, "destroy", name)


def instances(stack, name):
    service = json.loads(ok(stack, "status", "-o", "json", name))
    return sorted(c["component_instance_name"] for c in service["components"][0]["containers"])


def test_launch_waits_until_ready_and_shows_the_containers(stack, launched):
    done = launched("one", command="exec sleep 1000", count=2)
    lines = done.splitlines()
    assert lines[0].split()[:2] == ["one", "READY"]
    assert lines[1].split() == ["INSTANCE", "STATE", "RESTARTS", "LAST-EXIT", "IP", "HOST", "CONTAINER"]
    assert [line.split()[:2] for line in lines[2:]] == [["talk-0", "READY"], ["talk-1", "READY"]]
    assert all(line.split()[4].startswith(f"{stack.subnet}.") for line in lines[2:])
    assert [line.split()[5] for line in lines[2:]] == [f"talk-{i}.one.alice.{DOMAIN}" for i in (0, 1)]


def test_launch_reports_what_it_waits_for(stack, launched):
    out = bobbin(stack, "launch", "--timeout", "500ms", "-", stdin=json.dumps(
        definition("never", "exec sleep 1000", probed=True)))
    assert out.returncode == 6 and re.search("^never: (ACCEPTED|STARTED), 0 of 1 containers READY$", out.stderr, re.M), out
    assert out.stderr.endswith("bobbin: never: not READY within 0.5 s\n"), out
    ok(stack, "destroy", "never")


def test_launch_need_not_wait(stack, launched):
    assert launched("quick", words=["--no-wait"], command="exec sleep 1000") == "accepted quick\n"


def test_a_definition_that_is_only_saved_is_not_waited_for(stack, launched):
    document = {**definition("saved", "exec sleep 1000"), "state": "STOPPED"}
    assert ok(stack, "launch", "-", stdin=json.dumps(document)) == "accepted saved\n"
    assert ok(stack, "status", "saved").split()[1] == "STOPPED"
    ok(stack, "destroy", "saved")


def test_list_names_what_runs(stack, launched):
    launched("listed", command="exec sleep 1000")
    row = next(line.split() for line in ok(stack, "list").splitlines() if line.startswith("listed "))
    assert row[1:4] == ["1", "READY", "1"] and row[4].startswith("application_")
    assert "listed" in [s["name"] for s in json.loads(ok(stack, "list", "-o", "json"))]


def test_events_say_what_happened(stack, launched):
    launched("past", command="exec sleep 1000")
    header, first, *_ = ok(stack, "events", "past").splitlines()
    assert header.split() == ["TIME", "OBJECT", "WHAT", "WHY"] and first.split()[1:3] == ["past", "created"]
    assert [e["what"] for e in json.loads(ok(stack, "events", "-o", "json", "past"))["events"]][-1] == "STABLE"
    refused(stack, 10, "events", "nobody")


def test_events_are_read_from_a_number_on_and_waited_for(stack, launched):
    launched("eventful", command="exec sleep 1000")
    path = "/eventful/events?user.name=alice"
    read = stack.services("GET", path).json
    assert [e["number"] for e in read["events"]] == list(range(read["next"]))
    assert stack.services("GET", f"{path}&since={read['next']}").json == {"events": [], "next": read["next"]}
    assert stack.services("GET", f"{path}&since={read['next']}&wait=true&timeout=1ms").json["events"] == []
    waits = []
    thread = threading.Thread(target=lambda: waits.append(stack.services("GET", f"{path}&since={read['next']}&wait=true&timeout=60s").json))
    thread.start()
    ok(stack, "flex", "eventful", "talk=2")
    thread.join(PATIENCE)
    assert waits and waits[0]["events"][0]["number"] == read["next"], waits
    assert stack.services("GET", f"{path}&since=-1").status == 400


def test_events_are_followed(stack, launched):
    launched("followed", command="exec sleep 1000")
    with subprocess.Popen(command(stack, "events", "-f", "-o", "json", "followed"), stdout=subprocess.PIPE, text=True) as follower:
        numbers = []
        for line in follower.stdout:
            event = json.loads(line)
            numbers.append(event["number"])
            if event["what"] == "STABLE" and len(numbers) < 6:
                ok(stack, "flex", "followed", "talk=2")
            if event["what"] == "flexed":
                break
        assert numbers == list(range(len(numbers)))
        follower.send_signal(signal.SIGINT)
        follower.stdout.read()
        assert follower.wait(PATIENCE) in (0, 130)


def test_explain_says_what_waits_and_what_would_mend_it(stack, launched):
    apart = {"constraints": [{"name": "apart", "type": "ANTI_AFFINITY", "scope": "NODE", "target_tags": ["talk"]}]}
    launched("lonely", words=["--no-wait"], command="exec sleep 1000", count=2, placement=apart)
    wait_for(lambda: "talk-1: PENDING" in ok(stack, "explain", "lonely"), "one of two has no place")
    wait_for(lambda: instances(stack, "lonely") == ["talk-0"], "the other runs")
    text = wait_for(lambda: (t := ok(stack, "explain", "lonely")).count("remedy: ") == 1 and t, "one thing is to be explained")
    assert "placement: constraint apart: it allows 1 on a node" in text and "remedy: change the constraint" in text
    entry, = json.loads(ok(stack, "explain", "-o", "json", "lonely"))
    assert (entry["component"], entry["count"], entry["instances"], entry["reason"]) == ("talk", 1, ["talk-1"], "placement")
    ok(stack, "flex", "lonely", "talk=1")
    wait_for(lambda: "Nothing to explain: all is as wanted." in ok(stack, "explain", "lonely"), "nothing waits any more")
    refused(stack, 10, "explain", "nobody")


def test_flex_stop_start_destroy(stack, launched):
    launched("life", command="exec sleep 1000")
    ok(stack, "flex", "--wait", "life", "talk=3")
    assert instances(stack, "life") == ["talk-0", "talk-1", "talk-2"]
    assert ok(stack, "flex", "life", "talk=1") == "flexed life\n"
    wait_for(lambda: instances(stack, "life") == ["talk-0"], "the service has shrunk")
    assert ok(stack, "stop", "life") == "stopped life\n"
    wait_for(lambda: ok(stack, "status", "life").split()[1] == "STOPPED", "the service is stopped")
    assert "life READY" in ok(stack, "start", "--wait", "life")
    assert json.loads(ok(stack, "destroy", "-o", "json", "life")) == {"change": "destroyed", "service": "life"}
    refused(stack, 10, "status", "life")


def test_logs_are_those_of_the_instance(stack, launched):
    launched("chatty", command=TALKER + "exec sleep 1000", count=2)
    spoken = "==> talk-{0} stdout.txt <==\nout of talk-{0}\n\n==> talk-{0} stderr.txt <==\nerr of talk-{0}\n"
    for n in (0, 1):  # a container is READY as soon as it runs, and speaks when it comes to it
        wait_for(lambda: ok(stack, "logs", "chatty", f"talk-{n}") == spoken.format(n), f"talk-{n} has spoken")
    text = ok(stack, "logs", "chatty")
    assert all(f"out of talk-{n}\n" in text for n in (0, 1))
    lines = [json.loads(line) for line in ok(stack, "logs", "-o", "json", "chatty", "talk-0").splitlines()]
    assert [(x["file"], x["offset"], x["text"]) for x in lines] == [
        ("stdout.txt", 0, "out of talk-0\n"), ("stderr.txt", 0, "err of talk-0\n")]
    assert lines[0]["container"].startswith("container_")


def test_long_logs_are_whole(stack, launched):
    launched("long", command="busybox seq 1 40000; exec sleep 1000")
    wanted = "".join(f"{n}\n" for n in range(1, 40001))
    wait_for(lambda: wanted in ok(stack, "logs", "long", "talk-0"), "all of the 230 kB came")


def test_logs_follow_what_is_written(stack, launched, tmp_path):
    gate = os.path.join(stack.dir, "gate")
    launched("slow", command=f"echo first; until [ -e {gate} ]; do sleep 0.05; done; echo second; exec sleep 1000")
    process = subprocess.Popen(command(stack, "logs", "-f", "slow", "talk-0"), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    try:
        assert [process.stdout.readline() for _ in range(2)] == ["==> talk-0 stdout.txt <==\n", "first\n"]
        open(gate, "w", encoding="ascii").close()
        assert process.stdout.readline() == "second\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0 and err == ""
    finally:
        timer.cancel()
        process.kill()
        process.communicate()


@pytest.mark.parametrize("path, status", [
    ("talk-0/logs/stdout.txt", 200),
    ("talk-0/logs/stdout.txt?offset=1", 200),
    ("talk-0/logs/stdout.txt?offset=-1", 400),
    ("talk-0/logs/passwd", 404),
    ("talk-0/logs/..", 404),
    ("talk-0/logs/..%2Fstdout.txt", 400),
    ("talk-0/logs/%2Fetc%2Fpasswd", 400),
    ("talk-0/logs/stdout.txt%00", 400),
    ("..%2Ftalk-0/logs/stdout.txt", 400),
    ("talk-9/logs/stdout.txt", 404),
    ("../logs/stdout.txt", 404),
])
def test_only_the_two_files_can_be_read(stack, launched, path, status):
    launched("walls", command="echo hello; exec sleep 1000")
    join = "&" if "?" in path else "?"
    url = f"/app/v1/services/walls/component-instances/{path}{join}user.name=alice"
    answer = wait_for(lambda: request(stack.services_port, "GET", url), "an answer")
    assert answer.status == status, answer
    assert b"root:" not in answer.body


@pytest.mark.parametrize("trick", ["ln -s /etc/hostname \"$f\"", "ln /tmp/bobbin-hardlink \"$f\"", "mkfifo \"$f\""])
def test_a_container_cannot_lend_the_eyes_of_root(stack, launched, trick):
    """Links and pipes in place of a log file show nothing, whoever made them."""
    launched("thief", command="exec sleep 1000")
    ids = json.loads(ok(stack, "status", "-o", "json", "thief"))
    container = ids["components"][0]["containers"][0]["id"]
    log = os.path.join(stack.dir, "svcmgr", "logs", ids["id"], container, "stdout.txt")
    secret = os.path.join(stack.dir, "secret")
    with open(secret, "w", encoding="ascii") as f:
        f.write("secret")
    os.remove(log)
    subprocess.run(["/bin/sh", "-c", trick.replace("/etc/hostname", secret).replace("/tmp/bobbin-hardlink", secret)],
                   env={**os.environ, "f": log}, check=True)
    answer = request(stack.services_port, "GET", "/app/v1/services/thief/component-instances/talk-0/logs/stdout.txt?user.name=alice")
    assert (answer.status, answer.body) == (200, b"")


def test_errors_have_the_exit_codes_of_the_table(stack, launched, tmp_path):
    launched("twice", command="exec sleep 1000")
    text = json.dumps(definition("twice", "exec sleep 1000"))
    assert "Service name twice is already taken." in refused(stack, 11, "launch", "-", stdin=text)
    other = json.dumps(definition("other", "exec sleep 1000"))
    assert "destroy the services of user alice" in refused(stack, 8, "launch", "--user", "ALICE", "-", stdin=other)
    assert "Service nothing not found" in refused(stack, 10, "status", "nothing")
    assert refused(stack, 10, "destroy", "nothing")
    assert "already stopped" not in refused(stack, 10, "stop", "nothing")
    assert "write COMPONENT=NUMBER" in refused(stack, 2, "flex", "twice", "talk")
    assert "usage: bobbin app flex" in refused(stack, 2, "flex", "twice")
    bad = tmp_path / "bad.json"
    bad.write_text('{"name": "x",\n "version": }')
    assert refused(stack, 21, "launch", str(bad)).startswith(f"bobbin: {bad}:2:")
    assert refused(stack, 4, "launch", str(tmp_path / "nothing.json"))
    assert refused(stack, 2, "launch", "-", stdin='{"name":"noversion"}')
    assert refused(stack, 10, "logs", "twice", "talk-7")


def test_nobody_listens():
    done = subprocess.run([os.path.join(BIN, "bobbin"), "app", "list", "--url", f"http://127.0.0.1:{free_port()}"],
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 5 and "nothing listens" in done.stderr and done.stderr.count("\n") == 1, done
