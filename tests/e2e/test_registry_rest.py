"""registryd over HTTP: reads, writes, conditions, limits and the paths that must never reach another node."""
import json

import pytest

from harness import STORES, Feed, Registry, container, request, store_url, wait_for

pytestmark = pytest.mark.sanitize

RECORD = {"type": "JSONServiceRecord", "description": "d", "external": [], "internal": [], "yarn:id": "x",
          "yarn:persistence": "permanent"}
CANONICAL = ('{"type":"JSONServiceRecord","description":"d","external":[],"internal":[],"yarn:id":"x",'
             '"yarn:persistence":"permanent"}')


@pytest.fixture(scope="module", params=STORES)
def reg(request):
    with store_url(request.param) as url:
        with Registry(store=url, options={"registryd": {"hadoop.registry.record.max-size": "8k",
                                                        "hadoop.registry.feed.wait": "200ms"}}) as r:
            yield r


def put(reg, path, query="createParents=true&overwrite=true", record=None, **headers):
    return reg.registry("PUT", path, record or RECORD, headers=headers, query=query)


def test_standard_nodes_are_there(reg):
    root = reg.registry("GET", "/")
    assert root.status == 200 and root.json["path"] == "/" and root.json["status"]["path"] == ""
    assert {"services", "users"} <= set(root.json["nodes"])
    assert reg.registry("GET", "").json["nodes"] == root.json["nodes"]


def test_a_get_right_after_a_put_sees_it(reg):
    for i in range(50):
        made = put(reg, f"/users/alice/rw/n{i}")
        assert made.status == 201 and "Bobbin-Applied" not in made.headers
        seen = reg.registry("GET", f"/users/alice/rw/n{i}")
        assert seen.status == 200 and seen.json["service"] == RECORD
        assert seen.headers["ETag"] == made.headers["ETag"]


def test_stored_form_is_canonical_and_lenient_bodies_are_read(reg):
    put(reg, "/users/alice/lenient", record={"protocol": "ignored", "external": [
        {"api": "a", "addressType": "uri", "protocol": "REST", "addresses": [["http://h/"], "http://i/"]}]})
    service = reg.registry("GET", "/users/alice/lenient").json["service"]
    assert service["type"] == "JSONServiceRecord"
    assert service["external"] == [{"api": "a", "addressType": "uri", "protocolType": "REST",
                                    "addresses": [{"uri": "http://h/"}, {"uri": "http://i/"}]}]
    put(reg, "/users/alice/canonical", record=json.dumps(RECORD, indent=3))
    raw = reg.registry("GET", "/users/alice/canonical")
    assert CANONICAL in raw.body.decode() and raw.json["status"]["size"] == len(CANONICAL)


def test_create_overwrite_and_parents(reg):
    missing = put(reg, "/users/alice/no/parent/here", query="")
    assert missing.status == 404 and missing.json["exception"] == "PathNotFoundException"
    put(reg, "/users/alice/some")
    for path, absent in (("/users/alice/no/parent/here", "/users/alice/no"), ("/users/alice/some/not/x", "/users/alice/some/not"), ("/nothing/x", "/nothing")):
        for refused in (put(reg, path, query="overwrite=true"), reg.registry("POST", path, query="op=mknode")):
            assert refused.status == 404 and refused.json["where"] == path, refused
            assert f" {absent} " in refused.json["detail"] and "createParents=true" in refused.json["detail"], refused
    assert put(reg, "/users/alice/twice", query="createParents=true").status == 201
    again = put(reg, "/users/alice/twice", query="")
    assert again.status == 409 and again.json["exception"] == "FileAlreadyExistsException"
    assert put(reg, "/users/alice/twice", query="overwrite=true").status == 200


def test_mknode(reg):
    made = reg.registry("POST", "/users/alice/made", query="op=mknode&createParents=true")
    assert made.status == 201 and made.json == {"path": "/users/alice/made", "created": True}
    again = reg.registry("POST", "/users/alice/made", query="op=mknode")
    assert again.status == 200 and again.json["created"] is False
    assert "service" not in reg.registry("GET", "/users/alice/made").json
    assert reg.registry("POST", "/users/alice/made", query="op=fly").status == 400


