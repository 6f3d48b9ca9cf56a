"""Two svcmgr on one state: one is active, the other forwards to it and takes over when it has gone; never both act."""
import os
import signal

import pytest

import zookeeper
from harness import STORES, Daemon, Stack, containers, request, until_sleepers, wait_for
from ports import free_port

pytestmark = pytest.mark.sanitize

USER = "?user.name=alice"
LEASE = "yarn.service.state.lease-ms"


def document(name, count=1):
    return {"name": name, "version": "1", "components": [{
        "name": "w", "number_of_containers": count, "launch_command": "exec sleep 1000", "resource": {"cpus": 1, "memory": "16"}}]}


class Pair:
    """A stack with a second svcmgr, which stands by. options: of the second one besides."""

    def __init__(self, store, lease_ms=3000, **options):
        more = {LEASE: str(lease_ms), **({"yarn.service.state.store": store} if store else {})}
        self.stack = Stack(services=True, options={"svcmgr": more})
        self.first = self.stack.svcmgr
        self.port = free_port()
        self.second = Daemon("svcmgr", {**self.first.options, "yarn.service.api-server.address": f"127.0.0.1:{self.port}",
                                        **options})

    def ask(self, daemon, method, path, body=None, headers=None):
        port = self.stack.services_port if daemon is self.first else self.port
        return request(port, method, "/app/v1/services" + path, body, headers)

    def role(self, daemon):
        port = self.stack.services_port if daemon is self.first else self.port
        return request(port, "GET", "/version").json["role"]

    def until_active(self, daemon):
        wait_for(lambda: self.role(daemon) == "active" and self.ask(daemon, "GET", USER).status == 200, "it is active")

    def until_ready(self, daemon, name):
        wait_for(lambda: self.ask(daemon, "GET", f"/{name}{USER}").json.get("state") == "READY", f"{name} is READY")

    def processes(self, n):
        """Their pids, when there are n."""
        return sorted(until_sleepers(self.stack.dir, n))

    def ids(self, daemon, name):
        return sorted(c["id"] for c in containers(self.ask(daemon, "GET", f"/{name}{USER}").json))

    def __enter__(self):
        self.stack.__enter__()
        try:
            self.second.start("svcmgr_standby")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *what):
        if self.second.process and self.first.process:
            self.second.kill()
        elif self.second.process:
            self.second.stop()  # with all containers
        self.stack.__exit__(*what)


@pytest.fixture(params=STORES)
def store(request):
    if request.param == "embedded":
        yield None
        return
    with zookeeper.Server() as server:
        yield f"zk://{server.address}/svcmgr"


def test_requests_to_both_are_done_by_one(store):
    with Pair(store) as pair:
        assert (pair.role(pair.first), pair.role(pair.second)) == ("active", "standby")
        assert request(pair.port, "GET", "/readyz").status == 200
        assert b"svcmgr_active 0" in request(pair.port, "GET", "/metrics").body
        answer = pair.ask(pair.second, "POST", "?user.name=bob", document("web", 2), {"Prefer": "return=representation"})
        assert answer.status == 202 and answer.json["uri"] == "/v1/services/web", answer
        assert answer.headers["Content-Type"].startswith("application/json")
        pair.stack.until_state("web", "READY", "bob")
        assert pair.ask(pair.second, "GET", "/web?user.name=bob").json == pair.ask(pair.first, "GET", "/web?user.name=bob").json
        assert pair.ask(pair.second, "GET", f"/web{USER}").status == 404  # alice has none
        assert pair.ask(pair.second, "POST", "?user.name=bob", b"{").status == 400
        assert pair.ask(pair.second, "POST", "?user.name=bob", document("web")).json["diagnostics"] == \
            "Service name web is already taken."
        pair.processes(2)
        upgrade = {"Connection": "Upgrade", "Upgrade": "bobbin-exec"}
        answer = pair.ask(pair.second, "POST", "/web/component-instances/w-0/exec?user.name=bob&command=true", headers=upgrade)
        assert answer.status == 503 and f"127.0.0.1:{pair.stack.services_port}" in answer.body.decode(), answer
        assert pair.ask(pair.second, "DELETE", "/web?user.name=bob").status == 204
        assert pair.ask(pair.first, "GET", "/web?user.name=bob").status == 404


def test_the_other_takes_over_with_all_containers(store):
    with Pair(store) as pair:
        pair.stack.launch(document("web", 3))
        ids, pids = pair.ids(pair.first, "web"), pair.processes(3)
        pair.first.kill()
        pair.until_active(pair.second)
        pair.until_ready(pair.second, "web")
        assert pair.ids(pair.second, "web") == ids
        assert pair.processes(3) == pids
        assert pair.ask(pair.second, "PUT", f"/web/components/w{USER}", {"number_of_containers": 4}).status == 200
        pair.processes(4)
        pair.first.start("svcmgr_standby")  # and back
        pair.second.kill()
        pair.until_active(pair.first)
        pair.until_ready(pair.first, "web")
        assert len(pair.ids(pair.first, "web")) == 4


