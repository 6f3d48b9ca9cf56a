"""Daemons in temporary directories on free loopback ports, and the questions a user asks them.

    with Stack() as stack:                       # registryd and dnsd on an embedded store
        stack.bind("/users/alice/…", RECORD)
        stack.sync(); stack.dig("hello-0.app.alice.bobbin.test")

Every daemon logs JSON; start() returns when the daemon says it listens. stop() asks for an orderly end and checks that it
was one; everything is gone when the `with` block ends, whatever happened inside, and a process that stayed is a failure.
"""
import contextlib
import fcntl
import glob
import http.client
import json
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import termios
import threading
import time

import zookeeper
from ports import CHANCE, free_port  # noqa: F401 (tests take free_port from here)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.environ.get("BOBBIN_BIN") or os.path.join(ROOT, "build", "release", "bin")
DOMAIN = "bobbin.test"
SANITIZED = "asan" in BIN or "tsan" in BIN
PATIENCE = 60 if SANITIZED else 30
WRITE_WAIT = f"{PATIENCE - 10}s"  # on ZooKeeper a slow machine must not make a GET right after a PUT miss it
NOFILE = 1024  # the soft limit of descriptors that daemons are started with, as service managers and shells give it
with open(os.path.join(ROOT, "conf/examples/hello-world.json"), encoding="utf-8") as example:
    HELLO = json.load(example)


def wait_for(condition, what, timeout=PATIENCE):
    """Wait until condition() is true; returns its value. Fails with `what` and the last value or error."""
    end = time.monotonic() + timeout
    last = None
    while True:
        try:
            last = condition()
            if last:
                return last
        except (OSError, http.client.HTTPException, AssertionError) as error:
            last = error
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout} s: {what}; last: {last!r}")
        time.sleep(0.02)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.body[:300]!r}>"


def request(port, method, path, body=None, headers=None, timeout=PATIENCE):
    """One HTTP request; port is one of 127.0.0.1, or HOST:PORT; path is sent as it is, body may be bytes, text or a JSON value."""
    host, _, number = str(port).rpartition(":")
    connection = http.client.HTTPConnection(host or "127.0.0.1", int(number), timeout=timeout)
    headers = dict(headers or {})
    if body is not None and not isinstance(body, (bytes, str)):
        body = json.dumps(body)
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
    try:
        connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
        data = body.encode() if isinstance(body, str) else body
        for name, value in headers.items():
            connection.putheader(name, value)
        if data is not None:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())
    finally:
        connection.close()


def until_not_ready(port, what="/readyz says it"):
    """Wait for a 503 of /readyz; returns the answer. One without a body is of a moment without a descriptor for the connection."""
    return wait_for(lambda: (a := request(port, "GET", "/readyz")).status == 503 and a.body and a, what)