def test_delete(reg):
    put(reg, "/users/alice/tree/a/b")
    refused = reg.registry("DELETE", "/users/alice/tree")
    assert refused.status == 409 and refused.json["exception"] == "PathIsNotEmptyDirectoryException"
    gone = reg.registry("DELETE", "/users/alice/tree", query="recursive=true")
    assert gone.status == 200 and gone.json["deleted"] is True
    assert reg.registry("GET", "/users/alice/tree/a").status == 404
    assert reg.registry("DELETE", "/users/alice/tree").json["deleted"] is False
    assert reg.registry("DELETE", "/users/alice/tree", query="mustExist=true").status == 404


def test_conditions(reg):
    first = put(reg, "/users/alice/cond")
    tag = first.headers["ETag"]
    assert put(reg, "/users/alice/cond", **{"If-None-Match": "*"}).status == 412
    second = put(reg, "/users/alice/cond", query="", **{"If-Match": tag})
    assert second.status == 200
    lost = put(reg, "/users/alice/cond", **{"If-Match": tag})
    assert lost.status == 412 and lost.json["type"] == "urn:bobbin:error:precondition-failed"
    assert reg.registry("DELETE", "/users/alice/cond", headers={"If-Match": tag}).status == 412
    assert reg.registry("GET", "/users/alice/cond", headers={"If-None-Match": second.headers["ETag"]}).status == 304
    child = put(reg, "/users/alice/cond/child")
    assert child.status == 201
    moved = reg.registry("GET", "/users/alice/cond", headers={"If-None-Match": second.headers["ETag"]})
    assert moved.status == 200
    old, new = (t.strip('"').split(".") for t in (second.headers["ETag"], moved.headers["ETag"]))
    assert old[0] == new[0] and int(new[1]) > int(old[1])
    assert reg.registry("DELETE", "/users/alice/cond/child").status == 200
    assert reg.registry("DELETE", "/users/alice/cond", headers={"If-Match": second.headers["ETag"]}).status == 200


def test_a_condition_that_cannot_be_kept_is_not_passed_over(reg):
    tag = put(reg, "/users/alice/kept").headers["ETag"]
    for headers in ({"If-None-Match": tag}, {"If-None-Match": "*", "If-Match": tag}):
        refused = put(reg, "/users/alice/kept", query="overwrite=true", **headers)
        assert refused.status == 400 and refused.json["where"] == "If-None-Match", refused
    assert reg.registry("DELETE", "/users/alice/kept", headers={"If-None-Match": tag}).status == 400
    assert reg.registry("POST", "/users/alice/kept", query="op=mknode", headers={"If-None-Match": "*"}).status == 400
    assert reg.registry("GET", "/users/alice/kept").headers["ETag"] == tag


def test_strong_reads_agree_with_the_mirror(reg):
    put(reg, "/users/alice/strong")
    put(reg, "/users/alice/strong/kid")
    mirror = reg.registry("GET", "/users/alice/strong")
    strong = reg.registry("GET", "/users/alice/strong", query="consistency=strong")
    assert strong.json == mirror.json and strong.headers["ETag"] == mirror.headers["ETag"]
    assert reg.registry("GET", "/users/alice/nowhere", query="consistency=strong").status == 404
    assert reg.registry("GET", "/users/alice/strong", query="consistency=maybe").status == 400


def test_pages_and_trees(reg):
    names = [f"n{i:03}" for i in range(700)]
    for name in names:
        assert reg.registry("POST", f"/users/bob/many/{name}", query="op=mknode&createParents=true").status == 201
    assert reg.registry("GET", "/users/bob/many").json["nodes"] == names
    seen, cursor = [], None
    while True:
        page = reg.registry("GET", "/users/bob/many", query="limit=300" + (f"&cursor={cursor}" if cursor else "")).json
        seen += page["nodes"]
        cursor = page.get("cursor")
        if not cursor:
            break
        assert len(page["nodes"]) == 300
    assert seen == names
    tree = reg.registry("GET", "/users/bob", query="recursive=true").json
    assert [n["path"] for n in tree["tree"]] == ["/users/bob/many"] + [f"/users/bob/many/{n}" for n in names]
    assert "nodes" not in tree
    page = reg.registry("GET", "/users/bob", query="recursive=true&limit=350").json
    rest = reg.registry("GET", "/users/bob", query=f"recursive=true&cursor={page['cursor']}").json
    assert page["tree"] + rest["tree"] == tree["tree"] and "cursor" not in rest
    assert reg.registry("GET", "/users/bob/many", query="recursive=true&cursor=/users").json["tree"] == []
    for text in ("x", "users/bob", "%14x", "//", "/users//bob", "/users/bob/"):
        answer = reg.registry("GET", "/", query=f"recursive=true&cursor={text}")
        assert answer.status == 400 and answer.json["where"] == "cursor", (text, answer)


