"""Every row of registry_records.tsv that is about bytes in a node, read from the store: by REST and by the C API, on the
embedded store and on a real ZooKeeper; and those about what people write, as bodies of a PUT."""
import json

import pytest

from operations import Refused, Rest
from records import node, read_rows

STORED = read_rows("strict", "strict>")
WRITTEN = read_rows("lenient", "lenient>")


@pytest.fixture(scope="module", autouse=True)
def rows(registry):
    nodes = [node("/rows", b""), *(node(f"/rows/r{number}", data) for number, data, _ in STORED)]
    answer = registry.registry("POST", "/import", {"nodes": nodes}, base="/ws/v1/registry-admin", query="user.name=root")
    assert answer.status == 200 and answer.json["created"] == len(nodes), answer


def stored(registry, path):
    """The record's bytes as the store has them."""
    answer = registry.registry("GET", "/export", base="/ws/v1/registry-admin", query=f"path={path}&user.name=root")
    return json.loads(answer.body.split(b"\n")[0]).get("record")


@pytest.mark.parametrize("number,data,wanted", STORED, ids=lambda v: str(v) if isinstance(v, int) else "")
def test_bytes_in_a_node(registry, library, number, data, wanted):
    path = f"/rows/r{number}"
    answer = registry.registry("GET", path)
    assert answer.status == 200 and answer.json["status"]["size"] == len(data), answer
    if isinstance(wanted, str):
        for who in (Rest(registry), library):
            with pytest.raises(Refused) as refusal:
                who.resolve(path)
            assert refusal.value.name == wanted, data
        return
    # A list that is null is left out of what is written, and read as empty by whoever reads that.
    resolved = library.resolve(path)
    shown = answer.json["service"]
    if wanted and {"external", "internal"} <= shown.keys():
        assert resolved.encode() == wanted
    assert wanted is None or shown == json.loads(wanted)
    assert json.loads(resolved) == {"external": [], "internal": [], **shown}


@pytest.mark.parametrize("number,data,wanted", WRITTEN, ids=lambda v: str(v) if isinstance(v, int) else "")
def test_what_people_write(registry, number, data, wanted):
    path = f"/rows/w{number}"
    answer = registry.registry("PUT", path, data, {"Content-Type": "application/json"})
    if isinstance(wanted, str):
        assert 400 <= answer.status < 500 and registry.registry("GET", path).status == 404, answer
        return
    assert answer.status == 201, answer
    bytes_there = stored(registry, path)
    assert bytes_there.encode() == wanted if wanted else json.loads(bytes_there)["type"] == "JSONServiceRecord"
