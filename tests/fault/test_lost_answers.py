"""A ZooKeeper connection that breaks after a write was sent: nobody else's write is undone, and no client gets a false answer.

One registryd reaches ZooKeeper through a proxy that keeps the answers back; another one, beside it, writes meanwhile.
"""
import threading

import pytest

import zookeeper
from harness import PATIENCE, Registry, container, request, wait_for
from zkproxy import Proxy

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop/components"
PATH = f"{BASE}/ctr-1-2-3-4"
CHECK = b"bobbin-check-"  # what a write on condition brings to ZooKeeper and what comes before it does not
UNKNOWN = "urn:bobbin:error:unknown-outcome"
QUICK = {"hadoop.registry.zk.session.timeout.ms": "10000", "hadoop.registry.zk.connection.timeout.ms": "2000",
         "hadoop.registry.zk.retry.interval.ms": "50", "hadoop.registry.zk.retry.ceiling.ms": "200",
         "hadoop.registry.write.wait": "200ms", "hadoop.registry.admin.users": "alice"}


class Pair:
    """A registryd behind a proxy and one beside it, on one ZooKeeper."""

    def __init__(self, port, proxy, other_port):
        self.port, self.proxy, self.other_port = port, proxy, other_port

    def ask(self, method, path=PATH, record=None, query="", headers=None):
        """Of the one behind the proxy."""
        return request(self.port, method, f"/ws/v1/registry{path}?{query}", record, headers)

    def other(self, method, path=PATH, record=None, query="", headers=None):
        return request(self.other_port, method, f"/ws/v1/registry{path}?{query}", record, headers)

    def now(self, path=PATH):
        """What the ensemble has there: the record's yarn:ip and the entity tag, or None."""
        answer = self.other("GET", path, query="consistency=strong")
        return (answer.json["service"]["yarn:ip"], answer.headers["ETag"]) if answer.status == 200 else None

    def settle(self):
        """Wait until the one behind the proxy is connected and has read the newest state: from then on it reads nothing
        that names the node by itself, so the bytes that break_it waits for are those of the write."""
        def is_same():
            mine, newest = self.ask("GET"), self.other("GET", query="consistency=strong")
            return (self.ask("GET", query="consistency=strong").status == newest.status == mine.status
                    and mine.headers.get("ETag") == newest.headers.get("ETag"))
        wait_for(is_same, "both registries serve the same")

    def lose_answer(self, write, is_done, meanwhile=lambda: None, after=b"/ctr-1-2-3-4"):
        """Start write(); when is_done() says that ZooKeeper has it, do what others do meanwhile, then break the connection.
        Answers are kept back from the moment on when `after` goes to ZooKeeper."""
        return self.break_it(write, after, "down", lambda: (wait_for(is_done, "ZooKeeper has done the write"), meanwhile()))

    def lose_request(self, write, meanwhile, text):
        """Start write(); when this text is on its way to ZooKeeper, do what others do, then break the connection."""
        return self.break_it(write, text, "up", lambda: (wait_for(lambda: text in self.proxy.waiting("up"), "the write is on its way"),
                                                         meanwhile()))

    def break_it(self, write, text, way, then):
        self.settle()
        self.proxy.hold_when(text, way)
        answers = []
        writer = threading.Thread(target=lambda: answers.append(write()))
        writer.start()
        then()
        self.proxy.cut()
        self.proxy.release(way)
        writer.join(PATIENCE)
        assert answers, "no answer"
        return answers[0]


@pytest.fixture
def pair():
    with zookeeper.Server() as zk, Proxy(zk.port) as proxy:
        behind, beside = (Registry(store=f"zk://127.0.0.1:{port}/registry", options={"registryd": QUICK})
                          for port in (proxy.port, zk.port))
        with behind, beside:
            yield Pair(behind.registry_port, proxy, beside.registry_port)


def bind(ask, ip, query="createParents=true&overwrite=true", **more):
    return ask("PUT", record=container("web-0", "web", ip), query=query, **more)


