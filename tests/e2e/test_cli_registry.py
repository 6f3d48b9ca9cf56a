"""`bobbin registry …` against a real registryd and dnsd: what is printed, what DNS then says, how it ends."""
import json
import os
import re
import signal
import subprocess
import threading

import pytest

from harness import BIN, PATIENCE, Stack, container, free_port

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/cli"
STAYS = ["--attr", "yarn:persistence=permanent"]


@pytest.fixture(scope="module")
def stack():
    with Stack() as s:
        yield s


def command(stack, *words):
    return [os.path.join(BIN, "bobbin"), "registry", words[0], "--url", f"http://127.0.0.1:{stack.registry_port}",
            "--user", "alice", *words[1:]]


def bobbin(stack, *words, stdin=None):
    return subprocess.run(command(stack, *words), input=stdin, capture_output=True, text=True, timeout=PATIENCE,
                          check=False)


def ok(stack, *words, stdin=None):
    done = bobbin(stack, *words, stdin=stdin)
    assert done.returncode == 0 and done.stderr == "", done
    return done.stdout


def refused(stack, code, *words, stdin=None):
    """Runs into an error: its exit code, one line on stderr, nothing on stdout."""
    done = bobbin(stack, *words, stdin=stdin)
    assert done.returncode == code, done
    assert done.stdout == "", done
    assert done.stderr.startswith("bobbin: ") and done.stderr.count("\n") == 1, done
    return done.stderr


def test_bind_from_standard_input_is_resolvable_by_dns_at_once(stack):
    record = json.dumps(container("web-0", "web", "127.77.3.1"))
    path = f"{BASE}/shop/components/ctr-e02-1524525041218-0001-01-000002"
    out = ok(stack, "bind", "--parents", "--sync", f"http://127.0.0.1:{stack.dns_http_port}", path, "-", stdin=record)
    assert out.startswith(f"bound {path} revision=") and out.endswith(" synced\n")
    assert stack.dig("web-0.shop.alice.bobbin.test", "A") == ["127.77.3.1"]


def test_rm_with_sync_takes_the_name_away(stack):
    path = f"{BASE}/gone/components/ctr-1"
    sync = ["--sync", f"http://127.0.0.1:{stack.dns_http_port}"]
    ok(stack, "bind", "-p", *sync, path, "-", stdin=json.dumps(container("gone-0", "gone", "127.77.3.2")))
    assert stack.dig("gone-0.gone.alice.bobbin.test", "A") == ["127.77.3.2"]
    ok(stack, "rm", *sync, path)
    assert stack.dig("gone-0.gone.alice.bobbin.test", "A") == []


def test_bind_from_a_file(stack, tmp_path):
    file = tmp_path / "record.json"
    file.write_text(json.dumps({"description": "from a file", "yarn:id": "x1", "yarn:persistence": "container"}))
    ok(stack, "bind", "-p", f"{BASE}/file", str(file))
    assert json.loads(ok(stack, "resolve", "-o", "json", f"{BASE}/file"))["description"] == "from a file"


def test_purge_says_what_it_deletes(stack):
    ids = ["application_1700000000000_0042", "appattempt_1700000000000_0042_000001", "container_1700000000000_0042_01_000002", "own"]
    kinds = ["application", "application-attempt", "container", "container"]
    paths = [f"{BASE}/purged/n{n}" for n in range(4)]
    for path, id, kind in zip(paths, ids, kinds):
        ok(stack, "bind", "-p", "--attr", f"yarn:id={id}", "--attr", f"yarn:persistence={kind}", path)
    ok(stack, "mknode", f"{paths[2]}/below")
    assert ok(stack, "purge", "--dry-run", ids[0]) == f"would delete {paths[0]}\n"
    assert ok(stack, "purge", ids[0]) == f"deleted {paths[0]}\n"
    assert json.loads(ok(stack, "purge", "-o", "json", ids[1])) == {"count": 1, "dryRun": False, "deleted": [paths[1]]}
    assert paths[2] in refused(stack, 12, "purge", "--children", "fail", ids[2])
    assert ok(stack, "purge", "--children", "skip", ids[2]) == ""
    assert ok(stack, "purge", ids[2], "/services") == ""
    assert ok(stack, "purge", "--children", "all", ids[2], BASE) == f"deleted {paths[2]}\n"
    assert "--persistence" in refused(stack, 2, "purge", "own")
    assert "--children" in refused(stack, 2, "purge", "--children", "x", ids[2])
    assert ok(stack, "purge", "--persistence", "container", "own") == f"deleted {paths[3]}\n"
    assert ok(stack, "ls", f"{BASE}/purged") == ""


