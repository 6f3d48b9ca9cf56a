"""Rows of the services API as data: each is a list of steps against one svcmgr, asked in both dialects.

A table is {"services": {name: definition}, "rows": [row, …]}. A row has `row`, `steps`, and where needed `dialect` (only that one),
`cluster` ("local"; else the simulated one), `note`. A step is one of

  {"POST" | "PUT" | "GET" | "DELETE" | "PATCH": path below /services, "body": value, "raw": text, "headers": {…}, "user": name,
   "status": number, "says": diagnostics, "has": value}       one request
  {"until": service, "has": value, "user": name}              waits until GET says so
  {"keep": service, "as": name}                               remembers id by instance
  {"same" | "other": service, "as": name, "of": [instance]}   the ids of these instances (of all) are those, or all others
  {"records": service}                                        the registry has the records of the listed containers and no others
  {"gone": service}                                           the registry has nothing of the service any more
  {"destroyed": service}                                      waits until GET says 404
  {"nodes": service, "distinct": n}                           the containers are on so many nodes
  {"order": service, "components": [name]}                    containers were allocated component after component
  {"requested": service, "order": [instance]}                 containers were asked for in this order
  {"logged": service, "order": [instance]}                    these wrote the time to standard output in this order
  {"directories": service, "of": [instance]}                  these instances and no others have a directory on the host
  {"log": service, "instance": name, "text": text}            what it has written to standard output comes to that
  {"restart": "kill" | "term"}                                svcmgr is killed, or ends by request, and is started
  {"registry": "stop" | "start"}                              registryd
  {"serve": service, "port": n, "answers": status}            an HTTP server on the address of its first instance; 0: it ends

A `body` with "is": name is that definition with the other members of the body. `status`, `says` and `has` may be
{"seed": …, "hadoop3": …}. States are Hadoop's words; in the seed dialect its own are expected instead. In expected texts "…" stands
for anything. In `has` an object needs those members, {"between": [a, b]} is a range, {"some": value} a list with such an element, `instances` are all listed containers with their
states (or a list of their names) and `component_states` the components'.
"""
import contextlib
import http.server
import json
import os
import re
import threading

from harness import ROOT, Manager, containers, wait_for

DIALECTS = ("seed", "hadoop3")
VERBS = ("POST", "PUT", "GET", "DELETE", "PATCH")
COMMON = {"sim": {"yarn.service.sim.script": "nodes 3 memory=65536 vcores=64; delay allocate=0-5 start=0-5 stop=0-5 ready=0-5"},
          "local": {"yarn.service.stop-containers-on-exit": "true"}}
OWN_WORDS = {"service": {"READY": "STABLE"}, "container": {"STARTED": "RUNNING_BUT_UNREADY"}}


def table(name):
    with open(os.path.join(ROOT, "tests/contract", name), encoding="utf-8") as f:
        return json.load(f)


def asked(rows, cluster="sim"):
    """(dialect, row) of the rows of this cluster, one dialect after the other."""
    return [(dialect, row) for dialect in DIALECTS for row in rows
            if row.get("dialect", dialect) == dialect and row.get("cluster", "sim") == cluster]


def names(pairs):
    return [f"{row['row']}-{dialect}" for dialect, row in pairs]


@contextlib.contextmanager
def managers(**more):
    """running(cluster, dialect): the svcmgr of that cluster and dialect, started when it is asked for first; `more` are options by cluster."""
    found = {}

    def running(cluster, dialect):
        if (cluster, dialect) not in found:
            options = {"yarn.service.cluster": cluster, "yarn.service.api-server.dialect": dialect,
                       "yarn.service.upgrade.enabled": "true", **COMMON[cluster], **more.get(cluster, {})}
            found[cluster, dialect] = Manager(options={"svcmgr": options}).__enter__()
        return found[cluster, dialect]
    try:
        yield running
    finally:
        for manager in found.values():
            manager.__exit__(None, None, None)


def text_fits(got, wanted):
    return isinstance(got, str) and re.fullmatch(".*".join(map(re.escape, wanted.split("…"))), got, re.S) is not None


