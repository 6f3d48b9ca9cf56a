"""Leases: a record bound with a TTL goes when its owner stops renewing, and never before.

What must not happen is waited for as long as the lease lasts, several times over; what must happen is awaited.
"""
import json
import os
import signal
import subprocess
import time

import pytest

from harness import BIN, Registry, container, request, wait_for

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/shop"
TTL_MS = 1000


@pytest.fixture(scope="module")
def reg():
    with Registry(options={"registryd": {"hadoop.registry.lease.max-ttl": "1h"}}) as r:
        yield r


def bind(reg, name, key=None, ttl=f"{TTL_MS}ms", query="createParents=true&overwrite=true", headers=None):
    """Bind a record with a lease; its key."""
    headers = {**({"X-Bobbin-Lease": key} if key else {}), **(headers or {})}
    answer = reg.registry("PUT", f"{BASE}/{name}", container(name, "web", "127.77.0.1"), headers, query=f"{query}&ttl={ttl}")
    assert answer.status in (200, 201), answer
    assert not key or answer.headers["Bobbin-Lease"] == key
    return answer.headers["Bobbin-Lease"]


def renew(reg, key):
    return reg.registry("POST", "", {"lease": key}, base="/ws/v1/registry-lease")


def until_unknown(reg, key):
    """The last renewal before that may still report what has just gone."""
    wait_for(lambda: renew(reg, key).status == 404, "no record has this lease")


def is_there(reg, name):
    return reg.registry("GET", f"{BASE}/{name}").status == 200


def metric(reg, name):
    text = reg.registry("GET", "", base="/metrics").body.decode()
    return float(next(line.split(" ")[1] for line in text.splitlines() if line.startswith(name + " ")))