def is_unknown(answer):
    return (answer.status == 503 and answer.json["type"] == UNKNOWN and answer.json["status"] == 503
            and int(answer.headers["Retry-After"]) > 0)


def test_a_delete_does_not_take_what_another_made_since(pair):
    bind(pair.ask, "127.77.0.1")
    answer = pair.lose_answer(lambda: pair.ask("DELETE"), lambda: pair.now() is None,
                              lambda: bind(pair.other, "127.77.0.2", "", headers={"If-None-Match": "*"}))
    assert (pair.now() or ["nothing"])[0] == "127.77.0.2", "what was acknowledged to the other is gone"
    assert is_unknown(answer), answer


def test_an_overwrite_does_not_put_an_old_value_over_a_newer_one(pair):
    bind(pair.ask, "127.77.0.1")
    answer = pair.lose_answer(lambda: bind(pair.ask, "127.77.0.2"), lambda: pair.now()[0] == "127.77.0.2",
                              lambda: bind(pair.other, "127.77.0.3"))
    assert pair.now()[0] == "127.77.0.3", "an older value stands over the newer one"
    assert is_unknown(answer), answer


def test_a_purge_does_not_take_a_record_of_another(pair):
    record = {**container("web-0", "web", "127.77.0.1"), "yarn:id": "ctr-1", "yarn:persistence": "container"}
    assert pair.ask("PUT", record=record, query="createParents=true").status == 201
    purge = {"id": "ctr-1", "persistence": "container"}
    answer = pair.lose_answer(lambda: request(pair.port, "POST", "/ws/v1/registry-admin/purge", purge),
                              lambda: pair.now() is None, lambda: bind(pair.other, "127.77.0.2", ""), CHECK)
    assert pair.now()[0] == "127.77.0.2"
    assert is_unknown(answer), answer


def test_own_writes_get_no_false_answers(pair):
    bind(pair.ask, "127.77.0.1")
    assert is_unknown(pair.lose_answer(lambda: pair.ask("DELETE"), lambda: pair.now() is None)), "deleted:false"
    is_there = lambda: pair.now() is not None
    assert is_unknown(pair.lose_answer(lambda: bind(pair.ask, "127.77.0.1", ""), is_there)), "409"
    pair.other("DELETE")
    assert is_unknown(pair.lose_answer(lambda: bind(pair.ask, "127.77.0.1"), is_there)), "200 for 201"
    tag = {"If-Match": pair.now()[1]}
    answer = pair.lose_answer(lambda: bind(pair.ask, "127.77.0.2", "", headers=tag),
                              lambda: pair.now()[0] == "127.77.0.2", after=CHECK)
    assert is_unknown(answer), "412"
    tag = {"If-Match": pair.now()[1]}
    answer = pair.lose_answer(lambda: pair.ask("DELETE", headers=tag), lambda: pair.now() is None, after=CHECK)
    assert is_unknown(answer), "412"


def test_an_overwrite_that_is_found_in_place_is_answered(pair):
    bind(pair.ask, "127.77.0.1")
    answer = pair.lose_answer(lambda: bind(pair.ask, "127.77.0.2"), lambda: pair.now()[0] == "127.77.0.2")
    assert (answer.status, answer.headers["ETag"]) == (200, pair.now()[1])


@pytest.mark.parametrize("query, headers", [("createParents=true", None), ("overwrite=true", None),
                                            ("", {"If-None-Match": "*"})])
def test_a_write_that_did_not_arrive_is_made(pair, query, headers):
    """Held on the way to ZooKeeper, then cut: certainly not done, so the client notices nothing but the time."""
    assert pair.other("POST", BASE, query="op=mknode&createParents=true").status == 201
    assert pair.ask("GET", BASE, query="consistency=strong").status == 200
    answer = pair.lose_request(lambda: bind(pair.ask, "127.77.0.1", query, headers=headers), lambda: None, b"127.77.0.1")
    assert answer.status == 201, answer
    assert pair.now()[0] == "127.77.0.1"


