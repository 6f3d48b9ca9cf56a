"""Loaded by schemathesis: what waits must end by itself, and soon; many requests meet on few nodes. On a secure registry callers
take turns: the users that SECURE_CALLERS names, and the holder of an accessor of one of the nodes."""
import itertools
import os

import schemathesis

NODES = ["users", "services", "n1", "n2"]
CALLERS = [caller for caller in os.environ.get("SECURE_CALLERS", "").split(",") if caller]
turns = itertools.cycle([*CALLERS, None])


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.query and ("watch" in case.query or case.path == "/sync"):
        case.query["timeout"] = "50ms"
    path = (case.path_parameters or {}).get("path")
    if isinstance(path, str) and len(path) % 2 == 0:
        case.path_parameters["path"] = NODES[len(path) // 2 % len(NODES)]
    if CALLERS:
        ask_for_no_lease(case)
        call_as(case, next(turns))


def ask_for_no_lease(case):
    """Nearly every TTL and key that the document's form allows is out of range, and this is about who may write."""
    (case.query or {}).pop("ttl", None)
    (case.headers or {}).pop("X-Bobbin-Lease", None)


@schemathesis.hook
def after_call(context, case, response):
    if CALLERS:
        with open("answers", "a", encoding="utf-8") as kept:
            kept.write(f"{case.method} {response.status_code}\n")


def call_as(case, caller):
    if case.method == "DELETE" and caller == CALLERS[-1] and case.path_parameters:
        case.path_parameters["path"] = "users"  # which is there, and not this caller's
    if caller:  # without conditions, which would decide before who it is
        for name in ("If-Match", "If-None-Match"):
            (case.headers or {}).pop(name, None)
        case.query = {**(case.query or {}), "user.name": caller}
    else:
        case.headers = {**(case.headers or {}), "X-Bobbin-Accessor": "n1:p1"}
