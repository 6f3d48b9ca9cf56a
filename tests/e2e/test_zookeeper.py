"""registryd on a real ZooKeeper: what others write there, a second registryd beside it, restarts."""
import concurrent.futures
import json
import subprocess

import pytest

import zkproxy
import zookeeper
from harness import Feed, Registry, Stack, container, dig_full, wait_for

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop/components"
RECORD = {"type": "JSONServiceRecord", "description": "d", "external": [], "internal": [], "yarn:id": "x",
          "yarn:persistence": "permanent"}


@pytest.fixture(scope="module")
def zk():
    with zookeeper.Server() as server:
        yield server


def url(zk, root):
    return f"zk://{zk.address}/{root}"


class Foreign:
    """ZooKeeper's own client, as any Java program would use it."""

    def __init__(self, zk):
        self.command = [zookeeper.java(), "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-Xshare:auto", "-XX:TieredStopAtLevel=1",
                        "-cp", f"{zookeeper.classpath()}:{zookeeper.JARS}/commons-cli.jar",
                        "org.apache.zookeeper.ZooKeeperMain", "-server", zk.address]

    def run(self, *lines):
        """Run commands; returns the output."""
        done = subprocess.run(self.command, input="\n".join([*lines, "quit"]) + "\n", capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


def test_bytes_and_standard_nodes_are_those_of_hadoop(zk):
    with Registry(store=url(zk, "bytes")) as reg:
        assert reg.registry("PUT", "/users/alice/one", RECORD, query="createParents=true").status == 201
        out = Foreign(zk).run("ls -R /bytes", "get /bytes/users/alice/one")
    assert {"/bytes/services", "/bytes/users", "/bytes/users/alice/one"} <= set(out.split())
    assert ('{"type":"JSONServiceRecord","description":"d","external":[],"internal":[],"yarn:id":"x",'
            '"yarn:persistence":"permanent"}') in out


def test_what_another_client_writes_is_served_and_answered(zk):
    """Nodes made by a Java client: a record flows to DNS; its update, its removal, and a node without record too."""
    with Stack(store=url(zk, "foreign")) as stack:
        stack.sync(stack.bind(f"{BASE}/ctr-1-1-1-1", container("own-0", "own", "127.77.0.1")).headers["Bobbin-Revision"])
        text = json.dumps(container("their-0", "their", "127.77.0.2"), separators=(",", ":"))
        node = f"/foreign{BASE}/ctr-1-1-1-2"
        client = Foreign(zk)
        client.run(f"create {node} {text}", f"create {node}/below")
        wait_for(lambda: stack.registry("GET", f"{BASE}/ctr-1-1-1-2/below").status == 200, "what was created is served")
        stack.sync_all()
        assert stack.dig("their-0.shop.alice.bobbin.test") == ["127.77.0.2"]
        client.run(f"set {node} {text.replace('127.77.0.2', '127.77.0.3')}", f"delete {node}/below",
                   f"delete /foreign{BASE}/ctr-1-1-1-1")
        wait_for(lambda: stack.registry("GET", f"{BASE}/ctr-1-1-1-1").status == 404, "what was deleted is gone")
        stack.sync_all()
        assert stack.dig("their-0.shop.alice.bobbin.test") == ["127.77.0.3"]
        assert "NXDOMAIN" in dig_full(stack.dns_port, "own-0.shop.alice.bobbin.test", "A")
        mirror = stack.registry("GET", f"{BASE}/ctr-1-1-1-2")
        strong = stack.registry("GET", f"{BASE}/ctr-1-1-1-2", query="consistency=strong")
        assert mirror.json == strong.json and mirror.json["nodes"] == []


def test_two_registries_on_one_zookeeper(zk):
    with Registry(store=url(zk, "two")) as one, Registry(store=url(zk, "two")) as two:
        start = one.registry("PUT", "/users/alice/start", RECORD, query="createParents=true")
        revision = start.headers["Bobbin-Revision"]
        wait_for(lambda: two.registry("GET", "/users/alice/start").status == 200, "the other one sees it")
        with Feed(two, f"&since={revision}", "/users/alice") as feed:
            assert feed.status == 200, "a revision of the one is accepted by the other"
            made = one.registry("PUT", "/users/alice/a", RECORD)
            lines = feed.until("put", "/users/alice/a")  # changes after the last mark before it may come again
            assert (lines[-1]["service"], lines[-1]["revision"]) == (RECORD, made.headers["Bobbin-Revision"])
            assert "sync" not in [line["type"] for line in lines], "no snapshot was needed"
            gone = one.registry("DELETE", "/users/alice/a")
            assert feed.until("delete")[-1]["path"] == "/users/alice/a"
            progress = feed.until("progress")[-1]["revision"]
            store, number = progress.rsplit(".", 1)
            gone_store, gone_number = gone.headers["Bobbin-Revision"].rsplit(".", 1)
            assert store == gone_store and int(number) >= int(gone_number)
        back = two.registry("PUT", "/users/alice/b", RECORD)
        assert back.status == 201
        with Feed(one, f"&since={progress}", "/users/alice") as feed:
            assert feed.status == 200
            lines = feed.until("put", "/users/alice/b")
            assert lines[-1]["revision"] == back.headers["Bobbin-Revision"]
            assert "sync" not in [line["type"] for line in lines]
        for name in ("start", "b"):
            first, second = (r.registry("GET", f"/users/alice/{name}") for r in (one, two))
            assert first.json == second.json and first.headers["ETag"] == second.headers["ETag"]
        tag = one.registry("GET", "/users/alice/b").headers["ETag"]
        changed = two.registry("PUT", "/users/alice/b", {**RECORD, "description": "e"}, {"If-Match": tag})
        assert changed.status == 200
        lost = one.registry("PUT", "/users/alice/b", {**RECORD, "description": "f"}, {"If-Match": tag})
        assert lost.status == 412, "a condition is checked on the store, not on a mirror"
        assert two.registry("GET", "/users/alice/b").json["service"]["description"] == "e"


def bind(registry, text, number, query="overwrite=true", body=True):
    return registry.registry("PUT", "/users/alice/one", {**RECORD, "description": text} if body else None,
                             {"X-Request-Id": f"two-{number}", "Content-Type": "application/json"}, query=f"createParents=true&{query}")


def test_a_write_that_comes_again_to_the_other_registry_is_not_done_again(zk):
    """As Knox does when the first one does not answer in time: with the same X-Request-Id, with the body or without."""
    with Registry(store=url(zk, "repeats")) as one, Registry(store=url(zk, "repeats")) as two:
        first = bind(one, "first", 1)
        assert first.status == 201 and bind(one, "second", 2).status == 200
        for registry, has_body in ((two, True), (two, False), (two, True), (one, False)):
            again = bind(registry, "first", 1, body=has_body)
            assert (again.status, again.body, again.headers["Bobbin-Repeated"]) == (201, first.body, "true")
            assert again.headers["ETag"] == first.headers["ETag"] and again.headers["Content-Type"] == first.headers["Content-Type"]
        refused = bind(two, "third", 3, "overwrite=false")
        assert refused.status == 409 and bind(one, "third", 3, "overwrite=false").body == refused.body
        assert bind(two, "third", 2).status == 200, "another body is another write"
        assert bind(one, "none", 4, body=False).status == 400 and bind(two, "fourth", 4).status == 200, "nothing was known of it"
        deleted = two.registry("DELETE", "/users/alice/one", headers={"X-Request-Id": "gone"})
        made = one.registry("POST", "/users/alice/one", headers={"X-Request-Id": "made"}, query="op=mknode")
        assert deleted.json["deleted"] and made.json["created"]
        assert one.registry("DELETE", "/users/alice/one", headers={"X-Request-Id": "gone"}).body == deleted.body
        assert two.registry("POST", "/users/alice/one", headers={"X-Request-Id": "made"}, query="op=mknode").body == made.body
        two.registryd.kill()
        two.registryd.start("registry_synced")
        assert bind(two, "first", 1, body=False).body == first.body, "a restart forgets nothing"
        tree = two.registry("GET", "/", query="recursive=true")
        assert [n["path"] for n in tree.json["tree"]] == ["/services", "/users", "/users/alice", "/users/alice/one"]


def test_a_write_that_another_registry_does_not_answer_has_an_unknown_outcome(zk):
    """What comes back from ZooKeeper to the one is held up: the other one says that it does not know, until the first has said."""
    with zkproxy.Proxy(zk.port) as proxy:
        slow = f"zk://127.0.0.1:{proxy.port}/unknown"
        with Registry(store=slow) as one, Registry(store=url(zk, "unknown")) as two:
            assert bind(one, "before", 1).status == 201
            proxy.hold_when(b"held up", "up")
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                first = pool.submit(bind, one, "held up", 2)
                wait_for(lambda: proxy.waiting("up"), "the write is on its way")
                unknown = bind(two, "held up", 2)
                assert unknown.status == 503 and unknown.json["type"] == "urn:bobbin:error:unknown-outcome", unknown
                assert unknown.headers["Bobbin-Repeated"] == "true" and "another X-Request-Id" in unknown.json["detail"]
                assert two.registry("GET", "/users/alice/one").json["service"]["description"] == "before"
                proxy.release("up")
                answer = first.result(30)
            assert answer.status == 200
            known = bind(two, "held up", 2, body=False)
            assert (known.status, known.body) == (200, answer.body)
            one.registryd.kill()
            assert bind(two, "held up", 2).body == answer.body, "the one that did it has gone"


def test_dnsd_moves_to_the_other_registry(zk):
    """dnsd names both; when the one it follows dies it goes on with the other, from its own revision."""
    with Registry(store=url(zk, "spare")) as spare, Stack(store=url(zk, "spare")) as stack:
        both = f"http://127.0.0.1:{stack.registry_port},http://127.0.0.1:{spare.registry_port}"
        stack.dnsd.stop()
        stack.dnsd.options["hadoop.registry.url"] = both
        stack.dnsd.start("feed_synced")
        path = f"{BASE}/ctr-1-1-1-1"
        stack.sync(stack.bind(path, container("web-0", "web", "127.77.0.1")).headers["Bobbin-Revision"])
        stack.registryd.kill()
        stack.sync(spare.bind(path, container("web-0", "web", "127.77.0.2")).headers["Bobbin-Revision"])
        assert stack.dig("web-0.shop.alice.bobbin.test") == ["127.77.0.2"]


def test_a_restart_of_registryd_keeps_everything(zk):
    with Stack(store=url(zk, "again")) as stack:
        path = f"{BASE}/ctr-1-1-1-1"
        before = stack.bind(path, container("web-0", "web", "127.77.0.1"))
        stack.sync(before.headers["Bobbin-Revision"])
        for end in (stack.registryd.stop, stack.registryd.kill):
            end()
            assert stack.dig("web-0.shop.alice.bobbin.test") == ["127.77.0.1"]
            stack.registryd.start("registry_synced")
            after = stack.registry("GET", path)
            assert after.headers["ETag"] == before.headers["ETag"] and after.json["service"]["yarn:ip"] == "127.77.0.1"
        later = stack.bind(path, container("web-0", "web", "127.77.0.2"))
        stack.sync(later.headers["Bobbin-Revision"])
        assert stack.dig("web-0.shop.alice.bobbin.test") == ["127.77.0.2"]
        stores = {a.headers["Bobbin-Revision"].rsplit(".", 1)[0] for a in (before, later)}
        assert len(stores) == 1


def test_the_choice_of_store_is_said(zk):
    with Registry(store=url(zk, "said")) as reg:
        assert reg.registryd.event("store_chosen")["url"] == url(zk, "said")
        assert reg.registry("GET", "", base="/version").json["store"] == url(zk, "said")


def test_nobody_sees_how_a_condition_is_checked(zk):
    path = "/users/alice/one"
    with Registry(store=url(zk, "checked")) as writer, Registry(store=url(zk, "checked")) as reader:
        made = writer.registry("PUT", path, RECORD, query="createParents=true")
        wait_for(lambda: reader.registry("GET", path).status == 200, "the other one has the record")
        with Feed(reader) as feed:
            feed.until("sync")
            replaced = writer.registry("PUT", path, {**RECORD, "description": "e"}, headers={"If-Match": made.headers["ETag"]})
            assert replaced.status == 200, replaced
            gone = writer.registry("DELETE", path, headers={"If-Match": replaced.headers["ETag"]})
            assert gone.json["deleted"] is True, gone
            writer.registry("PUT", "/users/alice/two", RECORD)
            lines = feed.until("put", "/users/alice/two")
        reported = [(line["type"], line["path"]) for line in lines if line["type"] in ("put", "delete")]
        assert {p for _, p in reported} <= {"/users/alice", "/users/alice/one", "/users/alice/two"}, reported
        assert ("delete", path) in reported, reported
        tags = lambda query: reader.registry("GET", "/users/alice", query=query).headers["ETag"]
        wait_for(lambda: tags("") == tags("consistency=strong"), "the mirror has the parent as it is")
        assert reader.registry("GET", "/users/alice").json["nodes"] == ["two"]
