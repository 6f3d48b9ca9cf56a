"""docs/registry-rest.md has the parameters of each route as the rows of the routes have them, by way of /openapi.json.

`/usr/bin/python3 tests/e2e/test_routes_document.py` writes them into the document.
"""
import os
import re
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from harness import ROOT, Registry, request  # noqa: E402

DOCUMENT = os.path.join(ROOT, "docs", "registry-rest.md")
TABLE = re.compile(r"<!-- parameters of (\w+) (\S+) -->\n(.*?)<!-- end -->\n", re.DOTALL)


def value(parameter):
    schema = parameter["schema"]
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if schema["type"] == "integer":
        top = f"`{schema['x-maximum-option']}`" if "x-maximum-option" in schema else schema.get("maximum")
        text = f"{schema['minimum']} to {top}" if top else f"at least {schema['minimum']}"
        return f"{text} {schema.get('x-unit', '')}".strip()
    if schema["type"] == "boolean":
        return "`true`, `false`"
    return "time" if "pattern" in schema else "text"


def default(parameter):
    if parameter["required"]:
        return "needed"
    given = parameter["schema"].get("default")
    return "" if given is None else f"`{str(given).lower()}`"


def table(operation):
    rows = [f"| `{p['name']}`{' (header)' if p['in'] == 'header' else ''} | {value(p)} | {default(p)} | {p['description']} |\n"
            for p in operation["parameters"] if p["in"] != "path" and p["name"] not in ("user.name", "doAs")]
    return "| parameter | value | default | meaning |\n|---|---|---|---|\n" + "".join(rows)


def tables():
    """Each route that has parameters of its own: "GET /path" -> the table."""
    with Registry() as registry:
        paths = request(registry.registry_port, "GET", "/openapi.json").json["paths"]
    every = {f"{method.upper()} {path}": table(operation) for path, methods in paths.items() for method, operation in methods.items()
             if path + "/{path}" not in paths}  # the other form of the same route
    return {route: text for route, text in every.items() if text.count("\n") > 2}


def test_the_document_has_the_parameters_of_each_route():
    with open(DOCUMENT, encoding="utf-8") as f:
        written = {f"{method} {path}": text for method, path, text in TABLE.findall(f.read())}
    rows = tables()
    assert written.keys() == rows.keys()
    for route, text in rows.items():
        assert written[route] == text, f"{route}: run {os.path.relpath(__file__, ROOT)}, which writes\n{text}"


if __name__ == "__main__":
    ROWS = tables()
    with open(DOCUMENT, encoding="utf-8") as doc:
        TEXT = TABLE.sub(lambda m: f"<!-- parameters of {m[1]} {m[2]} -->\n{ROWS[f'{m[1]} {m[2]}']}<!-- end -->\n", doc.read())
    with open(DOCUMENT, "w", encoding="utf-8") as doc:
        doc.write(TEXT)
