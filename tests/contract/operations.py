"""The rows of registry_operations*.tsv, and who can run them."""
import json
import os
import re
import subprocess
import urllib.parse

from harness import BIN, request

HERE = os.path.dirname(os.path.abspath(__file__))
ESCAPES = {"t": "\t", "n": "\n", "\\": "\\"}


class Refused(Exception):
    """An operation that failed, by the name of Hadoop's exception."""

    def __init__(self, name, text=""):
        super().__init__(f"{name}: {text}")
        self.name = name


def unescape(text):
    return re.sub(r"\\(x[0-9a-fA-F]{2}|.)", lambda m: chr(int(m[1][1:], 16)) if len(m[1]) > 1 else ESCAPES[m[1]], text)


def read_rows(name):
    """Records by name, and cases: (name, who, steps)."""
    records, cases = {}, []
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        title = ""
        for line in f.read().split("\n"):
            columns = line.split("\t")
            if line.startswith("record\t"):
                records[columns[1]] = columns[2]
            elif line.startswith("#"):
                title = line[2:]
            elif line:
                if not cases or cases[-1][0] != title:
                    cases.append((title, columns[1], []))
                cases[-1][2].append([unescape(c) for c in columns[2:]])
    return records, cases


class Rest:
    """Operations over plain HTTP."""

    def __init__(self, registry):
        self.port = registry.registry_port

    def ask(self, method, path, query="", body=None):
        path = path if path.startswith("/") else "/" + path
        raw = "/ws/v1/registry" + urllib.parse.quote(path, safe="/")
        answer = request(self.port, method, raw + "?user.name=devteam" + query, body)
        if answer.status >= 400:
            raise Refused(answer.json["exception"], answer.json["detail"])
        return answer.json

    def mknode(self, path, parents):
        return str(self.ask("POST", path, f"&op=mknode&createParents={parents}")["created"]).lower()

    def bind(self, path, record, flags):
        query = f"&overwrite={str(bool(int(flags) & 1)).lower()}&createParents={str(bool(int(flags) & 2)).lower()}"
        self.ask("PUT", path, query, record)
        return "ok"

    def resolve(self, path):
        answer = self.ask("GET", path)
        if "service" not in answer:
            raise Refused("InvalidRecordException" if "invalidRecord" in answer else "NoRecordException")
        return json.dumps(answer["service"])

    def stat(self, path):
        status = self.ask("GET", path)["status"]
        return f"{status['path']} {status['time']} {status['size']} {status['children']}"

    def exists(self, path):
        try:
            self.ask("GET", path)
            return "true"
        except Refused as refused:
            if refused.name != "PathNotFoundException":
                raise
            return "false"

    def list(self, path):
        return ",".join(self.ask("GET", path)["nodes"])

    def records(self, path):
        """The tree in one answer, of which only the children matter here."""
        tree = self.ask("GET", path, "&recursive=true")["tree"]
        return [(node["path"], " ".join(str(node["status"][k]) for k in ("path", "time", "size", "children")), node["service"])
                for node in tree if "service" in node and node["path"].rpartition("/")[0] == path.rstrip("/")]

    def delete(self, path, recursive):
        self.ask("DELETE", path, f"&recursive={recursive}")
        return "ok"

    def home(self, user):
        answer = request(self.port, "POST", "/ws/v1/registry-admin/users", {"user": user})
        if answer.status >= 400:
            raise Refused(answer.json["exception"], answer.json["detail"])
        made = answer.json["users"][0]
        if "error" in made:
            raise Refused(made["exception"], made["detail"])
        return f"{str(made['created']).lower()} {','.join(made['homes'])}"

    def purge(self, path, id_, persistence, policy):
        answer = request(self.port, "POST", "/ws/v1/registry-admin/purge",
                         {"path": path, "id": id_, "persistence": persistence, "policy": policy})
        if answer.status >= 400:
            raise Refused(answer.json["exception"], answer.json["detail"])
        return str(answer.json["count"])


class Library:
    """Operations of libbobbin, through a program that does nothing else."""

    def __init__(self, registry, *identity):
        self.process = subprocess.Popen([os.path.join(BIN, "registry-ops"), f"http://127.0.0.1:{registry.registry_port}", *identity],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def __getattr__(self, operation):
        def run(*words):
            self.process.stdin.write("\t".join([operation, *words]) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().rstrip("\n").split("\t")
            if answer[0] != "ok":
                raise Refused(answer[1], answer[-1])
            return answer[1]
        return run

    def records(self, path):
        """Children that hold records: path, status as stat gives it, record."""
        items = [item.split("\x1f") for item in self.__getattr__("records")(path).split("\x1e")[:-1]]
        return [(child, status, json.loads(record)) for child, status, record in items]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(20) == 0


def empty(who):
    """Make the registry hold /users and /services only."""
    if who.exists("/") == "false":
        who.mknode("/", "false")
    for name in filter(None, who.list("/").split(",")):
        who.delete("/" + name, "true")
    who.mknode("/users", "false")
    who.mknode("/services", "false")


class Case:
    """One case, run by somebody; `times` are creation times seen."""

    def __init__(self, records, who):
        self.records, self.who, self.times = records, who, {}

    def name(self, record):
        return next((name for name, text in self.records.items() if json.loads(text) == record), json.dumps(record))

    def children(self, path):
        found = self.who.records(path)
        for child, status, _ in found:
            assert status == self.who.stat(child)
        return ",".join(f"{child.rpartition('/')[2]}={self.name(record)}" for child, _, record in found)

    def step(self, operation, *words):
        if operation == "put":
            parent = words[0].rpartition("/")[0]
            if parent:
                self.who.mknode(parent, "true")
            return self.who.bind(words[0], self.records[words[1]], "0")
        if operation == "bind":
            return self.who.bind(words[0], self.records[words[1]], words[2])
        if operation == "resolve":
            return self.name(json.loads(self.who.resolve(*words)))
        if operation == "records":
            return self.children(*words)
        if operation in ("stat", "time"):
            name, time_ms, size, children = self.who.stat(*words).rsplit(" ", 3)
            assert int(time_ms) > 0
            if operation == "stat":
                return f"{name} {children} {'data' if int(size) > 0 else 'none'}"
            before = self.times.setdefault(words[0], None)
            self.times[words[0]] = time_ms
            return "new" if before is None else "same" if before == time_ms else "another"
        return getattr(self.who, operation)(*words)

    def run(self, steps):
        for *words, expected in steps:
            try:
                came = self.step(*words)
            except Refused as refused:
                came = f"!{refused.name}"
            assert came == expected, f"{words}: {came}, not {expected}"
