"""services_validation.json over HTTP: what POST says of each definition, in both dialects, with and without DNS.

A row has a service and the diagnostics that refuse it (error, match = exact, prefix or contains), or the components and the
lifetime that are stored. It is asked in the dialect that it names, else in both. dns is hadoop.registry.dns.enabled, user the
caller, others are services that are saved before. With launch the definition is launched on a local cluster of 4096 MB and 8
cores, where images may mount what is beneath /srv/ro and /srv/rw, else it is saved. The unit test test_spec_validation asks the same rows of the library; rows with secure are asked there
only, as svcmgr has no Kerberos of its own.
"""
import json
import os
import urllib.parse

import pytest

from harness import Manager, ROOT

pytestmark = pytest.mark.sanitize
DIALECTS = ["seed", "hadoop3"]

with open(os.path.join(ROOT, "tests/contract/services_validation.json"), encoding="utf-8") as table:
    ROWS = json.load(table)
ASKED = [(dialect, row) for dialect in DIALECTS for dns in (True, False) for row in ROWS
         if row.get("dialect", dialect) == dialect and row["dns"] == dns and not row.get("secure")]


@pytest.fixture(scope="module")
def managers():
    """One svcmgr for each dialect and each value of dns, started when the first row needs it."""
    running = {}
    try:
        yield running
    finally:
        for manager in running.values():
            manager.__exit__(None, None, None)


def manager_for(managers, dialect, dns):
    if (dialect, dns) not in managers:
        options = {"yarn.service.api-server.dialect": dialect, "hadoop.registry.dns.enabled": str(dns).lower(),
                   "yarn.nodemanager.resource.memory-mb": "4096", "yarn.nodemanager.resource.cpu-vcores": "8",
                   "yarn.service.local.container-runtime": "/bin/false",  # there is one; what is launched fails
                   "yarn.service.local.container-runtime.ro-mounts": "/srv/ro",
                   "yarn.service.local.container-runtime.rw-mounts": "/srv/rw"}
        managers[dialect, dns] = Manager(options={"svcmgr": options}).__enter__()
    return managers[dialect, dns]


def says(text, row):
    return {"exact": text == row["error"], "prefix": text.startswith(row["error"]), "contains": row["error"] in text}[row["match"]]


def test_the_rows_that_no_request_asks_are_those_of_kerberos():
    assert {row["row"].split(".")[0] for row in ROWS if row.get("secure")} == {"C27", "C28", "C29"}
    assert len({row["row"] for row in ROWS}) == len(ROWS), "each row has a name of its own"


@pytest.mark.parametrize("dialect,row", ASKED, ids=[f"{row['row']}-{dialect}" for dialect, row in ASKED])
def test_row(managers, dialect, row):
    manager = manager_for(managers, dialect, row["dns"])
    user = urllib.parse.quote(row.get("user", "alice"))
    stored = []

    def post(document, launch=False):
        answer = manager.services("POST", f"?user.name={user}", document if launch else {**document, "state": "STOPPED"})
        stored.extend([document["name"]] if answer.status == 202 else [])
        return answer
    try:
        for other in row.get("others", {}).values():
            assert post(other).status == 202
        answer = post(row["service"], row.get("launch"))
        if "error" in row:
            assert answer.status == 400 and says(answer.json["diagnostics"], row), answer
            assert answer.json.get("code") is None and answer.headers["Content-Type"].startswith("application/json")
            return
        assert answer.status == 202, answer
        document = manager.services("GET", f"/{row['service']['name']}?user.name={user}").json
        assert [component["name"] for component in document["components"]] == row["components"]
        assert document["lifetime"] == row.get("lifetime", document["lifetime"])
    finally:
        for name in stored:
            assert manager.services("DELETE", f"/{name}?user.name={user}").status in (200, 204)
