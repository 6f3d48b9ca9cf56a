"""The JSON schemas beside the routes are valid, and what they refer to is there."""
import glob
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMON = "lib/http/schemas"
KEYWORDS = {"type", "required", "properties", "additionalProperties", "items", "enum", "anyOf", "oneOf", "allOf", "nullable", "$ref",
            "description", "default", "minimum", "maximum", "pattern", "minLength", "maxLength"}
TYPES = {"object", "array", "string", "integer", "number", "boolean"}


def folders():
    found = glob.glob("**/schemas", root_dir=ROOT, recursive=True)
    return sorted(folder for folder in found if not folder.startswith("build/"))


def schemas(folder):
    names = sorted(glob.glob(os.path.join(ROOT, folder, "*.json")))
    return {os.path.basename(name)[:-len(".json")]: open(name, encoding="utf-8").read() for name in names}


def faults(schema, where):
    """What is wrong with a schema and those in it."""
    if not isinstance(schema, dict):
        return [f"{where}: {schema!r} is no schema"]
    found = [f"{where}: the keyword {key}" for key in schema if key not in KEYWORDS]
    if "$ref" not in schema and not {"type", "anyOf", "oneOf", "allOf"} & schema.keys():
        found.append(f"{where}: neither a type nor a choice")
    if schema.get("type", "object") not in TYPES:
        found.append(f"{where}: the type {schema['type']}")
    members = schema.get("properties", {})
    found += [f"{where}: requires {name}, which it does not have" for name in schema.get("required", []) if members and name not in members]
    inner = {**members, **dict(enumerate(schema.get("anyOf", []) + schema.get("oneOf", []) + schema.get("allOf", [])))}
    inner.update({key: schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)})
    for name, part in inner.items():
        found += faults(part, f"{where}/{name}")
    return found


def test_schemas_are_valid():
    assert {COMMON, "registryd/api/schemas", "dnsd/schemas", "svcmgr/faces/schemas"} <= set(folders())
    found = []
    for folder in folders():
        for name, text in schemas(folder).items():
            found += faults(json.loads(text), f"{folder}/{name}.json")
    assert not found, "\n".join(found)


def test_schemas_refer_to_schemas():
    missing = []
    for folder in folders():
        known = schemas(folder).keys() | schemas(COMMON).keys()
        for name, text in schemas(folder).items():
            refers = re.findall(r'"\$ref": *"([^"]*)"', text)
            missing += [f"{folder}/{name}.json: {ref}" for ref in refers if ref not in {f"#/components/schemas/{other}" for other in known}]
    assert not missing, "\n".join(missing)


def test_every_schema_is_used():
    unused = []
    for folder in folders():
        sources = glob.glob(os.path.join(ROOT, os.path.dirname(folder), "*.c"))
        text = "".join(open(source, encoding="utf-8").read() for source in sources) + "".join(schemas(folder).values())
        unused += [f"{folder}/{name}.json" for name in schemas(folder) if f'"{name}"' not in text and f'schemas/{name}"' not in text]
    assert not unused, "\n".join(unused)