def test_grant_in_a_registry_that_is_not_secure_is_remarked(stack):
    done = bobbin(stack, "mknode", "-p", "--grant", "u:p", f"{BASE}/granted")
    assert done.returncode == 0 and "not secure" in done.stderr, done


def test_bind_made_of_options(stack):
    ok(stack, "bind", f"{BASE}/made", "--parents", "-api", "classpath:a.b", "-rest", "http://h:1/x", "--api=http://", "--webui",
       "http://h:2/", "-inet", "host.example", "99", "-api", "ipc.x", "--description", "two words", "--attr",
       "yarn:persistence=permanent", "--attr", "a=b=c")
    record = json.loads(ok(stack, "resolve", f"{BASE}/made", "-ojson"))
    assert [(e["api"], e["protocolType"]) for e in record["external"]] == [
        ("classpath:a.b", "REST"), ("http://", "webui"), ("ipc.x", "tcp")]
    assert record["external"][2]["addresses"] == [{"host": "host.example", "port": "99"}]
    assert (record["description"], record["yarn:persistence"], record["a"]) == ("two words", "permanent", "b=c")
    table = ok(stack, "resolve", f"{BASE}/made")
    assert re.search(r"external +ipc\.x +tcp host/port host=host\.example port=99", table) or \
        re.search(r"external +ipc\.x +tcp host/port port=99 host=host\.example", table), table


def test_ls_and_stat(stack):
    ok(stack, "mknode", "--parents", f"{BASE}/list/b")
    ok(stack, "mknode", f"{BASE}/list/a")
    assert ok(stack, "ls", f"{BASE}/list") == "a\nb\n"
    assert json.loads(ok(stack, "ls", f"{BASE}/list", "-o", "json")) == {"path": f"{BASE}/list", "nodes": ["a", "b"]}
    assert "users" in ok(stack, "ls").split()
    stat = json.loads(ok(stack, "stat", "-o", "json", f"{BASE}/list"))
    assert (stat["path"], stat["children"]) == ("list", 2) and stat["time"] > 1_700_000_000_000
    assert ok(stack, "stat", f"{BASE}/list").splitlines()[1].split()[0] == "list"


def test_mknode_says_whether_it_was_there(stack):
    ok(stack, "mknode", "-p", f"{BASE}/once")
    assert ok(stack, "mknode", f"{BASE}/once") == f"exists {BASE}/once\n"
    assert json.loads(ok(stack, "mknode", "-o", "json", f"{BASE}/once"))["created"] is False


@pytest.mark.parametrize("code, words, remedy", [
    (10, ["resolve", f"{BASE}/nothing"], ""),
    (16, ["resolve", "/users"], ""),
    (10, ["rm", f"{BASE}/nothing"], ""),
    (10, ["mknode", "/users/alice/no/parent"], "--parents"),
    (12, ["rm", "/users"], "--recursive"),
    (9, ["mknode", "/users/UPPER"], ""),
    (2, ["resolve"], "usage: bobbin registry resolve"),
    (2, ["ls", "--nonsense"], "--help"),
    (2, ["ls", "--timeout", "soon"], "10s"),
    (2, ["bind", f"{BASE}/x"], "FILE"),
    (2, ["bind", f"{BASE}/x", "--rest", "http://h/"], "--api"),
    (2, ["bind", f"{BASE}/x", "--inet", "host"], "HOST PORT"),
    (2, ["bind", f"{BASE}/x", "--api", "a", "--inet", "host", "port"], "port"),
    (4, ["bind", f"{BASE}/x", "/does/not/exist.json"], "/does/not/exist.json"),
    (2, ["ls", "-o", "xml"], "table or json"),
    (3, ["ls", "-D", "=x"], ""),
])
def test_errors_have_the_exit_codes_of_the_table_and_a_remedy(stack, code, words, remedy):
    assert remedy in refused(stack, code, *words)