def test_head_and_slider_view(reg):
    put(reg, "/users/alice/slider")
    head = reg.registry("HEAD", "/users/alice/slider")
    assert head.status == 200 and head.body == b"" and "ETag" in head.headers
    view = reg.registry("GET", "/users/alice/slider", base="/ws/v1/slider/registry")
    assert view.json == {"nodes": [], "service": RECORD}
    assert reg.registry("PUT", "/users/alice/slider", RECORD, base="/ws/v1/slider/registry").status == 405


BAD_PATHS = ["/users/a%2Fb", "/users/a%2fb", "/users/a%00b", "/users/..", "/users/%2e%2e/services", "/users/.",
             "/users//b", "//users/b", "/users/b//", "/users/%ff%fe", "/users/%c0%af", "/users/a%0ab", "/users/%zz",
             "/users/%4", "/users/a%7f", "/users/%ed%a0%80", "/users/%5c%2e%2e%2f"]


def tree_of(reg):
    return reg.registry("GET", "/", query="recursive=true").body


@pytest.mark.parametrize("path", BAD_PATHS)
def test_odd_paths_touch_nothing(reg, path):
    put(reg, "/users/a/b")
    before = tree_of(reg)
    for method, body, query in (("PUT", RECORD, "createParents=true&overwrite=true"), ("DELETE", None, "recursive=true"),
                                ("POST", None, "op=mknode&createParents=true"), ("GET", None, "")):
        answer = reg.registry(method, path, body, query=query)
        assert answer.status == 400, (method, path, answer)
    assert tree_of(reg) == before


def test_names_a_write_would_make(reg):
    for name in ("a_b", "UPPER", "-a", "a-", "a.b", "x" * 64, "caf%C3%A9"):
        refused = put(reg, f"/users/alice/{name}")
        assert refused.status == 400 and refused.json["exception"] == "InvalidPathnameException", (name, refused)
    assert put(reg, "/users/alice/" + "x" * 63).status == 201


def test_a_long_name_is_warned_of_where_it_is_allowed():
    """No DNS name comes of it: who reads the log finds the path."""
    with Registry(options={"registryd": {"hadoop.registry.path.names": "zookeeper"}}) as reg:
        just, long = "/users/" + "x" * 63, "/users/" + "y" * 64 + "/below"
        assert put(reg, just).status == put(reg, long).status == 201
        assert reg.registry("DELETE", long).status == 200
        assert [(e["path"], e["bytes"]) for e in reg.registryd.events if e["event"] == "long_name"] == [(long, 64)]


