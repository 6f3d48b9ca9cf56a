"""slider_rows.json: the rows of the Slider API over HTTP, each on an application of its own; `script` is the simulated cluster that it needs."""
import contextlib
import copy
import functools
import http.client
import json
import os
import re

import pytest

from harness import Stack, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
NAMED = "/ws/v1/slider/applications/"
JSON = {"Content-Type": "application/json"}
COMMAND = {"global": {"launch_command": "sleep 1000"}}


def tables():
    with open(os.path.join(HERE, "slider_rows.json"), encoding="utf-8") as file:
        return json.load(file)["rows"]


ROWS = tables()


@pytest.fixture(scope="module")
def port_of():
    """A function: the port of svcmgr on the simulated cluster of this script."""
    with contextlib.ExitStack() as stacks:
        @functools.cache
        def of(script):
            options = {"yarn.service.cluster": "sim", **({"yarn.service.sim.script": script} if script else {})}
            return stacks.enter_context(Stack(services=True, options={"svcmgr": options})).services_port
        yield of


def ask(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


class Application:
    """An application of a row: what a step's path begins with is A (of the application), R (its service root) or N (its name)."""

    def __init__(self, port, row):
        self.port, self.name = port, row.get("named", "r-" + row["row"].lower().replace(".", "-"))
        self.kept = {"name": self.name, "port": port}
        self.tree = {"components": row.get("app", {})}
        body = {"resources": {**self.tree, **row.get("resources", {})}, "appConf": row.get("appConf", COMMAND), **row.get("more", {})}
        answer, text = self.named("PUT", json.dumps(body), JSON)
        assert answer.status == 202, text
        wait_for(lambda: self.view().get("state") in ("STARTED", "STABLE"), f"{self.name} runs")
        self.kept["root"] = self.view()["href"]
        self.root = self.kept["root"].split(str(port), 1)[1]

    def named(self, method, body=None, headers=None):
        return ask(self.port, method, NAMED + self.name, body, headers)

    def view(self):
        answer, text = self.named("GET")
        assert answer.status == 200, text
        return json.loads(text)

    def path(self, path):
        for name, place in self.kept.items():
            path = path.replace("{" + name + "}", str(place))
        path, mark, query = path.partition("?")
        head, _, rest = path.partition("/")
        start = {"A": self.root + "/application", "R": self.root, "N": NAMED + self.name, "": ""}[head]
        return start + ("/" + rest if rest or path.endswith("/") else "") + mark + query

    def destroy(self):
        self.named("DELETE")
        wait_for(lambda: self.named("GET")[0].status == 404, f"{self.name} is gone")


def at(document, path):
    for key in path.split("/"):
        document = document[int(key) if isinstance(document, list) else key]
    return document


def has(document, path):
    try:
        at(document, path)
    except (KeyError, IndexError):
        return False
    return True


def body_of(app, step):
    if "components" in step:
        app.tree = {"components": copy.deepcopy(step["components"])}
        return json.dumps(app.tree), JSON
    if "form" in step:
        return step["form"], {"Content-Type": "application/x-www-form-urlencoded"}
    if "json" in step:
        return json.dumps(step["json"]), JSON
    if "again" in step:
        return app.kept[step["again"]], JSON
    return step.get("raw"), {}


def filled(value, kept):
    """An expected value with what was kept put into its texts."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda m: str(kept[m[1]]), value)
    if isinstance(value, list):
        return [filled(v, kept) for v in value]
    return {k: filled(v, kept) for k, v in value.items()} if isinstance(value, dict) else value


def nulls_of(document):
    """Whether a value in it is null: members without a value are left out."""
    values = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    return any(v is None or nulls_of(v) for v in values)


def check_headers(answer):
    assert answer.headers["Cache-Control"].startswith("no-cache")
    assert answer.headers["Pragma"] == "no-cache"
    assert answer.headers["Expires"] == answer.headers["Date"]
    assert len(answer.headers.get_all("Content-Type", ["one"])) == 1


def check_error(answer, text):
    names = {400: "BadRequestException", 403: "ForbiddenException", 404: "NotFoundException"}
    document = json.loads(text)
    assert len(text.encode()) > 512
    assert document["exception"] == names.get(answer.status, "WebApplicationException")
    assert document["status"] == answer.status
    assert document["javaClassName"].endswith("." + document["exception"])
    assert {key: document["RemoteException"][key] for key in ("exception", "message", "javaClassName")} == \
        {key: document[key] for key in ("exception", "message", "javaClassName")}


def matches(step, answer, text, kept):
    """What differs from the step; "": nothing."""
    if answer.status != step["status"]:
        return f"status {answer.status}, {text}"
    document = json.loads(text) if text and answer.headers["Content-Type"] == "application/json" else None
    if nulls_of(document):
        return f"null in {text}"
    if "is" in step and document != step["is"]:
        return text
    if "same" in step and text != kept[step["same"]]:
        return f"{text} instead of {kept[step['same']]}"
    if filled(step.get("text", ""), kept) not in text:
        return text
    for place, value in step.get("has", {}).items():
        if not has(document, place) or at(document, place) != filled(value, kept):
            return f"{place} in {text}"
    for place in step.get("lacks", []):
        if has(document, place):
            return f"{place} in {text}"
    for place, n in step.get("count", {}).items():
        if len(at(document, place) if place else document) != n:
            return f"{place} in {text}"
    for name, value in step.get("answers", {}).items():
        if answer.headers.get(name) != filled(value, kept):
            return f"{name}: {answer.headers.get(name)}"
    return ""


def do(app, step):
    method, path = step["do"].split(" ", 1)
    body, headers = body_of(app, step)
    headers = {**headers, **step.get("headers", {})}
    headers = {name: value.format(**app.kept) for name, value in headers.items()}

    def once():
        answer, text = ask(app.port, method, app.path(path), body, headers)
        return answer, text, matches(step, answer, text, app.kept)

    if step.get("until"):
        last = []
        wait_for(lambda: last.clear() or last.extend(once()) or not last[2], step["do"])
        answer, text, _ = last
    else:
        answer, text, wrong = once()
        assert not wrong, f"{step['do']}: {wrong}"
    if not step.get("elsewhere"):
        check_headers(answer)
    if answer.status >= 400 and method != "HEAD" and not step.get("elsewhere"):
        check_error(answer, text)
    for name, place in step.get("keep", {}).items():
        app.kept[name] = answer.headers[place[1:]] if place.startswith("@") else text if place == "" else at(json.loads(text), place)


@pytest.mark.parametrize("row", ROWS, ids=[row["row"] for row in ROWS])
def test_row(port_of, row):
    app = Application(port_of(row.get("script")), row)
    try:
        for step in row["steps"]:
            do(app, step)
    finally:
        app.destroy()


TESTS = ["contract/test_slider_live.py", "contract/test_slider_more.py"]


def numbers(pattern, texts):
    return {int(n) for text in texts for n in re.findall(pattern, text)}


def test_every_row_and_trap_of_the_contract_has_a_test():
    """Rows C1 to C54 and traps 1 to 23: in the table, or in the name of a test (rows) and the comment beside it (traps)."""
    names, comments = [row["row"] for row in ROWS], []
    for file in TESTS:
        with open(os.path.join(os.path.dirname(HERE), file), encoding="utf-8") as f:
            tests = re.findall(r"^def (test_\w+)\(.*?(#.*)?$", f.read(), re.M)
        names += [name for name, _ in tests]
        comments += [comment for _, comment in tests]
    assert set(range(1, 55)) - numbers(r"(?:\b|_)[Cc](\d+)(?=[_.]|$)", names) == set()
    assert set(range(1, 24)) - {n for row in ROWS for n in row.get("traps", [])} - numbers(r"trap (\d+)\b", comments) == set()