def test_bad_json_names_the_place(stack):
    line = refused(stack, 17, "bind", f"{BASE}/bad", "-", stdin='{"type":"JSONServiceRecord",\n "external":[}')
    assert line.startswith("bobbin: -:2:"), line


def test_bind_does_not_replace_without_the_option(stack):
    ok(stack, "bind", "-p", f"{BASE}/two", "--description", "one", *STAYS)
    assert "--overwrite" in refused(stack, 11, "bind", f"{BASE}/two", "--description", "two")
    ok(stack, "bind", "--overwrite", f"{BASE}/two", "--description", "two", *STAYS)
    assert json.loads(ok(stack, "resolve", f"{BASE}/two", "-o", "json"))["description"] == "two"


def test_nobody_listens():
    done = subprocess.run([os.path.join(BIN, "bobbin"), "registry", "ls", "--timeout", "900ms", "--url",
                           f"http://127.0.0.1:{free_port()}"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 5 and "nothing listens" in done.stderr and "--url" in done.stderr, done
    assert done.stderr.count("\n") == 1


def test_the_url_comes_from_the_configuration(stack, tmp_path):
    (tmp_path / "core-site.xml").write_text(
        "<configuration><property><name>hadoop.registry.url</name>"
        f"<value>http://127.0.0.1:{stack.registry_port}</value></property></configuration>")
    for words in (["--config", str(tmp_path)], ["-D", f"hadoop.registry.url=http://127.0.0.1:{stack.registry_port}"]):
        done = subprocess.run([os.path.join(BIN, "bobbin"), "registry", "ls", *words], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        assert done.returncode == 0 and "users" in done.stdout.split(), done


class Watch:
    """`bobbin registry watch -o json`, line by line."""

    def __init__(self, stack, *words):
        self.process = subprocess.Popen(command(stack, "watch", "-o", "json", *words), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.timer = threading.Timer(PATIENCE, self.process.kill)
        self.timer.start()

    def until(self, kind):
        lines = []
        for line in self.process.stdout:
            lines.append(json.loads(line))
            if lines[-1]["type"] == kind:
                return lines
        raise AssertionError(f"no {kind} in {lines}; {self.process.stderr.read()}")

    def end(self):
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, [json.loads(line) for line in out.splitlines()], err

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.timer.cancel()
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def test_watch_shows_what_is_there_then_the_changes(stack):
    ok(stack, "bind", "-p", f"{BASE}/seen/old", "--description", "old", *STAYS)
    with Watch(stack, "--max", "2", f"{BASE}/seen") as watch:
        snapshot = watch.until("synced")
        assert [line["path"] for line in snapshot[:-1]] == [f"{BASE}/seen", f"{BASE}/seen/old"]
        assert snapshot[1]["service"]["description"] == "old"
        ok(stack, "bind", "--overwrite", f"{BASE}/seen/old", "--description", "newer", *STAYS)
        ok(stack, "rm", f"{BASE}/seen/old")
        code, lines, _ = watch.end()
    assert code == 0
    assert [(line["type"], line["path"]) for line in lines] == [("put", f"{BASE}/seen/old"), ("delete", f"{BASE}/seen/old")]
    assert lines[0]["service"]["description"] == "newer"


def test_watch_resumes_after_a_revision(stack):
    revision = ok(stack, "bind", "-p", f"{BASE}/since/a", "--description", "a", *STAYS).split("revision=")[1].strip()
    ok(stack, "bind", f"{BASE}/since/b", "--description", "b", *STAYS)
    with Watch(stack, "--since", revision, "--max", "1", f"{BASE}/since") as watch:
        code, lines, _ = watch.end()
    assert code == 0 and [line["path"] for line in lines] == [f"{BASE}/since/b"]


def test_watch_ends_at_its_time(stack):
    with Watch(stack, "--timeout", "300ms") as watch:
        code, lines, err = watch.end()
    assert code == 0 and err == "" and {line["type"] for line in lines} <= {"put", "synced"}


def test_a_watch_whose_registry_is_away_at_the_end_is_no_success():
    words = [os.path.join(BIN, "bobbin"), "registry", "watch", "--url", f"http://127.0.0.1:{free_port()}", "--timeout"]
    for time in ("300ms", "2s", "15s"):  # a busy machine may take the first of these for one try
        done = subprocess.run([*words, time], capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode:
            break
    assert done.returncode == 5 and done.stdout == "", done
    assert "nothing listens" in done.stderr.splitlines()[0] and "timed out" in done.stderr.splitlines()[-1], done


def test_a_watch_that_the_registry_refuses_ends_with_its_words(stack):
    with Watch(stack, "--since", "zz.1") as watch:
        code, lines, err = watch.end()
    assert (code, lines) == (29, [])
    assert err == 'bobbin: since: "zz.1" is not a revision (<store>.<number>)\n'


def test_watch_ends_at_ctrl_c(stack):
    with Watch(stack) as watch:
        watch.until("synced")
        watch.process.send_signal(signal.SIGINT)
        code, _, err = watch.end()
    assert code == 0 and err == ""


def test_help_is_derived_from_the_table():
    program = os.path.join(BIN, "bobbin")
    everything = subprocess.run([program, "help"], capture_output=True, text=True, check=True).stdout
    for verb in ("ls", "resolve", "stat", "bind", "mknode", "rm", "watch"):
        assert f"registry {verb}" in everything
        one = subprocess.run([program, "registry", verb, "--help"], capture_output=True, text=True, check=True).stdout
        assert one.startswith(f"usage: bobbin registry {verb}") and "--output" in one
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == everything
    wrong = subprocess.run([program, "registry", "nonsense"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and wrong.stderr == "bobbin: nonsense: no such command (bobbin help lists them)\n"


@pytest.mark.parametrize("words, meant", [
    (["regstry", "ls"], "registry"), (["registry", "lss", "/"], "ls"), (["app", "lunch", "x.json"], "launch"), (["log-levle"], "log-level"),
    (["registry", "ls", "--tiemout", "3", "/"], "--timeout"), (["registry", "ls", "--tiemout=3", "/"], "--timeout")])
def test_a_misspelt_word_is_refused_with_the_one_that_was_meant(words, meant):
    done = subprocess.run([os.path.join(BIN, "bobbin"), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and f'did you mean "{meant}"?' in done.stderr, done


def test_a_record_that_does_not_say_how_long_it_stays(stack):
    """It is bound, as Hadoop would; but it has no DNS name, and the person who binds it gets a warning."""
    done = bobbin(stack, "bind", "-p", f"{BASE}/stays/one", "--description", "x", "--attr", "yarn:id=a")
    assert done.returncode == 0 and done.stdout.startswith("bound "), done
    assert done.stderr.startswith("bobbin: warning: ") and "yarn:persistence" in done.stderr and "DNS" in done.stderr, done
    assert done.stderr.count("\n") == 1, done
    assert ok(stack, "bind", "-p", f"{BASE}/stays/two", "--attr", "yarn:id=a", "--attr", "yarn:persistence=permanent")
    slip = refused(stack, 2, "bind", "-p", f"{BASE}/stays/three", "--attr", "yarn:id=a", "--attr", "yarn:persistence=aplication")
    assert 'did you mean "application"?' in slip, slip
    assert bobbin(stack, "stat", f"{BASE}/stays/three").returncode == 10
