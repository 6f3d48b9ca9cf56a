"""Roles with two addresses in a real Apache Knox: what it does when the first one fails, and what is done then."""
import concurrent.futures
import json

from gateway import JSON, curl, within
from harness import wait_for

RECORD = b'{"type":"JSONServiceRecord","description":"d","external":[],"internal":[]}'
HOME = "/users/alice/services/ha"
ONCE = {"name": "once", "version": "1", "components": [
    {"name": "c", "number_of_containers": 0, "launch_command": "sleep 1000", "resource": {"cpus": 1, "memory": "16"}}]}
FAILOVER_S = 0.2  # failoverSleep of the document: less than it takes to ask a second address


def put(behind, name, topology):
    return curl("-X", "PUT", JSON, "--data-binary", "@-", behind.registry(f"{HOME}/{name}?createParents=true", topology), data=RECORD)


def number(revision):
    return int(revision.rpartition(".")[2])


def after(answer, since, directory):
    """What a watch says has changed in a directory after a revision: a few changes from just before it may come again."""
    return [(line["type"], line["path"]) for line in map(json.loads, answer.body.splitlines())
            if line.get("path", "").startswith(directory + "/") and number(line["revision"]) > number(since)]


def changes(behind, since):
    """What has changed since in the directory of these tests."""
    return after(behind.direct("/", f"watch=true&since={since}&timeout=1"), since, HOME)


def test_a_dead_address_is_passed_over_once(behind):
    first = curl(behind.registry("/users", "dead-1"))
    assert first.status == 200 and first.seconds > FAILOVER_S, "it was asked first"

    def another():
        other = curl(behind.registry("/users", "dead-1"))
        assert other.status == 200
        return other.seconds
    within(FAILOVER_S, another, tries=5)


def test_k20_a_write_is_done_once_by_the_second_address(behind):
    assert curl("-X", "POST", behind.registry(HOME + "?op=mknode&createParents=true")).status in (200, 201)
    since = behind.direct("/").headers["Bobbin-Revision"]
    bound = put(behind, "a", "dead-2")
    made = curl("-X", "POST", behind.registry(HOME + "/n?op=mknode", "dead-3"))
    assert (bound.status, made.status) == (201, 201) and made.json["created"]
    assert min(bound.seconds, made.seconds) > FAILOVER_S, "the first address was asked"
    assert behind.direct(HOME + "/a").json["service"]["description"] == "d"
    assert changes(behind, since) == [("put", HOME + "/a"), ("put", HOME + "/n")]


def test_k20_a_service_is_made_once_by_the_second_address(behind):
    made = curl("-X", "POST", JSON, "-d", json.dumps({**ONCE, "name": "second"}), behind.services(topology="dead-1"))
    assert made.status == 202 and made.seconds > FAILOVER_S, made
    assert [one["name"] for one in curl(behind.services()).json].count("second") == 1
    assert curl("-X", "DELETE", behind.services("/second", "dead-1")).status in (200, 204)


def test_k21_a_create_that_is_sent_again_makes_one_service(behind):
    """The first svcmgr address does it and is silent for 5 s; Knox gives up after 3 s and asks the second."""
    answer = curl("-X", "POST", JSON, "-d", json.dumps(ONCE), behind.services(topology="slow-1"))
    assert answer.seconds > 3 and answer.status == 202, answer
    assert answer.headers["bobbin-repeated"] == "true", "the first answer, by X-Request-Id"
    assert [one["name"] for one in curl(behind.services()).json].count("once") == 1
    assert curl("-X", "DELETE", behind.services("/once")).status in (200, 204)


def test_a_write_that_is_sent_to_another_registryd_is_done_once(behind):
    """The first registryd does it and is silent for 5 s; Knox gives up after 3 s and asks the second one, a PUT without its body."""
    assert behind.first.registry("POST", "/users/alice/late/gone", query="op=mknode&createParents=true").status == 201
    since = behind.first.registry("GET", "/").headers["Bobbin-Revision"]
    writes = (("slow-1", "/late/put", "-X", "PUT", JSON, "--data-binary", RECORD), ("slow-2", "/late/gone", "-X", "DELETE"))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        bound, deleted = pool.map(lambda write: curl(*write[2:], behind.registry("/users/alice" + write[1], write[0])), writes)
    assert (bound.status, deleted.status, deleted.json["deleted"]) == (201, 200, True), (bound, deleted)
    for answer in (bound, deleted):
        assert answer.seconds > 3 and answer.headers["bobbin-repeated"] == "true", "what the first one has answered"
    assert bound.json["service"]["description"] == "d"
    wait_for(lambda: behind.second.registry("GET", "/users/alice/late/put").status == 200
             and behind.second.registry("GET", "/users/alice/late/gone").status == 404, "the second one has both")
    seen = after(behind.second.registry("GET", "/", query=f"watch=true&since={since}&timeout=1"), since, "/users/alice/late")
    assert sorted(seen) == [("delete", "/users/alice/late/gone"), ("put", "/users/alice/late/put")]


def test_an_address_that_ends_its_connections_has_failed(behind):
    """It had the body, so that the second address gets none and refuses; Knox stays with that one."""
    refused = put(behind, "ends", "ends")
    assert refused.status == 400 and refused.json["type"] == "urn:bobbin:error:bad-json", refused
    assert put(behind, "ends", "ends").status == 201 and behind.ends.n_asked == 1


def test_an_answer_of_any_status_is_passed_on(behind):
    for n in range(2):
        answer = put(behind, "busy", "busy")
        assert (answer.status, answer.body, answer.headers["retry-after"]) == (503, b"busy", "7")
        assert behind.busy.n_asked == n + 1
    assert behind.direct(HOME + "/busy").status == 404


def test_a_store_that_is_silent_is_said_before_knox_gives_up(behind):
    """A write and a read each have our answer, with when to come again, and not Knox's 500 after 20 s."""
    asks = (("-X", "POST", behind.registry("/users/alice/silent?op=mknode", "second")),
            (behind.registry("/users/alice?consistency=strong", "second"),))
    behind.store.hold("both")
    try:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answers = list(pool.map(lambda words: curl(*words), asks))
    finally:
        behind.store.release("both")
    for answer in answers:
        assert (answer.status, answer.json["type"]) == (503, "urn:bobbin:error:unavailable"), answer
        assert answer.headers["retry-after"]