def test_bad_requests_say_why(reg):
    path = "/users/alice/bad"
    cases = [
        (dict(body="{", headers=None), 400, "bad-json"),
        (dict(body="type=JSONServiceRecord", headers=None), 400, "bad-json"),
        (dict(body="{}", headers=None), 422, "invalid-record"),
        (dict(body='{"type":"Other","external":[]}', headers=None), 422, "invalid-record"),
        (dict(body="", headers=None), 400, "bad-json"),
        (dict(body=json.dumps(RECORD), headers={"Content-Type": "text/plain"}), 415, "unsupported-media-type"),
        (dict(body=json.dumps(RECORD), headers={"Origin": "http://evil.example"}), 403, "foreign-origin"),
        (dict(body=json.dumps({**RECORD, "pad": "x" * 9000}), headers=None), 422, "invalid-record"),
        (dict(body=json.dumps({**RECORD, "pad": "x" * 17000}), headers=None), 413, "too-large"),
    ]
    for arguments, status, kind in cases:
        answer = reg.registry("PUT", path, arguments["body"], arguments["headers"], query="createParents=true")
        assert answer.status == status, (arguments, answer)
        assert answer.json["type"] == f"urn:bobbin:error:{kind}" and answer.json["detail"], answer
        assert answer.headers["Content-Type"].startswith("application/problem+json")
    assert "hadoop.registry.record.max-size" in answer.json["detail"], "the last one's limit is an option's"
    assert reg.registry("GET", path).status == 404
    same = {"Origin": f"http://127.0.0.1:{reg.registry_port}", "Host": f"127.0.0.1:{reg.registry_port}"}
    assert reg.registry("GET", "/", headers=same).status == 200
    assert reg.registry("PATCH", "/users").status == 405
    assert request(reg.registry_port, "GET", "/nothing/here").status == 404


# ---- the feed ----

def test_feed_snapshot_then_changes(reg):
    put(reg, "/users/carol/one")
    feed = Feed(reg, path="/users/carol")
    assert feed.status == 200
    lines = feed.until("sync")
    assert lines[0]["type"] == "hello" and lines[0]["revision"].startswith(lines[0]["store"] + ".")
    assert [(l["type"], l["path"]) for l in lines[1:-1]] == [("put", "/users/carol"), ("put", "/users/carol/one")]
    assert lines[2]["service"] == RECORD and "service" not in lines[1]
    bound = put(reg, "/users/carol/two")
    put(reg, "/users/dave/not-ours")
    reg.registry("DELETE", "/users/carol/one")
    seen = [l for l in feed.until("delete") if l["type"] != "progress"]
    assert [(l["type"], l["path"]) for l in seen] == [("put", "/users/carol/two"), ("delete", "/users/carol/one")]
    assert seen[0]["revision"] == bound.headers["Bobbin-Revision"]
    feed.close()


def test_feed_resumes_after_a_revision(reg):
    since = put(reg, "/users/erin/a").headers["Bobbin-Revision"]
    put(reg, "/users/erin/b")
    feed = Feed(reg, f"&since={since}", "/users/erin")
    lines = feed.until("progress")
    assert [l["path"] for l in lines if l["type"] == "put"] == ["/users/erin/b"]
    assert not [l for l in lines if l["type"] == "sync"]
    feed.close()
    store, number = since.rsplit(".", 1)
    assert Feed(reg, f"&since=deadbeef.{number}").status == 410
    assert Feed(reg, f"&since={store}.{int(number) + 100000}").status == 410
    assert Feed(reg, "&since=rubbish").status == 400


def test_bounded_feed_ends_with_progress(reg):
    since = put(reg, "/users/frank/a").headers["Bobbin-Revision"]
    put(reg, "/users/frank/b")
    put(reg, "/users/frank/c")
    for unbounded in ("", "&timeout=0"):  # no limit of time: what ends it is max
        feed = Feed(reg, f"&since={since}&max=1{unbounded}", "/users/frank")
        lines = []
        while (line := feed.line()) is not None:
            lines.append(line)
        assert [l["type"] for l in lines] == ["hello", "put", "progress"]
    rest = Feed(reg, f"&since={lines[-1]['revision']}", "/users/frank")
    assert [l["path"] for l in rest.until("progress") if l["type"] == "put"] == ["/users/frank/c"]
    rest.close()
    timed = Feed(reg, "&timeout=200ms", "/users/frank")
    assert timed.until("sync")
    last = None
    while (line := timed.line()) is not None:
        last = line
    assert last["type"] == "progress"


def test_a_follower_that_falls_off_the_ring_is_notified():
    with Registry(options={"registryd": {"hadoop.registry.feed.ring-size": "16k"}}) as reg:
        feed = Feed(reg)
        feed.until("sync")
        slow = Feed(reg)
        for i in range(400):
            put(reg, f"/users/gina/n{i % 7}", record={**RECORD, "pad": "x" * 800})
        stale = reg.registry("GET", "/", headers={}, query="watch=true&since=" + feed.line()["revision"])
        assert stale.status == 410
        kinds = set()
        while (line := slow.line()) is not None and line["type"] not in ("gone", "sync"):
            kinds.add(line["type"])
        assert kinds >= {"hello", "put"}
        fast = Feed(reg)
        assert fast.until("sync")[-1]["revision"] == reg.registry("GET", "/").headers["Bobbin-Revision"]
        for f in (feed, slow, fast):
            f.close()


