"""What a caller names is opened with the rights of the container's user, and what a container gets is its own."""
import contextlib
import ctypes
import json
import os
import pwd
import subprocess

import pytest

from harness import BIN, PATIENCE, Stack, containers, wait_for

pytestmark = pytest.mark.sanitize
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root runs containers as other users")


def document(name, command, files=(), **component):
    return {"name": name, "version": "1", "components": [{
        "name": "c", "number_of_containers": 1, "launch_command": command, "resource": {"cpus": 1, "memory": "32"},
        "configuration": {"files": [{"type": kind, "dest_file": dest, "src_file": source} for kind, dest, source in files]},
        **component}]}


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True, options={"svcmgr": {"yarn.service.local.source-timeout": "8s"}}) as s:
        yield s


def log_of(stack, name, user="alice", file="stdout.txt"):
    answer = stack.services("GET", f"/{name}/component-instances/c-0/logs/{file}?user.name={user}")
    return answer.body.decode() if answer.status == 200 else ""


def whole_log(stack, name, user="alice"):
    return wait_for(lambda: next((t for t in [log_of(stack, name, user)] if t.endswith("end\n")), None),
                    f"{name} has written all").removesuffix("end\n")


def source(stack, name, text, mode=0o644):
    path = os.path.join(stack.dir, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(path, mode)
    return path


def refused(stack, doc):
    answer = stack.services("POST", "", doc)
    assert answer.status == 400, answer
    assert stack.services("GET", f"/{doc['name']}").status == 404
    return answer.json["diagnostics"]


def test_files_that_the_user_may_read_arrive(stack):
    plain, template = source(stack, "plain", "as it is\n"), source(stack, "template", "I am ${COMPONENT_INSTANCE_NAME}\n")
    stack.launch(document("reader", "cat plain conf/t; echo end; sleep 1000",
                          [("STATIC", "plain", plain), ("TEMPLATE", "t", template)]))
    assert whole_log(stack, "reader") == "as it is\nI am c-0\n"


@needs_root
@pytest.mark.parametrize("kind", ["STATIC", "TEMPLATE"])
def test_a_file_that_only_root_may_read_is_refused(stack, kind):
    secret = source(stack, "secret", "of root\n", 0o600)
    said = refused(stack, document("thief", "cat s conf/s; sleep 1000", [(kind, "s", secret)]))
    assert said == (f"/components/0/configuration/files/0/src_file: src_file {secret}, as user nobody: the container's user may not read it: give him the right, "
                    "or name another file.")


def test_the_refusal_of_a_file_says_where_the_definition_names_it(stack):
    good, bad = source(stack, "good", "x"), stack.dir
    two = document("where", "sleep 1000", [("STATIC", "a", good)])
    two["components"].append({**document("", "sleep 1000", [("STATIC", "a", good), ("TEMPLATE", "b", bad)])["components"][0], "name": "d"})
    assert refused(stack, two).startswith(f"/components/1/configuration/files/1/src_file: src_file {bad}, as user")
    of_all = document("where", "sleep 1000")  # the service's own files are those of its components
    of_all["configuration"] = {"files": [{"type": "STATIC", "dest_file": "a", "src_file": bad}]}
    assert refused(stack, of_all).startswith(f"/components/0/configuration/files/0/src_file: src_file {bad}, as user")
    archive = document("where", "sleep 1000", artifact={"type": "TARBALL", "id": bad})
    assert refused(stack, archive).startswith(f"/components/0/artifact/id: src_file {bad}, as user")


def test_what_is_no_file_of_the_callers_own_is_refused(stack):
    fifo, link = os.path.join(stack.dir, "fifo"), os.path.join(stack.dir, "link")
    os.mkfifo(fifo)
    os.symlink("/etc/hostname", link)
    for path, says in ((fifo, "it is no regular file"), ("/dev/zero", "it is no regular file"), (stack.dir, "it is no regular file"),
                       (link, "a symbolic link leads to it: name the file itself"),
                       ("/proc/self/environ", "a symbolic link leads to it"), (stack.dir + "/../etc/passwd", '".." in it')):
        for kind in ("STATIC", "TEMPLATE"):
            assert says in refused(stack, document("odd", "sleep 1000", [(kind, "x", path)]))
    for absent in ("/no/such", "/" + "x" * 256):  # the second is longer than a name can be
        assert refused(stack, document("odd", "sleep 1000", [("STATIC", "x", absent)])) == (
            f"Src_file does not exist for config file: {absent}")


def test_a_file_that_is_gone_at_the_launch_is_named_in_the_diagnostics(stack):
    path = source(stack, "fleeting", "x")
    doc = document("late", "cat x; sleep 1000", [("STATIC", "x", path)], restart_policy="NEVER")
    assert stack.services("POST", "", {**doc, "state": "STOPPED"}).status == 202
    os.unlink(path)
    stack.services("PUT", "/late", {"state": "STARTED"})
    stack.until_state("late", "FAILED")
    explained = stack.services("GET", "/late?explain=true").json["explain"]
    assert f"src_file {path}, as user" in explained[0]["wait"] and "there is no such file" in explained[0]["wait"]


@contextlib.contextmanager
def silent_mount(directory):
    """A file system that never answers anybody."""
    os.mkdir(directory)
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.mount(b"silent", directory.encode(), b"fuse", 0, options):
        os.close(device)
        os.rmdir(directory)
        pytest.skip(f"no FUSE here: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        os.close(device)  # who waits gets an error
        libc.umount2(directory.encode(), 2)
        os.rmdir(directory)


@needs_root
@pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="no /dev/fuse")
def test_a_file_system_that_hangs_holds_nobody_up(stack):
    directory = os.path.join(stack.dir, "silent")
    with silent_mount(directory):
        hanging = subprocess.Popen(["curl", "-s", "-w", "%{http_code}", "-H", "Content-Type: application/json", "-d",
                                    json.dumps(document("stuck", "sleep 1000", [("STATIC", "x", directory + "/x")])),
                                    f"http://127.0.0.1:{stack.services_port}/app/v1/services"], stdout=subprocess.PIPE, text=True)
        stack.launch(document("lively", "sleep 1000"))  # answered, launched and READY meanwhile
        assert hanging.poll() is None, hanging.communicate()
        said, _ = hanging.communicate(timeout=PATIENCE)
    assert said.endswith("504") and f"Reading src_file {directory}/x took longer than" in said
    assert stack.services("GET", "/stuck").status == 404


def test_a_process_started_again_finds_a_clean_directory(stack):
    template = source(stack, "id", "${CONTAINER_ID}\n")
    stack.launch(document("again", "ls -A . conf; cat conf/id; echo x > left; echo stale > conf/id; "
                                   "[ -e ../../../go ] && echo end && exec sleep 1000; exit 1", [("TEMPLATE", "id", template)]))
    wait_for(lambda: log_of(stack, "again").count("conf:") > 1, "it was started again")
    source(stack, "svcmgr/go", "")
    lines = whole_log(stack, "again").splitlines()
    [container] = containers(stack.service("again"))
    runs = [lines[i:i + 6] for i in range(0, len(lines), 6)]
    assert len(runs) > 1
    assert {tuple(run[:5]) for run in runs} == {(".:", "conf", "", "conf:", "id")}
    assert runs[-1][5] == container["id"]


def test_a_container_has_nothing_of_svcmgr(stack):
    os.environ["BOBBIN_TEST_LEAK"] = "1"
    stack.svcmgr.stop()
    stack.svcmgr.start("svcmgr_ready")
    del os.environ["BOBBIN_TEST_LEAK"]
    stack.launch(document("bare", "ls /proc/$$/fd; tr '\\0' '\\n' < /proc/$$/environ | cut -d= -f1 | sort; "
                                  "grep -E 'NoNewPrivs|SigBlk|SigIgn|CapPrm|CapAmb' /proc/$$/status | cut -f2; umask; "
                                  "cut -d' ' -f7 /proc/$$/stat; echo end; sleep 1000"))
    assert whole_log(stack, "bare").split() == [
        "0", "1", "2", "CONTAINER_ID", "CONTAINER_IP", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LOCAL_DIRS", "LOGNAME", "LOG_DIR",
        "LOG_DIRS", "NM_HOST", "PATH", "PWD", "USER", "WORK_DIR", "0" * 16, "0" * 16,
        *(["0" * 16] if os.getuid() == 0 else [status_of_self("CapPrm")]), "0" * 16, "1", "0022", "0"]


def status_of_self(name):
    with open("/proc/self/status", encoding="ascii") as f:
        return dict(line.split(":", 1) for line in f.read().splitlines())[name].strip()


@needs_root
def test_owners_have_users_of_their_own():
    """bob's container can neither read alice's files nor signal her processes; svcmgr serves both their logs."""
    options = {"svcmgr": {"yarn.service.local.user-range": "1900000000-1900000009"}}
    with Stack(services=True, options=options) as stack:
        stack.launch(document("secret", "echo of alice > note; echo logged; id -u; id -G; echo end; exec sleep 1000"))
        assert whole_log(stack, "secret") == "logged\n1900000000\n1900000000\n"
        [hers] = containers(stack.service("secret"))
        pids = [int(p) for p in os.listdir("/proc") if p.isdigit() and owner_of(p) == 1900000000 and works_below(p, stack.dir)]
        logs = f"{stack.dir}/svcmgr/logs/{hers['id'].replace('container', 'application').rsplit('_', 2)[0]}/{hers['id']}"
        assert os.path.exists(f"{logs}/stdout.txt") and pids
        spy = (f"cat ../../{hers['id']}/work/note {logs}/stdout.txt 2>/dev/null || echo unread; ls ../.. 2>/dev/null || echo unlisted; "
               f"kill -0 {pids[0]} 2>/dev/null || echo unsignalled; id -u; echo end; exec sleep 1000")
        stack.launch(document("spy", spy), user="bob")
        assert whole_log(stack, "spy", "bob") == "unread\nunlisted\nunsignalled\n1900000001\n"
        with open(f"{stack.dir}/svcmgr/users", encoding="ascii") as f:
            assert f.read() == "1900000000 alice\n1900000001 bob\n"


@needs_root
def test_logs_show_no_file_but_the_containers_own(stack):
    """What stands in the log directory under the name of the output may be anything: the user owns the directory."""
    service = stack.launch(document("mask", "echo mine; echo end; exec sleep 1000"))
    assert whole_log(stack, "mask") == "mine\n"
    [container] = containers(service)
    output = f"{stack.dir}/svcmgr/logs/{service['id']}/{container['id']}/stdout.txt"
    secret = source(stack, "moved", "of root\n", 0o600)
    for put in (lambda: os.rename(secret, output), lambda: os.symlink("/etc/hostname", output), lambda: os.link(kept, output),
                lambda: os.mkfifo(output)):
        kept = source(stack, "kept", "of root\n", 0o600)
        os.unlink(output)
        put()
        assert log_of(stack, "mask") == ""


def works_below(pid, directory):
    """Whether it is a process of this stack: other runs have users of the same numbers."""
    try:
        return os.readlink(f"/proc/{pid}/cwd").startswith(directory)
    except OSError:  # it has ended
        return False


def owner_of(pid):
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except FileNotFoundError:
        return None


@needs_root
@pytest.mark.parametrize("value,user,says", [
    ("200000", None, ["is no range of uids; write it as 200000-200999."]),
    ("65000-66000", None, ["/etc/passwd:", f'it has numbers of "{pwd.getpwuid(65534).pw_name}". Choose another range.']),
    ("1900000000-1900000009", 65534, ["Only root can run containers as other users; leave it out, or start svcmgr as root."]),
], ids=["no range", "not free", "not root"])
def test_a_user_range_is_checked_before_anything_starts(value, user, says, tmp_path):
    done = subprocess.run([os.path.join(BIN, "svcmgr"), "-t", "-D", f"yarn.service.local.user-range={value}",
                           "-D", f"bobbin.data.dir={tmp_path}"], text=True, capture_output=True, user=user, check=False)
    assert done.returncode == 3, done
    assert all(part in done.stderr for part in says), done
    assert not os.listdir(tmp_path)


@needs_root
def test_a_file_of_uids_that_is_broken_is_no_start(tmp_path):
    """-t reports it, too."""
    users = tmp_path / "svcmgr" / "users"
    users.parent.mkdir()
    users.write_text("alice has no number\n", encoding="utf-8")
    words = ["-D", "yarn.service.local.user-range=1900000000-1900000009", "-D", f"bobbin.data.dir={tmp_path}"]
    for check in (["-t"], []):
        done = subprocess.run([os.path.join(BIN, "svcmgr"), *check, *words], text=True, capture_output=True, check=False, timeout=60)
        assert done.returncode == 3 and f"{users}:1" in done.stderr and "restore the file" in done.stderr, done
    assert os.listdir(tmp_path / "svcmgr") == ["users"]
