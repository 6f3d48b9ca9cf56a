"""Loaded by schemathesis: what waits must end by itself, and soon; many requests meet on few nodes. On a secure registry callers
take turns: the users that SECURE_CALLERS names, and the holder of an accessor of one of the nodes."""
import collections
import itertools
import os

import schemathesis

NODES = ["users", "services", "n1", "n2"]
CALLERS = [caller for caller in os.environ.get("SECURE_CALLERS", "").split(",") if caller]
turns = itertools.cycle([*CALLERS, None])
EXPLORES_SERVICES = "EXPLORES_SERVICES" in os.environ
EXPLORES_SLIDER = os.environ.get("EXPLORES_SLIDER")  # id of an application, with the components w and v
EXPLORES_LAUNCHER = "EXPLORES_LAUNCHER" in os.environ
numbers = itertools.count()
launched = collections.deque(["s0"], maxlen=10)  # names of services that were accepted


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.query and ("watch" in case.query or case.path == "/sync"):
        case.query["timeout"] = "50ms"
    path = (case.path_parameters or {}).get("path")
    if isinstance(path, str) and len(path) % 2 == 0:
        case.path_parameters["path"] = NODES[len(path) // 2 % len(NODES)]
    if CALLERS:
        ask_plainly(case)
        call_as(case, next(turns))
    if EXPLORES_SERVICES:
        ask_about_services(case, next(numbers))
    if EXPLORES_SLIDER:
        ask_about_slider(case, next(numbers))
    if EXPLORES_LAUNCHER:
        ask_about_frameworks(case, next(numbers))


def ask_about_services(case, number):
    """One user's services. Each POST has a name of its own, as one in use is answered with 500; two of three have what a service must have."""
    case.query = {**(case.query or {}), "user.name": "alice"}
    case.query.pop("doAs", None)
    if "timeout" in case.query or "wait" in case.query:
        case.query["timeout"] = "20ms"
    if number % 5:
        case.query.pop("plan", None)
    if case.method == "POST" and isinstance(case.body, dict):
        case.body = launchable(case.body, number) if number % 3 else {**case.body, "name": f"s{number}"}
    if "{s}" in case.path and isinstance((case.path_parameters or {}).get("s"), str):
        creates = case.method == "POST" and case.path.endswith("/{s}")
        case.path_parameters["s"] = f"s{number}" if creates else launched[number % len(launched)]
    if "{c}" in case.path and number % 2:
        case.path_parameters["c"] = "c0"
    if "{i}" in case.path and number % 2:
        case.path_parameters["i"] = "c0-0"


def launchable(body, number):
    """A service that can run, with the rest of what was made."""
    given = body.get("components")
    parts = [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []
    kept = {key: body[key] for key in ("description", "quicklinks", "lifetime") if key in body}
    return {**kept, "name": f"s{number}", "version": "1", "components": [
        {**{key: part[key] for key in ("restart_policy", "quicklinks") if key in part}, "name": f"c{i}", "launch_command": "serve",
         "number_of_containers": 1, "resource": {"cpus": 1, "memory": "32"}} for i, part in enumerate((parts or [{}])[:3])]}


SLIDER_PATHS = {"a": [EXPLORES_SLIDER], "c": ["w", "v", "slider-appmaster"], "set": ["slider"], "config": ["complete-config", "yarn-site.json"],
                "n": ["s0", "s1", "s2"]}


def ask_about_slider(case, number):
    """One user's applications: the one that is there, and those that requests make. Most requests are about something that there is."""
    case.query = {**(case.query or {}), "user.name": "alice"}
    case.query.pop("doAs", None)
    if "timeout" in case.query:
        case.query["timeout"] = 0
    (case.headers or {}).pop("Prefer", None)
    if number % 4:
        (case.headers or {}).pop("If-Match", None)
    for name, known in SLIDER_PATHS.items():
        if isinstance((case.path_parameters or {}).get(name), str) and (number % 5 or name == "a"):
            case.path_parameters[name] = known[number % len(known)]
    if case.method == "PUT" and isinstance(case.body, dict) and number % 3:
        case.body = slider_body(case, number)


def slider_body(case, number):
    """What the API takes: the documents of an application, or one of them."""
    resources = {"components": {name: {"yarn.role.priority": i, "yarn.component.instances": number % 3} for i, name in enumerate("wv", 1)}}
    app_conf = {"global": {"launch_command": "serve"}}
    if "/nodes/" in case.path:
        return {"excluded": number % 2 == 0}
    if "/applications/" in case.path:
        return {"resources": resources, "appConf": app_conf}
    return app_conf if case.path.endswith("appconf") else resources


FRAMEWORK_PATHS = {"f": ["kept", "f0", "f1", "f2"], "r": ["w", "v"], "c": ["container_1_0001_01_000002"]}


def ask_about_frameworks(case, number):
    """The framework that is there, and those that requests make. Most requests are about something that there is, and say what can be."""
    case.query = {key: value for key, value in (case.query or {}).items() if key != "doAs"}
    for name, known in FRAMEWORK_PATHS.items():
        if isinstance((case.path_parameters or {}).get(name), str) and number % 5:
            case.path_parameters[name] = known[number % len(known)]
    if case.method in ("PUT", "DELETE") and (case.path_parameters or {}).get("f") == "kept" and "{" in case.path and case.path.endswith("{f}"):
        case.path_parameters["f"] = "f3"  # the other one stays
    if case.method == "PUT" and case.path.endswith("{f}") and isinstance(case.body, dict) and number % 3:
        case.body = put_framework(case.body, number)


def put_framework(body, number):
    """A framework that can run, with the rest of what was made."""
    kept = {key: body[key] for key in ("description", "executionType", "retryPolicy") if key in body}
    service = {"version": 1, "entryPoint": "serve", "sourceLocations": ["/etc/hostname"], "resource": {"cpuNumber": 1, "memoryMB": 32}}
    return {**kept, "version": number % 3, "taskRoles": {name: {"taskNumber": number % 4, "taskService": service} for name in "wv"}}


def ask_plainly(case):
    """Nearly every TTL and key that the document's form allows is out of range, and nobody may ask for others; this is about who may write."""
    (case.query or {}).pop("ttl", None)
    (case.query or {}).pop("doAs", None)
    (case.headers or {}).pop("X-Bobbin-Lease", None)


@schemathesis.hook
def after_call(context, case, response):
    if CALLERS or EXPLORES_SERVICES or EXPLORES_SLIDER or EXPLORES_LAUNCHER:
        with open("answers", "a", encoding="utf-8") as kept:
            kept.write(f"{case.method} {response.status_code}\n")
    if EXPLORES_SERVICES and case.method == "POST" and response.status_code == 202 and isinstance(case.body, dict) and "name" in case.body:
        launched.append(case.body["name"])


def call_as(case, caller):
    if case.method == "DELETE" and caller == CALLERS[-1] and case.path_parameters:
        case.path_parameters["path"] = "users"  # which is there, and not this caller's
    if caller:  # without conditions, which would decide before who it is
        for name in ("If-Match", "If-None-Match"):
            (case.headers or {}).pop(name, None)
        case.query = {**(case.query or {}), "user.name": caller}
    else:
        case.headers = {**(case.headers or {}), "X-Bobbin-Accessor": "n1:p1"}
