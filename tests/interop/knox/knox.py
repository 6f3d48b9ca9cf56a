"""A real Apache Knox from Maven Central with the definitions of conf/knox, for tests and for `./dev knox`.

    with Gateway(registry=[URL], services=[URL]) as knox: …knox.url…       https://127.0.0.1:PORT/gateway/bobbin/bobbin

    python3 tests/interop/knox/knox.py up|down|status        one in build/knox that stays until `down`
"""
import http.client
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../.."))

import kept  # noqa: E402
from java import JVM, START_S, die_with_parent, java, site, wait_for  # noqa: E402
from maven import classpath  # noqa: E402
from ports import free_port  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
POM, JARS = os.path.join(HERE, "pom.xml"), os.path.join(ROOT, "build", "knox-2.0.0")
CONF = os.path.join(ROOT, "conf", "knox")
USERS = {"alice": "alice-secret", "bob": "bob-secret"}
END_S = 30  # what a Knox that is asked to end may take
SECRET = "bobbin-master"  # of the gateway's key store, which ends with its directory
KNOX_JVM = ["-Dfile.encoding=UTF-8",
            "-Dcom.sun.xml.bind.v2.bytecode.ClassTailor.noOptimize=true", "--add-opens=java.base/java.lang=ALL-UNNAMED"]
# The jar that would name them is not published.
SERVICES = ("META-INF/services/org.apache.knox.gateway.services.GatewayServices",
            "org.apache.knox.gateway.services.DefaultGatewayServices")


def documented(heading, number=0):
    """A block of commands or XML below a heading of docs/knox.md."""
    with open(os.path.join(ROOT, "docs", "knox.md"), encoding="utf-8") as f:
        section = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", f.read(), re.M | re.S)[1]
    return re.findall(r"^```(?:sh|xml)\n(.*?)^```$", section, re.M | re.S)[number]


def topology(registry, services, params=()):
    """conf/knox/topologies/bobbin.xml for these backends and the users of the tests."""
    tree = ET.parse(os.path.join(CONF, "topologies", "bobbin.xml"))
    shiro = tree.find("gateway/provider")
    for user, password in USERS.items():
        shiro.append(ET.fromstring(f"<param><name>users.{user}</name><value>{password}</value></param>"))
    if len(registry) > 1 or len(services) > 1:
        tree.find("gateway").append(ET.fromstring(documented("Two addresses")))
    for service in tree.findall("service"):
        service.remove(service.find("url"))
        for url in registry if service.findtext("role") == "BOBBIN-REGISTRY" else services:
            ET.SubElement(service, "url").text = url
        for name, value in dict(params).items():
            service.append(ET.fromstring(f"<param><name>{name}</name><value>{value}</value></param>"))
    return ET.tostring(tree.getroot(), encoding="unicode")


class Gateway:
    """One Knox. topologies: texts by name; settings: of gateway-site.xml."""

    def __init__(self, topologies, settings=None, directory=None, port=None):
        self.owns_dir = directory is None
        self.dir = directory or tempfile.mkdtemp(prefix="knox-")
        self.port = port or free_port()
        self.topologies = topologies
        prompt = ET.fromstring(documented("Watches"))
        self.settings = {"gateway.port": self.port, "gateway.path": "gateway", "gateway.hadoop.kerberos.secured": "false",
                         "gateway.topology.port.mapping.enabled": "false", prompt.findtext("name"): prompt.findtext("value"),
                         **(settings or {})}
        self.process = None

    def url(self, name="bobbin"):
        return f"https://127.0.0.1:{self.port}/gateway/{name}/bobbin"

    def _write(self, path, text):
        path = os.path.join(self.dir, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def java(self, *words):
        return [java(), *JVM, *KNOX_JVM, f"-DGATEWAY_HOME={self.dir}", "-cp", f"{self.dir}/conf:{classpath(POM, JARS)}", *words]

    def lay_down(self):
        """GATEWAY_HOME as Knox wants it."""
        for name in ("conf/topologies", "conf/descriptors", "conf/shared-providers", "data/security/keystores",
                     "data/deployments", "data/applications", "logs"):
            os.makedirs(os.path.join(self.dir, name), exist_ok=True)
        shutil.copytree(os.path.join(CONF, "services"), os.path.join(self.dir, "data/services"), dirs_exist_ok=True)
        self._write("conf/gateway-site.xml", site(self.settings))
        self._write(f"conf/{SERVICES[0]}", SERVICES[1] + "\n")
        for name, text in self.topologies.items():
            self._write(f"conf/topologies/{name}.xml", text)
        if os.path.exists(os.path.join(self.dir, "data/security/master")):
            return
        keys = ["keytool", "-genkeypair", "-alias", "gateway-identity", "-keyalg", "RSA", "-storetype", "PKCS12", "-dname",
                "CN=127.0.0.1", "-ext", "SAN=IP:127.0.0.1,DNS:localhost", "-validity", "30", "-storepass", SECRET,
                "-keystore", os.path.join(self.dir, "data/security/keystores/gateway.jks")]
        for command in (keys, self.java("org.apache.knox.gateway.util.KnoxCLI", "create-master", "--master", SECRET)):
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=START_S, cwd=self.dir)
            assert done.returncode == 0, done.stdout + done.stderr

    def ca(self):
        """File of its certificate, for clients that check it."""
        path = os.path.join(self.dir, "ca.pem")
        if not os.path.exists(path):
            subprocess.run(["keytool", "-exportcert", "-rfc", "-alias", "gateway-identity", "-storepass", SECRET, "-file", path,
                            "-keystore", os.path.join(self.dir, "data/security/keystores/gateway.jks")], capture_output=True, check=True)
        return path

    def log(self):
        """The last it has printed."""
        with open(os.path.join(self.dir, "log"), encoding="utf-8", errors="replace") as f:
            return f.read()[-6000:]

    def is_up(self):
        if self.process and self.process.poll() is not None:
            raise AssertionError(self.log())
        try:
            return all(self._asks_for_a_password(name) for name in self.topologies)
        except (OSError, http.client.HTTPException):
            return False

    def _asks_for_a_password(self, name):
        """A topology is there: the port alone is open before it is."""
        server = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=5, context=ssl._create_unverified_context())
        try:
            server.request("GET", f"/gateway/{name}/bobbin/registry/ws/v1/registry")
            return server.getresponse().status == 401
        finally:
            server.close()

    def spawn(self, **how):
        """Start the process; do not wait for it."""
        self.lay_down()
        with open(os.path.join(self.dir, "log"), "ab") as log:
            self.process = subprocess.Popen(self.java("org.apache.knox.gateway.GatewayServer"), stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, cwd=self.dir, **how)
        return self

    def wait(self):
        wait_for("Knox listens", self.is_up, START_S)
        return self

    def __enter__(self):
        try:
            return self.spawn(preexec_fn=die_with_parent).wait()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        if self.process:
            self.process.kill()
            self.process.wait()
        if self.owns_dir:
            shutil.rmtree(self.dir, ignore_errors=True)


