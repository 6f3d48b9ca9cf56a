"""The same n instances in every form that a bench needs: registry records, master files, questions.

Each instance has an A at its instance, container, component and service name, a TXT and a PTR. 100 instances make a service, with
4 components. Beside ten instances each stands an application with two endpoints: SRV at its own and at two endpoint names, with
addresses of their targets. Names and addresses depend on the number only.
"""
import random
from dataclasses import dataclass

DOMAIN = "dev.test"
REVERSE = "10.in-addr.arpa"
A_SERVICE, COMPONENTS, AN_APPLICATION = 100, 4, 10
ASKED = 100000  # most instances that are asked about
TTL_S = 1


class Instance:
    def __init__(self, i):
        self.number = i
        service, host = i // A_SERVICE, i + 1
        tail = f"e50_1451931954322_{service:04}_01_{i % A_SERVICE:06}"
        self.address = f"10.{host >> 16}.{host >> 8 & 255}.{host & 255}"
        self.service = f"svc{service}"
        self.description = f"httpd-{i % A_SERVICE}"
        self.component = f"c{i % COMPONENTS}"
        self.id = f"container_{tail}"
        self.element = f"ctr-{tail.replace('_', '-')}"
        self.suffix = f"{self.service}.root.{DOMAIN}."
        self.instance_name = f"{self.description}.{self.suffix}"
        self.component_name = f"{self.component}.{self.suffix}"
        self.container_name = f"{self.element}.{DOMAIN}."
        self.reverse_name = f"{host & 255}.{host >> 8 & 255}.{host >> 16}.10.in-addr.arpa."

    @property
    def path(self):
        return f"/users/root/services/yarn-service/{self.service}/components/{self.element}"

    def record(self, address=None):
        return {"type": "JSONServiceRecord", "description": self.description, "external": [], "internal": [],
                "yarn:id": self.id, "yarn:persistence": "container", "yarn:component": self.component,
                "yarn:ip": address or self.address, "yarn:hostname": f"host-{self.element[-3:]}"}


class Application:
    def __init__(self, k):
        self.hosts = [f"10.{192 + (k >> 16)}.{k >> 8 & 255}.{k & 255}", f"10.{224 + (k >> 16)}.{k >> 8 & 255}.{k & 255}"]
        self.last = f"app{k}"
        self.name = f"{self.last}.root.{DOMAIN}."
        self.other_host = f"ip-{self.hosts[1].replace('.', '-')}.{self.name}"
        self.endpoints = [("http", 8080, self.name), ("admin", 8081, self.other_host)]

    @property
    def path(self):
        return f"/users/root/services/org-apache-web/{self.last}"

    def record(self):
        apis = ("http://", "classpath:org.apache.hadoop.yarn.service.admin")
        return {"type": "JSONServiceRecord", "description": "web", "internal": [],
                "external": [{"api": api, "addressType": "host/port", "protocolType": "tcp",
                              "addresses": [{"host": host, "port": str(port)}]}
                             for api, host, (_, port, _) in zip(apis, self.hosts, self.endpoints)],
                "yarn:id": f"application_1451931954322_{self.last[3:]:>04}", "yarn:persistence": "application"}

    def master_lines(self):
        yield f"{self.name} A {self.hosts[0]}"
        yield f"{self.other_host} A {self.hosts[1]}"
        for label, port, target in self.endpoints:
            yield f"{label}-api.{self.name} A {self.hosts[0]}"
            for owner in (self.name, f"{label}-api.{self.name}"):
                yield f"{owner} SRV 1 1 {port} {target}"
                yield f'{owner} TXT "api={label}"'


def n_names(n):
    """Names that have records, in both zones, the apexes with them."""
    own, components = 3 * n, COMPONENTS * (n // A_SERVICE) + min(n % A_SERVICE, COMPONENTS)
    return own + -(-n // A_SERVICE) + components + 4 * (n // AN_APPLICATION) + 2


def with_names(names):
    """The most instances that have no more than so many names."""
    n = names // 3
    while n_names(n) > names:
        n -= 1
    return n


def records(n):
    """(path, record) of everything, in path order; each made when its turn comes."""
    order = sorted([(Instance(i).path, Instance, i) for i in range(n)] +
                   [(Application(k).path, Application, k) for k in range(n // AN_APPLICATION)], key=lambda item: item[0])
    for path, kind, number in order:
        yield path, kind(number).record()


def write_masters(n, forward, reverse):
    """Both zones as master files."""
    for out, origin in ((forward, DOMAIN), (reverse, REVERSE)):
        out.write(f"$TTL {TTL_S}\n{origin}. SOA ns.{DOMAIN}. hostmaster.{DOMAIN}. 1 86000 7200 1209600 600\n"
                  f"{origin}. NS ns.{DOMAIN}.\n")
    for i in range(n):
        x = Instance(i)
        forward.write(f"{x.instance_name} A {x.address}\n{x.container_name} A {x.address}\n"
                      f"{x.component_name} A {x.address}\n{x.instance_name} TXT \"id={x.id}\"\n"
                      f"{x.suffix} A {x.address}\n")
        reverse.write(f"{x.reverse_name} PTR {x.instance_name}\n")
    for k in range(n // AN_APPLICATION):
        forward.writelines(f"{line}\n" for line in Application(k).master_lines())


def _hits(x):
    return [f"{x.instance_name} A", f"{x.container_name} A", f"{x.reverse_name} PTR", f"{x.instance_name} TXT"]


def _missing(x):
    return [f"absent-{x.element[-6:]}.{x.suffix} A", f"{x.element}-absent.{DOMAIN}. A",
            f"9.{x.reverse_name} PTR"]


def _component(x):
    return [f"{x.component_name} A"]


def _mixed(x):
    return _hits(x) + _hits(x)[:3] + _component(x) + _missing(x)[:2]


def _edns(x):
    return [f"{line} +edns" for line in _mixed(x)]


def _srv(x):
    a = Application(x.number // AN_APPLICATION)
    return [f"{a.name} SRV", f"http-api.{a.name} SRV", f"admin-api.{a.name} SRV"]


@dataclass
class Mix:
    lines: object   # of an instance
    text: str
    streams: int = None  # over TCP: questions a connection, 0: without end; None: UDP


MIXES = {
    "hits": Mix(_hits, "A of instance and container, PTR, TXT"),
    "component": Mix(_component, "A of a component: 25 addresses"),
    "nxdomain": Mix(_missing, "names that are missing, forward and reverse"),
    "srv": Mix(_srv, "SRV of applications and endpoints, with addresses of their targets"),
    "mixed": Mix(_mixed, "7 hits, 1 component, 2 missing of 10"),
    "edns": Mix(_edns, "the same with OPT: 1232 octets, DO"),
    "tcp": Mix(_mixed, "mixed over 8 connections, 16 questions open on each", 0),
    "tcp-short": Mix(_mixed, "mixed over TCP, a connection for each question", 1),
}


def questions(mix, n):
    """Lines "name TYPE" of a mix, over all instances (of very many: over ASKED of them), in an order that jumps about;
    always the same."""
    asked = range(n) if n <= ASKED else random.Random(7).sample(range(n), ASKED)
    if MIXES[mix].lines is _srv:
        asked = asked[::AN_APPLICATION] if n <= ASKED else asked
    lines = [line for i in asked for line in MIXES[mix].lines(Instance(i))]
    random.Random(4711).shuffle(lines)
    return lines