class Daemon:
    """One program; `options` become -D arguments."""

    def __init__(self, name, options, env=None):
        self.name, self.options, self.env = name, dict(options), env
        self.process = None
        self.lines, self.known = [], []
        self.log = None  # its standard error; None once that has ended
        self.lock = threading.Condition()

    def start(self, *wanted):
        """Start; with events named, wait for them and until its HTTP port is open."""
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        command = ["prlimit", f"--nofile={NOFILE}:{hard}", os.path.join(BIN, self.name), "--log-format", "json"]
        for key, value in self.options.items():
            command += ["-D", f"{key}={value}"]
        environment = {k: v for k, v in os.environ.items() if k != "HADOOP_CONF_DIR"}
        with self.lock:
            self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                            env={**environment, **(self.env or {})})
            self.lines, self.known, self.log = [], [], self.process.stderr
        threading.Thread(target=self._read, args=(self.log, self.lines, self.known), daemon=True).start()
        for event in (*wanted, "http_listening") if wanted else ():
            self.event(event)
        return self

    def _read(self, log, kept, known):
        """Take the log in; with the lock held between reading and keeping, so that what is not in the pipe is known."""
        rest, more = b"", True
        while more:
            select.select([log], [], [])
            with self.lock:
                more = os.read(log.fileno(), 65536)
                *lines, rest = (rest + more).split(b"\n")
                for line in lines:
                    text = line.decode(errors="replace")
                    kept.append(text + "\n")
                    try:
                        known.append(json.loads(text))
                    except ValueError:
                        pass
                if not more:
                    log.close()
                    self.log = None if self.log is log else self.log
                self.lock.notify_all()

    def _logged(self, kept):
        with self.lock:
            while self.log and int.from_bytes(fcntl.ioctl(self.log, termios.FIONREAD, bytes(4)), "little"):
                self.lock.wait(1)
            return getattr(self, kept)

    @property
    def events(self):
        """Every event the daemon has logged since its start until now."""
        return self._logged("known")

    @property
    def raw(self):
        """Every line of its log until now."""
        return self._logged("lines")

    def event(self, name, timeout=PATIENCE):
        """The first event of this name since the start."""
        end = time.monotonic() + timeout
        with self.lock:
            while True:
                for event in self.known:
                    if event.get("event") == name:
                        return event
                left = end - time.monotonic()
                if left <= 0 or (self.process.poll() is not None and not self.lock.wait(1)):
                    raise AssertionError(f"{self.name}: no event {name}; exit {self.process.poll()}; log:\n"
                                         + "".join(self.lines[-40:]))
                self.lock.wait(min(left, 1))

    def stop(self, expect=0):
        """SIGTERM, then wait; the exit code must be the expected one."""
        if not self.process:
            return
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not stop; log:\n" + "".join(self.raw[-40:]))
        self.process = None
        assert code == expect, f"{self.name} ended with {code}:\n" + "".join(self.raw[-60:])

    def pause(self):
        """It stands still until go_on."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        """kill -9."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process = None


class WallClock:
    """Time of day of one program, to be set while it runs; `env` goes to the Daemon. Its monotonic clocks stay, unless `all_clocks`."""

    def __init__(self, directory, all_clocks=False):
        found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        if not found:
            raise RuntimeError("no libfaketimeMT.so.1: apt-get install libfaketime")
        self.file = os.path.join(directory, "wall-clock")
        self.set("+0")
        self.env = {"LD_PRELOAD": found[0], "FAKETIME_TIMESTAMP_FILE": self.file, "FAKETIME_NO_CACHE": "1",
                    **({} if all_clocks else {"DONT_FAKE_MONOTONIC": "1"})}

    def set(self, offset):
        """How far it is ahead of the machine's, as "+1d" or "-1h"."""
        with open(self.file + ".new", "w", encoding="ascii") as f:
            f.write(offset + "\n")
        os.replace(self.file + ".new", self.file)

    @staticmethod
    def tidy():
        """Remove what the library shares between processes, where the process has ended without doing so."""
        for path in glob.glob("/dev/shm/*faketime_s*"):
            if not os.path.exists(f"/proc/{path.rpartition('_')[2]}"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)


STORES = ["embedded", "zookeeper"]


@contextlib.contextmanager
def store_url(kind, config=""):
    """What Stack(store=…) wants for one of STORES; the ZooKeeper, with these lines in its zoo.cfg, runs as long as the `with` block."""
    if kind == "embedded":
        yield None
        return
    with zookeeper.Server(config=config) as server:
        yield f"zk://{server.address}/registry"


def end_strays(directory):
    """Kill what still runs in this directory or names it; returns what that was."""
    found = []
    for pid, words in command_lines().items():
        try:
            if pid != os.getpid() and (directory in words or os.readlink(f"/proc/{pid}/cwd").startswith(directory)):
                os.kill(pid, signal.SIGKILL)
                found.append(f"{pid} {words}")
        except OSError:
            pass  # it has ended, or is another user's
    return found


def remove_cgroups(name):
    """Remove the directories that svcmgr has made in the cgroup hierarchies; returns what containers have left there."""
    left = []
    for top in glob.glob(f"/sys/fs/cgroup/{name}") + glob.glob(f"/sys/fs/cgroup/*/{name}"):
        for directory in glob.glob(f"{top}/*/"):
            left.append(f"cgroup {directory} was left behind")
            with contextlib.suppress(OSError):
                os.rmdir(directory)
        with contextlib.suppress(OSError):
            os.rmdir(top)
    return left


