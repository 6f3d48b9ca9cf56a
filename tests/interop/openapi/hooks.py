"""Loaded by schemathesis: what waits must end by itself, and soon; many requests meet on few nodes."""
import schemathesis

NODES = ["users", "services", "n1", "n2"]


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.query and ("watch" in case.query or case.path == "/sync"):
        case.query["timeout"] = "50ms"
    path = (case.path_parameters or {}).get("path")
    if isinstance(path, str) and len(path) % 2 == 0:
        case.path_parameters["path"] = NODES[len(path) // 2 % len(NODES)]
