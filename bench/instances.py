"""The same n instances in every form that a bench needs: registry records, master files, questions.

Each instance has an A at its instance, container and component name, a TXT and a PTR. 100 instances make a service, with 4
components. Names and addresses depend on the number only.
"""
import random

DOMAIN = "dev.test"
REVERSE = "10.in-addr.arpa"
A_SERVICE, COMPONENTS = 100, 4
TTL_S = 1


class Instance:
    def __init__(self, i):
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


def write_masters(n, forward, reverse):
    """Both zones as master files."""
    for out, origin in ((forward, DOMAIN), (reverse, REVERSE)):
        out.write(f"$TTL {TTL_S}\n{origin}. SOA ns.{DOMAIN}. hostmaster.{DOMAIN}. 1 86000 7200 1209600 600\n"
                  f"{origin}. NS ns.{DOMAIN}.\n")
    for i in range(n):
        x = Instance(i)
        forward.write(f"{x.instance_name} A {x.address}\n{x.container_name} A {x.address}\n"
                      f"{x.component_name} A {x.address}\n{x.instance_name} TXT \"id={x.id}\"\n")
        reverse.write(f"{x.reverse_name} PTR {x.instance_name}\n")


def _hits(x):
    return [f"{x.instance_name} A", f"{x.container_name} A", f"{x.reverse_name} PTR", f"{x.instance_name} TXT"]


def _missing(x):
    return [f"absent-{x.element[-6:]}.{x.suffix} A", f"{x.element}-absent.{DOMAIN}. A",
            f"9.{x.reverse_name} PTR"]


def _component(x):
    return [f"{x.component_name} A"]


def _mixed(x):
    return _hits(x) + _hits(x)[:3] + _component(x) + _missing(x)[:2]


MIXES = {
    "hits": (_hits, "A of instance and container, PTR, TXT"),
    "component": (_component, "A of a component: 25 addresses"),
    "nxdomain": (_missing, "names that are missing, forward and reverse"),
    "mixed": (_mixed, "7 hits, 1 component, 2 missing of 10"),
}


def questions(mix, n):
    """Lines "name TYPE" of a mix, over all instances, in an order that jumps about; always the same."""
    lines = [line for i in range(n) for line in MIXES[mix][0](Instance(i))]
    random.Random(4711).shuffle(lines)
    return lines