class Stack:
    """registryd and dnsd, and with services=True svcmgr, in one temporary directory."""

    def __init__(self, services=False, store=None, options=None):
        self.dir = tempfile.mkdtemp(prefix="bobbin-test-")
        os.chmod(self.dir, 0o755)
        self.options = dict(options or {})
        self.dns_port = free_port()
        self.registry_port, self.dns_http_port = free_port(), free_port()
        self.services_port = free_port()
        url = f"http://127.0.0.1:{self.registry_port}"
        # Containers listen on their address: stacks that run side by side must not share any.
        network = f"127.{CHANCE.randrange(80, 251)}" if services else "127.77"
        common = {"bobbin.data.dir": self.dir, "hadoop.registry.url": url, "hadoop.http.staticuser.user": "alice"}
        self.registryd = Daemon("registryd", {**common, "hadoop.registry.store": store or f"file:{self.dir}/registry",
                                              "hadoop.registry.http.address": f"127.0.0.1:{self.registry_port}",
                                              "hadoop.registry.write.wait": WRITE_WAIT,
                                              **self._for("registryd")})
        self.dnsd = Daemon("dnsd", {**common, "hadoop.registry.dns.domain-name": DOMAIN,
                                    "hadoop.registry.dns.bind-port": self.dns_port,
                                    "hadoop.registry.dns.http.address": f"127.0.0.1:{self.dns_http_port}",
                                    "hadoop.registry.dns.zone-subnet": f"{network}.0.0/16", **self._for("dnsd")})
        self.subnet = f"{network}.{CHANCE.randrange(1, 255)}"
        self.svcmgr = Daemon("svcmgr", {**common, "hadoop.registry.dns.domain-name": DOMAIN,
                                        "yarn.service.api-server.address": f"127.0.0.1:{self.services_port}",
                                        "yarn.service.local.addresses": f"{self.subnet}.0/24",
                                        "yarn.service.stop-containers-on-exit": "true",
                                        "yarn.nodemanager.linux-container-executor.cgroups.hierarchy": f"/{os.path.basename(self.dir)}",
                                        **self._for("svcmgr")})
        self.daemons = [self.registryd, self.dnsd] + ([self.svcmgr] if services else [])

    def _for(self, daemon):
        return self.options.get(daemon, {})

    def __enter__(self):
        try:
            self.registryd.start("registry_synced")
            wait_for(lambda: self.registry("GET", "", base="/readyz").status == 200, "registryd is ready")
            if self.dnsd in self.daemons:
                self.dnsd.start("feed_synced")
            if self.svcmgr in self.daemons:
                self.svcmgr.start()
                wait_for(lambda: request(self.services_port, "GET", "/readyz").status == 200, "svcmgr is ready")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind, value, trace):
        failed = []
        for daemon in reversed(self.daemons):
            try:
                daemon.stop()
            except AssertionError as error:
                failed.append(str(error))
        failed += [f"{what} was left behind" for what in end_strays(self.dir)]
        failed += remove_cgroups(os.path.basename(self.dir))
        shutil.rmtree(self.dir, ignore_errors=True)
        if failed and kind is None:
            raise AssertionError("\n".join(failed))
        if failed:
            print("\n".join(failed))  # beside what failed first: a daemon that ended by a sanitizer's finding says so here

    def registry(self, method, path, body=None, headers=None, base="/ws/v1/registry", query=""):
        return request(self.registry_port, method, base + path + (f"?{query}" if query else ""), body, headers)

    def services(self, method, path, body=None, headers=None):
        return request(self.services_port, method, "/app/v1/services" + path, body, headers)

    def bind(self, path, record, query="createParents=true&overwrite=true"):
        answer = self.registry("PUT", path, record, query=query)
        assert answer.status in (200, 201), answer
        return answer

    def launch(self, document, user="alice"):
        """Post a service and wait until it is READY; returns what GET says."""
        answer = self.services("POST", f"?user.name={user}", document)
        assert answer.status == 202, answer
        return self.until_state(document["name"], "READY", user)

    def service(self, name, user="alice"):
        answer = self.services("GET", f"/{name}?user.name={user}")
        assert answer.status == 200, answer
        return answer.json

    def until_state(self, name, state, user="alice"):
        """What GET says as soon as the service is in this state."""
        return wait_for(lambda: next((s for s in [self.service(name, user)] if s["state"] == state), None),
                        f"{name} of {user} is {state}")

    def sync_all(self):
        """Wait until dnsd answers with everything that registryd has applied now."""
        return self.sync(self.registry("GET", "/").headers["Bobbin-Revision"])

    def sync(self, revision):
        """Wait until dnsd answers with this revision."""
        answer = request(self.dns_http_port, "GET", f"/sync?revision={revision}&timeout=20s")
        assert answer.status == 200, answer
        return answer

    def dig(self, *words):
        return dig(self.dns_port, *words)