# ---- ./dev knox ----

HOME = os.path.join(ROOT, "build", "knox")


def running():
    """What knows the Knox again that `up` left."""
    try:
        with open(os.path.join(HOME, "process"), encoding="ascii") as f:
            return f.read()
    except OSError:
        return ""


def alive():
    """Its pid; 0: there is none."""
    return kept.alive(running())


def up(registry="http://127.0.0.1:9192", services="http://127.0.0.1:9191", port="8443"):
    if alive():
        print(f"Knox runs already, process {alive()}: ./dev knox down ends it")
        return 1
    shutil.rmtree(HOME, ignore_errors=True)
    texts = {"bobbin": topology(registry.split(","), services.split(","))}
    knox, log = Gateway(texts, directory=HOME, port=int(port)), os.path.relpath(os.path.join(HOME, "log"), ROOT)
    knox.spawn(start_new_session=True)
    with open(os.path.join(HOME, "process"), "w", encoding="ascii") as f:
        f.write(kept.mark(knox.process.pid))
    try:
        knox.wait()
    except (AssertionError, TimeoutError):
        why = [line.split(" - ", 1)[1] for line in knox.log().splitlines() if " FATAL " in line]
        print(f"Knox does not start: {why[-1] if why else 'it does not answer'}; its log is {log}", file=sys.stderr)
        knox.process.kill()
        return 1
    print(f"Knox runs before {registry} and {services}; its log is {log}. Ask it:\n"
          f"curl -sk -u alice:{USERS['alice']} {knox.url()}/registry/ws/v1/registry")
    return 0


def down():
    kept.end(running(), patience_s=END_S)
    shutil.rmtree(HOME, ignore_errors=True)
    print("Knox is down")
    return 0


def status():
    """0 when it runs and answers."""
    pid = alive()
    if not pid:
        print("Knox does not run")
        return 1
    settings = ET.parse(os.path.join(HOME, "conf", "gateway-site.xml"))
    port, = (one.findtext("value") for one in settings.iter("property") if one.findtext("name") == "gateway.port")
    knox = Gateway({"bobbin": ""}, directory=HOME, port=int(port))
    answers = knox.is_up()
    print(f"Knox runs, process {pid}, {'' if answers else 'but does not answer '}at {knox.url()}")
    return 0 if answers else 1


def main(words):
    """up [REGISTRY [SERVICES [PORT]]], down, status."""
    verbs = {"up": (up, 3), "down": (down, 0), "status": (status, 0)}
    run, most = verbs.get(words[0] if words else None, (None, 0))
    if not run or len(words) - 1 > most or not all(port.isdigit() for port in words[3:]):
        print("usage: ./dev knox up [REGISTRY-URL [SERVICES-URL [PORT]]] | down | status", file=sys.stderr)
        return 2
    return run(*words[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