def renewing(reg, keys, seconds):
    """Renew for so long, a third of the TTL apart."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for key in keys:
            answer = renew(reg, key)
            assert answer.status == 200, answer
        time.sleep(TTL_MS / 3000)


def test_a_record_goes_when_it_is_not_renewed(reg):
    key = bind(reg, "one")
    assert len(key) == 32 and is_there(reg, "one")
    assert reg.registry("GET", "", base="/ws/v1/registry-lease", query=f"path={BASE}/one").json["ttl"] == TTL_MS
    wait_for(lambda: not is_there(reg, "one"), "the record has gone")
    event = reg.registryd.event("lease_expired")
    assert (event["path"], event["ttl_ms"]) == (f"{BASE}/one", TTL_MS)
    until_unknown(reg, key)


def test_what_is_renewed_stays_and_renewing_writes_nothing(reg):
    key = bind(reg, "living")
    assert bind(reg, "with-it", key) == key
    bind(reg, "dying")
    wait_for(lambda: not is_there(reg, "dying") if renew(reg, key).status == 200 else None, "the other one has gone")
    before = reg.registry("GET", f"{BASE}/living")
    renewing(reg, [key], 2 * TTL_MS / 1000)
    after = reg.registry("GET", f"{BASE}/living")
    assert (after.headers["Bobbin-Revision"], after.headers["ETag"], after.body) == (
        before.headers["Bobbin-Revision"], before.headers["ETag"], before.body)
    answer = renew(reg, key).json
    assert answer == {"living": 2, "ttl": TTL_MS, "gone": []}
    feed = reg.registry("GET", BASE, query=f"watch=true&since={before.headers['Bobbin-Revision']}&timeout=500ms")
    assert b'"put"' not in feed.body and b'"delete"' not in feed.body


def test_it_is_an_ordinary_record(reg):
    bind(reg, "leased", ttl="1m")
    reg.bind(f"{BASE}/plain", container("leased", "web", "127.77.0.1"))
    leased, plain = (reg.registry("GET", f"{BASE}/{name}").json["service"] for name in ("leased", "plain"))
    assert leased == plain
    export = reg.registry("GET", "", base="/ws/v1/registry-admin/export", query=f"path={BASE}", headers=None)
    assert b"ttl" not in export.body and b"lease" not in export.body.replace(b"leased", b"")


def test_a_write_without_a_lease_ends_it(reg):
    key = bind(reg, "kept")
    bind(reg, "mark", ttl=f"{TTL_MS * 2}ms")
    reg.bind(f"{BASE}/kept", container("kept", "web", "127.77.0.9"))
    wait_for(lambda: not is_there(reg, "mark"), "a record that was bound with a longer lease has gone")
    until_unknown(reg, key)
    assert is_there(reg, "kept")


def test_a_delete_and_a_write_by_others_are_reported_once(reg):
    key = bind(reg, "stays", ttl="1m")
    bind(reg, "deleted", key, ttl="1m")
    bind(reg, "taken", key, ttl="1m")
    reg.registry("DELETE", f"{BASE}/deleted")
    reg.bind(f"{BASE}/taken", container("taken", "web", "127.77.0.9"))
    answer = renew(reg, key).json
    assert (answer["living"], sorted(answer["gone"])) == (1, [f"{BASE}/deleted", f"{BASE}/taken"])
    assert renew(reg, key).json["gone"] == []


def test_what_ends_is_reported_once_and_not_what_is_bound_anew(reg):
    """The last of many is ending while the first has ended: renewals meanwhile are of both."""
    key, names = bind(reg, "stays", ttl="1m"), [f"many-{i}" for i in range(80)]
    for name in names:
        key = bind(reg, name, key)
    wait_for(lambda: not all(is_there(reg, name) for name in names[::8]), "the first have gone")
    answers = [renew(reg, key) for _ in range(40)]
    gone = [path for answer in answers if answer.status == 200 for path in answer.json["gone"]]
    assert len(gone) == len(set(gone)), answers
    for path in gone:
        bind(reg, path[len(BASE) + 1:], key, ttl="1m")
    assert all(renew(reg, key).json["gone"] == [] for _ in range(10))
    assert all(is_there(reg, path[len(BASE) + 1:]) for path in gone)


def test_a_record_bound_again_has_its_new_lease(reg):
    key = bind(reg, "again", ttl="1m")
    bind(reg, "again", key, ttl="2m")
    assert renew(reg, key).json == {"living": 1, "ttl": 120000, "gone": []}


def test_what_is_below_goes_too_but_not_what_lives(reg):
    bind(reg, "app")
    reg.bind(f"{BASE}/app/components/plain", container("p", "web", "127.77.0.1"))
    key = bind(reg, "app/components/living")
    mark = bind(reg, "mark")
    wait_for(lambda: not is_there(reg, "mark") if renew(reg, key).status == 200 else None, "the mark has gone")
    assert mark and is_there(reg, "app/components/living") and is_there(reg, "app")
    wait_for(lambda: not is_there(reg, "app"), "all has gone")


def test_no_living_record_goes_by_a_restart():
    with Registry() as reg:
        key = bind(reg, "living")
        orphan = bind(reg, "orphan")
        reg.registryd.kill()
        time.sleep(2 * TTL_MS / 1000)  # longer than the lease: nobody could have renewed
        reg.registryd.start("registry_synced", "lease_keeper")
        wait_for(lambda: not is_there(reg, "orphan") if renew(reg, key).status == 200 else None, "the orphan has gone")
        until_unknown(reg, orphan)
        assert is_there(reg, "living")


def test_no_living_record_goes_while_registryd_stands_still():
    with Registry() as reg:
        key = bind(reg, "living")
        reg.registryd.pause()
        time.sleep(2 * TTL_MS / 1000)
        reg.registryd.go_on()
        assert renew(reg, key).status == 200 and is_there(reg, "living")


@pytest.mark.parametrize("query, headers, status, where", [
    ("ttl=0", {}, 400, "ttl"), ("ttl=10ms", {}, 400, "ttl"), ("ttl=2h", {}, 400, "ttl"), ("ttl=soon", {}, 400, "ttl"),
    ("ttl=30s", {"X-Bobbin-Lease": "short"}, 400, "lease"), ("ttl=30s", {"X-Bobbin-Lease": "0123456789abcdef/"}, 400, "lease"),
    ("overwrite=true", {"X-Bobbin-Lease": "0123456789abcdef"}, 400, "X-Bobbin-Lease"),
    ("ttl=30s", {"If-Match": '"1.1"'}, 400, "If-Match"),
])
def test_a_bind_that_makes_no_lease_writes_nothing(reg, query, headers, status, where):
    answer = reg.registry("PUT", f"{BASE}/refused", container("r", "web", "127.77.0.1"), headers, query=query)
    assert (answer.status, answer.json["where"]) == (status, where), answer
    assert not is_there(reg, "refused")


@pytest.mark.parametrize("body, status", [({}, 400), ({"lease": "x"}, 400), ({"lease": "0123456789abcdef"}, 404),
                                          ({"lease": "0123456789abcdef", "more": 1}, 400), ({"lease": "a" * 2000}, 413)])
def test_a_renewal_of_nothing(reg, body, status):
    assert request(reg.registry_port, "POST", "/ws/v1/registry-lease", body).status == status


def test_there_are_so_many_at_most():
    with Registry(options={"registryd": {"hadoop.registry.lease.max-records": "2"}}) as reg:
        key = bind(reg, "one", ttl="1m")
        bind(reg, "two", key, ttl="1m")
        answer = reg.registry("PUT", f"{BASE}/three", container("r", "web", "127.77.0.1"), query="ttl=1m")
        assert (answer.status, answer.json["type"]) == (429, "urn:bobbin:error:limit")
        reg.registry("DELETE", f"{BASE}/one")
        wait_for(lambda: metric(reg, "registry_leases") == 1, "one is left")
        bind(reg, "three", key, ttl="1m")


def command(reg, *words):
    return [os.path.join(BIN, "bobbin"), "registry", "bind", "--url", f"http://127.0.0.1:{reg.registry_port}", "--user", "alice", "-p",
            "--inet", "node7", "80", "--api", "web", *words]


def test_the_command_renews_until_it_is_ended(reg):
    with subprocess.Popen(command(reg, f"{BASE}/command", "--ttl", f"{TTL_MS}ms", "--keep-alive"), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith(f"bound {BASE}/command revision=")
        bind(reg, "mark", ttl=f"{2 * TTL_MS}ms")
        wait_for(lambda: not is_there(reg, "mark"), "a record with twice the TTL has gone")
        assert is_there(reg, "command")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    wait_for(lambda: not is_there(reg, "command"), "it goes after the command")


def test_the_command_ends_when_the_record_is_another_s(reg):
    with subprocess.Popen(command(reg, f"{BASE}/taken-over", "--ttl", "1s", "--keep-alive"), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        reg.bind(f"{BASE}/taken-over", container("t", "web", "127.77.0.9"))
        assert (process.wait(30), "not renewed any more" in process.stderr.read()) == (10, True)
    assert is_there(reg, "taken-over")


def test_another_command_renews(reg, tmp_path):
    """With the key that bind printed; in a file, since the command line is seen by others."""
    done = subprocess.run(command(reg, f"{BASE}/by-key", "--ttl", "30s", "-o", "json"), capture_output=True, text=True, check=True)
    key = json.loads(done.stdout[done.stdout.index("}") + 1:])["lease"]
    (tmp_path / "key").write_text(key + "\n", encoding="utf-8")
    words = [os.path.join(BIN, "bobbin"), "registry", "renew", "--url", f"http://127.0.0.1:{reg.registry_port}"]
    for named in (key, f"@{tmp_path / 'key'}"):
        assert subprocess.run([*words, named], capture_output=True, text=True, check=True).stdout == "renewed ttl=30000ms\n"
    assert reg.registry("DELETE", f"{BASE}/by-key").status == 200
    lost = wait_for(lambda: next((d for d in [subprocess.run([*words, key], capture_output=True, text=True, check=False)] if d.returncode), None),
                    "nothing is left to renew")
    assert lost.returncode == 10 and " anew" in lost.stderr, lost
    writes = [e for e in reg.registryd.events if e["event"] == "http_write" and e.get("path") == "/ws/v1/registry-lease"]
    assert not writes, "a renewal is a read to the log"


@pytest.mark.parametrize("words, code, text", [
    (["--ttl", "soon"], 2, "--ttl"), (["--keep-alive"], 2, "without --ttl"), (["--ttl", "10ms"], 2, "min-ttl")])
def test_the_command_refuses(reg, words, code, text):
    done = subprocess.run(command(reg, f"{BASE}/no", *words), capture_output=True, text=True, check=False)
    assert (done.returncode, text in done.stderr) == (code, True), done


def test_the_command_prints_the_key_for_who_renews(reg):
    done = subprocess.run(command(reg, f"{BASE}/printed", "--ttl", "1m"), capture_output=True, text=True, check=True)
    word, key, ttl = done.stdout.splitlines()[1].split()
    assert (word, ttl, renew(reg, key).json["living"]) == ("lease", "ttl=1m", 1)