class Registry(Stack):
    """Only registryd."""

    def __init__(self, **more):
        super().__init__(**more)
        self.daemons = [self.registryd]


class Manager(Stack):
    """registryd and svcmgr; nobody asks for names."""

    def __init__(self, **more):
        super().__init__(services=True, **more)
        self.daemons = [self.registryd, self.svcmgr]


class Feed:
    """Lines of a watch, read as they come."""

    def __init__(self, reg, query="", path="/"):
        self.socket = socket.create_connection(("127.0.0.1", reg.registry_port), timeout=PATIENCE)
        self.socket.sendall(f"GET /ws/v1/registry{path}?watch=true{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        self.headers = {}
        for line in iter(self.file.readline, b"\r\n"):
            name, _, value = line.decode().partition(":")
            self.headers[name.lower()] = value.strip()
        self.rest = b""

    def chunk(self):
        size = int(self.file.readline(), 16)
        data = self.file.read(size)
        self.file.readline()
        return data

    def line(self):
        """Next line, or None at the end."""
        while b"\n" not in self.rest:
            data = self.chunk()
            if not data:
                return None
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def until(self, kind, path=None):
        """Lines up to the first of a kind, and of a path when one is named."""
        lines = []
        while True:
            line = self.line()
            assert line is not None, lines
            lines.append(line)
            if line["type"] == kind and path in (None, line.get("path")):
                return lines

    def close(self):
        self.file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def containers(service):
    """All containers of a service document, in the order of the components."""
    return [c for component in service["components"] for c in component["containers"]]


def command_lines(*words):
    """Command lines, by pid, of the processes that have all these words in it, as pgrep -f would find them."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as f:
                line = f.read().replace("\0", " ")
        except OSError:
            continue  # it has just ended
        if all(word in line for word in words):
            found[int(pid)] = line
    return found


def sleepers(directory):
    """Containers' processes by pid, with their working directory: each `sleep` that works below this directory."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has just ended
            cwd = os.readlink(f"/proc/{pid}/cwd")
            if cwd.startswith(directory) and os.readlink(f"/proc/{pid}/exe").endswith("/sleep"):
                found[int(pid)] = cwd
    return found


def until_sleepers(directory, count):
    """The same when there are that many: a service is READY a moment before its last shell has become the command."""
    return wait_for(lambda: next((found for found in [sleepers(directory)] if len(found) == count), None), f"{count} processes")


def parent(pid):
    """Pid of its parent, None when it has just ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return int(f.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


def processes(*words):
    """Pids of those, without what one of them has forked to answer a request."""
    lines = command_lines(*words)
    return sorted(pid for pid in lines if parent(pid) not in (None, *lines))


def end_process(process):
    """Ask it to end; kill it when it does not."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def dig(port, *words):
    """Lines of `dig +short`."""
    done = subprocess.run(["dig", "@127.0.0.1", "-p", str(port), "+norecurse", "+tries=1", "+timeout=20", "+short", *words],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(done.stdout.split("\n")[:-1])


def dig_full(port, *words):
    """Whole output of dig: header flags and status are in it."""
    done = subprocess.run(["dig", "@127.0.0.1", "-p", str(port), "+norecurse", "+tries=1", "+timeout=20", *words],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def container(name, component, ip, id="container_e02_1524525041218_0001_01_000002", host="node7.example.com"):
    return {"type": "JSONServiceRecord", "description": name, "external": [], "internal": [], "yarn:id": id,
            "yarn:persistence": "container", "yarn:ip": ip, "yarn:hostname": host, "yarn:component": component}