def test_restart_keeps_records_and_revisions():
    with Registry() as reg:
        before = put(reg, "/users/henry/kept", record=container("h-0", "h", "127.77.4.4"))
        reg.registryd.stop()
        reg.registryd.start("registry_synced")
        wait_for(lambda: reg.registry("GET", "", base="/readyz").status == 200, "ready again")
        after = reg.registry("GET", "/users/henry/kept")
        assert after.json["service"]["yarn:ip"] == "127.77.4.4"
        assert after.headers["ETag"] == before.headers["ETag"]
        newer = put(reg, "/users/henry/newer").headers["Bobbin-Revision"]
        old_store, old_number = before.headers["Bobbin-Revision"].rsplit(".", 1)
        store, number = newer.rsplit(".", 1)
        assert store == old_store and int(number) > int(old_number)


def test_the_path_as_a_query_parameter(reg):
    """Clients that are generated from /openapi.json encode the '/' of a path parameter."""
    node = "/users/alice/services/query/ab"
    made = reg.registry("PUT", "", RECORD, query=f"createParents=true&path={node.replace('/', '%2F')}")
    assert made.status == 201 and made.json["path"] == node, made
    assert reg.registry("GET", "", query=f"path={node}").json == reg.registry("GET", node).json
    assert reg.registry("GET", "", base="/ws/v1/slider/registry", query=f"path={node}").status == 200
    both = reg.registry("GET", node, query=f"path={node}")
    assert both.status == 400 and both.json["where"] == "path", both
    for slip in ("path=", "recursive=true&path=", f"path={node}&path=/users/bob"):
        assert reg.registry("DELETE", "", query=slip).status == 400
    assert reg.registry("GET", "", query="path=/").json["path"] == "/"
    assert reg.registry("GET", "", query="path=/users//alice").status == 400
    assert reg.registry("GET", "", query="path=/users/../alice").status == 400
    assert reg.registry("POST", "", query="op=mknode&path=/users/alice/services/query/made").status == 201
    gone = reg.registry("DELETE", "", query="recursive=true&path=/users/alice/services/query")
    assert gone.status == 200 and gone.json["deleted"] is True, gone
    assert reg.registry("GET", node).status == 404


def test_a_put_warns_of_a_persistence_that_nothing_knows(reg):
    base = "/users/alice/services/warned"
    for name, persistence, word in (("none", None, "no yarn:persistence"), ("slip", "aplication", 'did you mean \\"application\\"?')):
        body = {"type": "JSONServiceRecord", "external": [], "internal": [], "yarn:id": "x"}
        if persistence:
            body["yarn:persistence"] = persistence
        made = reg.registry("PUT", f"{base}/{name}", body, query="createParents=true")
        assert made.status == 201 and made.headers["Warning"].startswith('299 - "') and word in made.headers["Warning"], made.headers
        assert reg.registry("GET", f"{base}/{name}").json["service"].get("yarn:persistence") == persistence
    for persistence in ("permanent", "application", "application-attempt", "container"):
        made = reg.registry("PUT", f"{base}/{persistence}", {"type": "JSONServiceRecord", "yarn:persistence": persistence})
        assert made.status == 201 and "Warning" not in made.headers, made.headers


def test_the_feed_says_nothing_that_goes_stale(reg):
    """A change of the children of a node is no change of the node: its line in the feed does not count them."""
    put(reg, "/users/alice/fed/below")
    lines = Feed(reg).until("sync")
    shown = [line for line in lines if line["type"] == "put" and line["path"] in ("/users/alice/fed", "/users/alice/fed/below")]
    assert len(shown) == 2 and all(line.keys() >= {"path", "revision", "time", "size"} and "children" not in line for line in shown), shown
    assert reg.registry("GET", "/users/alice/fed").json["status"]["children"] == 1