def fits(got, wanted):
    """Whether a value is as a row wants it."""
    if isinstance(wanted, str):
        return text_fits(got, wanted)
    if isinstance(wanted, dict) and set(wanted) == {"between"}:
        return isinstance(got, int) and wanted["between"][0] <= got <= wanted["between"][1]
    if isinstance(wanted, dict) and set(wanted) == {"some"}:
        return isinstance(got, list) and any(fits(element, wanted["some"]) for element in got)
    if isinstance(wanted, dict):
        return isinstance(got, dict) and all(fits(got.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(map(fits, got, wanted))
    return got == wanted


def without_words_of_the_other(dialect, kind, state):
    """A state in Hadoop's words; one that this dialect does not have is marked."""
    own = OWN_WORDS[kind]
    if dialect == "hadoop3":
        return f"{state} in hadoop3" if state in own and own[state] != state and kind == "service" else state
    return own.get(state, f"{state} in seed" if state in own.values() else state)


def in_hadoops_words(dialect, document):
    """A service with `instances` and `component_states`; containers that Hadoop does not list yet are left out."""
    if not isinstance(document, dict) or "components" not in document:
        return document
    states = {c["component_instance_name"]: without_words_of_the_other(dialect, "container", c["state"])
              for c in containers(document) if c["state"] != "INIT"}
    return {**document, "state": without_words_of_the_other(dialect, "service", document.get("state", "")),
            "instances": states, "component_states": {c["name"]: c.get("state") for c in document["components"]}}


def document_fits(document, wanted):
    wanted = dict(wanted)
    instances = wanted.pop("instances", None)
    if isinstance(instances, list) and sorted(document.get("instances", {})) != sorted(instances):
        return False
    if isinstance(instances, dict) and document.get("instances") != instances:
        return False
    return fits(document, wanted)


class Server:
    """Answers each GET with `status` (302: a redirection to /200)."""

    def __init__(self, address, port):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status = 200 if self.path == "/200" else outer.status
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/200")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass
        self.status = 200
        self.server = http.server.ThreadingHTTPServer((address, port), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class Flow:
    """One row on one svcmgr. What it created is gone at the end of the `with` block."""

    def __init__(self, stack, dialect, services):
        self.stack, self.dialect, self.services = stack, dialect, services
        self.created, self.kept, self.servers = [], {}, {}

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        for server in self.servers.values():
            server.close()
        for user, name in self.created:
            self.stack.services("DELETE", f"/{name}?user.name={user}")
        for user, name in self.created:
            wait_for(lambda: self.stack.services("GET", f"/{name}?user.name={user}").status == 404, f"{name} of {user} has gone")

    def run(self, steps):
        for i, step in enumerate(steps):
            self.where = f"step {i}: {json.dumps(step)[:200]}"
            verb = next((verb for verb in VERBS if verb in step), None)
            if verb:
                self.request(verb, step)
            else:
                getattr(self, next(iter(step)))(step)

    def own(self, value):
        """What this dialect expects where the two differ."""
        return value[self.dialect] if isinstance(value, dict) and set(value) == set(DIALECTS) else value

    def body(self, body):
        if isinstance(body, dict) and "is" in body:
            return {**self.services[body["is"]], **{key: value for key, value in body.items() if key != "is"}}
        return body

    def request(self, verb, step):
        path, user = step[verb], step.get("user", "alice")
        path += ("&" if "?" in path else "?") + f"user.name={user}"
        body = step["raw"].encode() if "raw" in step else self.body(step["body"]) if "body" in step else None
        answer = self.stack.services(verb, path, body, step.get("headers"))
        if verb == "POST" and answer.status == 202:
            self.created.append((user, answer.json["uri"].rpartition("/")[2]))
        assert answer.status == self.own(step["status"]), (self.where, answer)
        if answer.status == 204:
            assert answer.body == b"", self.where
            return
        if "says" in step and self.own(step["says"]) is not None:
            assert text_fits(answer.json["diagnostics"], self.own(step["says"])), (self.where, answer)
        if "has" in step:
            got = in_hadoops_words(self.dialect, answer.json)
            wanted = self.own(step["has"])
            assert (document_fits if isinstance(wanted, dict) else fits)(got, wanted), (self.where, got)

    def document(self, name, user="alice"):
        answer = self.stack.services("GET", f"/{name}?user.name={user}&explain=true")
        return in_hadoops_words(self.dialect, answer.json)

    def until(self, step):
        name, wanted = step["until"], self.own(step["has"])
        last = []

        def as_wanted():
            last[:] = [self.document(name, step.get("user", "alice"))]
            return document_fits(last[0], wanted)
        try:
            wait_for(as_wanted, self.where)
        except AssertionError as error:
            raise AssertionError(f"{self.where}\n{json.dumps(last[0])}") from error

    def ids(self, name):
        return {c["component_instance_name"]: c["id"] for c in containers(self.document(name))}

    def keep(self, step):
        self.kept[step["as"]] = self.ids(step["keep"])

    def compare(self, step, name, are_same):
        before, now = self.kept[step["as"]], self.ids(name)
        for instance in step.get("of", before):
            assert (before[instance] == now.get(instance)) == are_same, (self.where, before, now)

    def same(self, step):
        self.compare(step, step["same"], True)

    def other(self, step):
        self.compare(step, step["other"], False)

    def registry_path(self, name):
        return f"/users/alice/services/yarn-service/{name}"

    def records(self, step):
        name = step["records"]

        def are_there():
            answer = self.stack.registry("GET", self.registry_path(name) + "/components")
            listed = {i.replace("container", "ctr").replace("_", "-") for i in self.ids(name).values()}
            return answer.status == 200 and set(answer.json["nodes"]) == listed
        wait_for(are_there, self.where)
        assert self.stack.registry("GET", self.registry_path(name)).status == 200, self.where

    def gone(self, step):
        wait_for(lambda: self.stack.registry("GET", self.registry_path(step["gone"])).status == 404, self.where)

    def order(self, step):
        times = {}
        for component in self.document(step["order"])["components"]:
            times[component["name"]] = [c["launch_time"] for c in component["containers"]]
        for first, second in zip(step["components"], step["components"][1:]):
            assert max(times[first]) <= min(times[second]), (self.where, times)

    def destroyed(self, step):
        wait_for(lambda: self.stack.services("GET", f"/{step['destroyed']}?user.name=alice").status == 404, self.where)

    def nodes(self, step):
        found = {c["bare_host"] for c in containers(self.document(step["nodes"]))}
        assert len(found) == step["distinct"], (self.where, found)

    def requested(self, step):
        ids = self.ids(step["requested"])
        assert sorted(ids, key=ids.get) == step["order"], (self.where, ids)

    def output(self, name, instance):
        """What it has written to standard output."""
        return self.stack.services("GET", f"/{name}/component-instances/{instance}/logs/stdout.txt?user.name=alice").body.decode()

    def log(self, step):
        wait_for(lambda: self.output(step["log"], step["instance"]) == step["text"], self.where)

    def logged(self, step):
        times = [wait_for(lambda: self.output(step["logged"], i).split()[-1:], self.where) for i in step["order"]]
        assert times == sorted(times), (self.where, times)

    def directories(self, step):
        wanted = {self.ids(step["directories"])[i] for i in step["of"]}
        wait_for(lambda: {d for d in os.listdir(f"{self.stack.dir}/svcmgr/containers")} == wanted, self.where)

    def restart(self, step):
        if step["restart"] == "kill":
            self.stack.svcmgr.kill()
        else:
            self.stack.svcmgr.stop()
        self.stack.svcmgr.start("svcmgr_ready")

    def registry(self, step):
        if step["registry"] == "stop":
            self.stack.registryd.stop()
        else:
            self.stack.registryd.start("registry_synced")

    def serve(self, step):
        name, port = step["serve"], step["port"]
        if not step["answers"]:
            self.servers.pop(name).close()
            return
        if name not in self.servers:
            self.servers[name] = Server(containers(self.document(name))[0]["ip"], port)
        self.servers[name].status = step["answers"]