def test_a_write_that_comes_again_after_the_take_over_is_not_done_again(store):
    """A gateway got no answer from the active one, or the answer got lost: it asks the next one, perhaps without the body."""
    def create(daemon, body=True):
        return pair.ask(daemon, "POST", USER, document("web") if body else None, {"X-Request-Id": "create", "Content-Type": "application/json"})
    with Pair(store) as pair:
        first = create(pair.first)
        assert first.status == 202 and first.headers["Location"]
        by_standby = create(pair.second)
        assert (by_standby.status, by_standby.body, by_standby.headers["Location"]) == (202, first.body, first.headers["Location"])
        assert by_standby.headers["Bobbin-Repeated"] == "true"
        pair.until_ready(pair.first, "web")
        pair.first.kill()
        pair.until_active(pair.second)
        for has_body in (True, False):
            again = create(pair.second, has_body)
            assert (again.status, again.body, again.headers["Location"]) == (202, first.body, first.headers["Location"]), again
            assert again.headers["Bobbin-Repeated"] == "true"
        assert "already taken" in pair.ask(pair.second, "POST", USER, document("web")).json["diagnostics"], "another request is refused"
        pair.processes(1)


def test_an_orderly_end_hands_over(store):
    with Pair(store) as pair:
        pair.first.options["yarn.service.stop-containers-on-exit"] = "false"
        pair.first.kill()
        pair.until_active(pair.second)
        pair.first.start("svcmgr_standby")
        assert pair.ask(pair.first, "POST", USER, document("web")).status == 202
        pair.until_ready(pair.second, "web")
        pair.first.stop()  # one that stands by ends without touching anything
        assert pair.ids(pair.second, "web") and pair.processes(1)


def test_one_that_slept_longer_than_its_lease_writes_nothing_more():
    with zookeeper.Server() as server, Pair(f"zk://{server.address}/svcmgr", 5000) as pair:
        pair.stack.launch(document("web", 2))
        pids = pair.processes(2)
        process = pair.first.process
        os.kill(process.pid, signal.SIGSTOP)
        try:
            pair.until_active(pair.second)
            pair.until_ready(pair.second, "web")
            assert pair.ask(pair.second, "PUT", f"/web/components/w{USER}", {"number_of_containers": 3}).status == 200
            pair.processes(3)
        finally:
            os.kill(process.pid, signal.SIGCONT)
        pair.first.event("state_taken")
        assert process.wait(30) != 0
        pair.first.process = None
        assert set(pids) < set(pair.processes(3)), "who lost the state leaves the containers alone"
        pair.until_ready(pair.second, "web")
        assert len(pair.ids(pair.second, "web")) == 3
        assert pair.role(pair.second) == "active"


def test_one_that_cannot_reach_the_store_does_nothing_and_goes_on_after():
    """Nobody has taken its lease meanwhile: it need not end."""
    with zookeeper.Server() as server:
        options = {"svcmgr": {"yarn.service.state.store": f"zk://{server.address}/svcmgr", LEASE: "1000"}}
        with Stack(services=True, options=options) as stack:
            stack.launch(document("web", 1))
            server.kill()
            wait_for(lambda: request(stack.services_port, "GET", "/readyz").status == 503, "svcmgr says that it cannot write")
            assert stack.services("POST", USER, document("next")).status in (500, 503)
            server.start()
            wait_for(lambda: request(stack.services_port, "GET", "/readyz").status == 200, "svcmgr is ready again")
            stack.launch(document("next"))
            until_sleepers(stack.dir, 2)


def test_another_host_does_not_take_the_containers_of_this_one():
    with zookeeper.Server() as server:
        with Pair(f"zk://{server.address}/svcmgr", 1000, **{"yarn.nodemanager.hostname": "elsewhere"}) as pair:
            pair.stack.launch(document("web", 1))
            place = pair.second.event("svcmgr_standby")
            assert "start svcmgr there" in place["stays"], place
            pair.first.kill()
            answer = wait_for(lambda: next((a for a in [pair.ask(pair.second, "GET", f"/web{USER}")] if a.status == 503), None),
                              "it says who is active")
            assert place["place"] in answer.body.decode() and place["active"] in answer.body.decode(), answer
            assert pair.role(pair.second) == "standby"
            pair.second.kill()
            pair.second.options["yarn.service.state.take-over-from"] = place["place"]
            pair.second.start("svcmgr_ready")  # the option names the place
            pair.until_ready(pair.second, "web")