def test_a_condition_means_the_node_and_not_its_version(pair):
    """Deleted and made anew between the look at a node and the write: version 0 both times."""
    first = bind(pair.other, "127.77.0.1").headers["ETag"]
    pair.other("DELETE")
    bind(pair.other, "127.77.0.2")
    for answer in (pair.ask("DELETE", headers={"If-Match": first}),
                   bind(pair.ask, "127.77.0.3", "", headers={"If-Match": first})):
        assert answer.status == 412, answer
    assert pair.now()[0] == "127.77.0.2"


def test_two_do_not_both_succeed_with_one_step(pair):
    """The other does the very same while the first one's request is lost: equal bytes do not say whose they are."""
    def race(write, text):
        others = []
        answer = pair.lose_request(lambda: write(pair.ask), lambda: others.append(write(pair.other)), text)
        assert others[0].status in (200, 201), others
        return answer

    made = race(lambda ask: bind(ask, "127.77.0.1", "createParents=true", headers={"If-None-Match": "*"}), b"127.77.0.1")
    assert is_unknown(made), made
    tag = {"If-Match": pair.now()[1]}
    replaced = race(lambda ask: bind(ask, "127.77.0.2", "", headers=tag), CHECK)
    assert is_unknown(replaced), replaced


def test_nodes_and_homes_that_were_made_are_not_said_to_have_been_there(pair):
    there = lambda path: lambda: pair.other("GET", path, query="consistency=strong").status == 200
    assert pair.other("POST", BASE, query="op=mknode&createParents=true").status == 201
    answer = pair.lose_answer(lambda: pair.ask("POST", query="op=mknode"), there(PATH))
    assert is_unknown(answer), answer
    answer = pair.lose_answer(lambda: request(pair.port, "POST", "/ws/v1/registry-admin/users", {"user": "carol"}),
                              there("/users/carol"), after=b"/users/carol")
    user = answer.json["users"][0]
    assert user["error"] == UNKNOWN and "created" not in user, answer
    again = request(pair.port, "POST", "/ws/v1/registry-admin/users", {"user": "carol"})
    assert again.json["users"][0]["created"] is False, again


def test_parents_whose_answer_was_lost_are_gone_on_below(pair):
    """Who made a parent matters to nobody, so the write goes on and is answered."""
    assert pair.ask("GET", "/users", query="consistency=strong").status == 200
    there = lambda: pair.other("GET", "/users/alice", query="consistency=strong").status == 200
    # The parents come one by one: "alice" and its flags, then what makes it.
    answer = pair.lose_answer(lambda: bind(pair.ask, "127.77.0.1"), there, after=b"/users/alice\0\0\0\0")
    assert answer.status == 201, answer
    assert pair.now()[0] == "127.77.0.1"


def test_an_import_names_what_it_does_not_know(pair):
    document = {"nodes": [{"path": "/users/alice", "record": ""}, {"path": "/users/alice/one", "record": "first"}]}
    do = lambda: request(pair.port, "POST", "/ws/v1/registry-admin/import?user.name=root", document)
    there = lambda: pair.other("GET", "/users/alice/one", query="consistency=strong").status == 200
    lost = pair.lose_answer(do, there, after=b"/users/alice/one")
    assert {failed["error"] for failed in lost.json["failed"]} == {UNKNOWN}, lost
    assert do().json == {"created": 0, "replaced": 0, "unchanged": 2, "failed": []}


def test_a_recursive_delete_whose_answers_were_lost_takes_all_that_is_below(pair):
    children = [f"{PATH}/c{i}" for i in range(20)]
    for child in children:
        bind(lambda *a, **k: pair.other(*a, path=child, **k), "127.77.0.1")
    assert pair.ask("GET", children[-1], query="consistency=strong").status == 200
    answer = pair.lose_answer(lambda: pair.ask("DELETE", query="recursive=true"),
                              lambda: pair.other("GET", query="consistency=strong").json["nodes"] == [], after=b"/c7")
    assert answer.status == 200 or is_unknown(answer), answer
    assert pair.now() is None or is_unknown(answer), answer
    assert pair.ask("DELETE", query="recursive=true").status == 200
    assert pair.now() is None
