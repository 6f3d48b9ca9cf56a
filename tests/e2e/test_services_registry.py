"""What svcmgr reports to the registry beside its own records: what has ended, and which instance is ready."""
import os

import pytest

from harness import HELLO, STORES, Stack, containers, processes, request, store_url, wait_for

pytestmark = pytest.mark.sanitize

TOP = "/users/alice/elsewhere"
PROBED = {**HELLO, "name": "probed", "components": [{
    **HELLO["components"][0], "launch_command": "mkdir -p www && touch www/fine && exec busybox httpd -f -p $CONTAINER_IP:8080 -h www",
    "readiness_check": {"type": "HTTP", "properties": {"url": "http://${THIS_HOST}:8080/fine"}}}]}


@pytest.fixture(scope="module", params=STORES)
def stack(request):
    with store_url(request.param) as url:
        with Stack(services=True, store=url,
                   options={"svcmgr": {"yarn.service.readiness-check-interval.seconds": "100ms"}}) as s:
            yield s


def bind(stack, name, id, persistence):
    """A record as an application master binds it: nothing but its id says to whom it belongs."""
    stack.bind(f"{TOP}/{name}", {"type": "JSONServiceRecord", "external": [], "internal": [], "yarn:id": id,
                                 "yarn:persistence": persistence})


def left(stack):
    return set(stack.registry("GET", TOP).json["nodes"])


def server(stack, ip):
    """Pid of the web server of an instance."""
    return wait_for(lambda: next(iter(processes("busybox httpd", f"{ip}:")), None), f"a web server on {ip}")


def restart(daemon, port, *events):
    daemon.start(*events)
    wait_for(lambda: request(port, "GET", "/readyz").status == 200, f"{daemon.name} is ready again")


def test_records_go_with_what_they_belong_to(stack):
    service = stack.launch({**HELLO, "name": "ending"})
    first, second = (c["id"] for c in containers(service))
    app = service["id"]
    attempt = app.replace("application", "appattempt") + "_000001"
    for name, id, persistence in (("one", first, "container"), ("two", second, "container"), ("kept", second, "permanent"),
                                  ("attempt", attempt, "application-attempt"), ("app", app, "application"),
                                  ("master", f"container_{app.split('_', 1)[1]}_01_000001", "container")):
        bind(stack, name, id, persistence)
    stack.bind(f"{TOP}/one/below", {"type": "JSONServiceRecord", "external": [], "internal": []})
    assert stack.services("PUT", "/ending/components/hello", {"number_of_containers": 1}).status == 200
    wait_for(lambda: left(stack) == {"one", "kept", "attempt", "app", "master"}, "what belonged to the second container is gone")
    os.kill(server(stack, containers(service)[0]["ip"]), 9)
    wait_for(lambda: left(stack) == {"kept", "attempt", "app", "master"}, "what belonged to the killed container is gone")
    assert stack.services("DELETE", "/ending").status == 204
    assert left(stack) == {"kept"}, "destroyed is answered when everything of the application is gone"


def test_an_end_is_reported_after_registryd_and_svcmgr_were_away(stack):
    service = stack.launch({**HELLO, "name": "away"})
    first, second = containers(service)
    bind(stack, "first", first["id"], "container")
    bind(stack, "second", second["id"], "container")
    stack.registryd.kill()
    os.kill(server(stack, first["ip"]), 9)
    wait_for(lambda: first["id"] not in [c["id"] for c in containers(stack.service("away"))], "it is known to have ended")
    stack.svcmgr.kill()
    restart(stack.registryd, stack.registry_port, "registry_synced")
    assert {"first", "second"} <= left(stack)
    restart(stack.svcmgr, stack.services_port)
    wait_for(lambda: "first" not in left(stack), "the end is reported now")
    assert "second" in left(stack)
    assert stack.services("DELETE", "/away").status == 204
    wait_for(lambda: "second" not in left(stack), "and so is that of the rest")


def names(stack):
    stack.sync_all()
    return stack.dig("hello.probed.alice.bobbin.test")


def records(stack):
    """What the records of the containers say of readiness, by address; READY is reported before they are there."""
    answer = stack.registry("GET", "/users/alice/services/yarn-service/probed/components", query="recursive=true")
    return {node["service"]["yarn:ip"]: node["service"].get("bobbin:ready") for node in answer.json.get("tree", ())}


def test_an_instance_that_is_not_ready_leaves_the_shared_name(stack):
    one, two = sorted(c["ip"] for c in containers(stack.launch(PROBED)))
    wait_for(lambda: records(stack) == {one: None, two: None}, "a ready one's record is Hadoop's, without more")
    assert names(stack) == [one, two]
    fine = [f"/proc/{server(stack, ip)}/cwd/fine" for ip in (one, two)]
    os.unlink(fine[0])
    wait_for(lambda: names(stack) == [two], "the one that fails is not answered any more")
    assert records(stack) == {one: "false", two: None}
    own = {i: stack.dig(f"hello-{i}.probed.alice.bobbin.test") for i in (0, 1)}
    assert sorted(own.values()) == [[one], [two]], "its own name stays"
    os.unlink(fine[1])
    wait_for(lambda: records(stack) == {one: "false", two: "false"}, "both fail")
    assert names(stack) == [one, two], "when none is ready all are answered"
    with open(fine[0], "w", encoding="ascii"):
        pass
    wait_for(lambda: names(stack) == [one], "the first one is well again")
    stack.svcmgr.kill()
    restart(stack.svcmgr, stack.services_port)
    wait_for(lambda: records(stack) == {one: None, two: "false"} and names(stack) == [one], "so it is after a restart of svcmgr")
    with open(fine[1], "w", encoding="ascii"):
        pass
    wait_for(lambda: names(stack) == [one, two], "both are well")
    assert stack.services("DELETE", "/probed").status == 204


def test_what_the_registry_refuses_for_good_is_reported_and_not_asked_each_second():
    """A registryd that takes two attributes takes the record of the service, and none of a container."""
    with Stack(services=True, options={"registryd": {"hadoop.registry.record.max-attributes": "2"}}) as s:
        path = "/users/alice/services/yarn-service/hello-world"
        service = s.launch(HELLO)
        ids = {c["id"] for c in containers(service)}
        diagnostics = wait_for(lambda: s.service("hello-world").get("diagnostics"), "the service says it")
        assert "refuses" in diagnostics and "attributes" in diagnostics and any(id in diagnostics for id in ids)
        wait_for(lambda: len(refusals(s)) == 2 * len(ids), "each is in the log: as it starts, and as it is ready")

        def is_explained():
            """The service says what one of its instances waits for: of its last refusal, whichever that is."""
            explained = s.services("GET", "/hello-world?explain=true&user.name=alice").json["explain"]
            return any(s.service("hello-world").get("diagnostics") == e["wait"] for e in explained)

        wait_for(is_explained, "the same stands where the instance is explained")
        for n in range(3):  # the registry is asked about other things meanwhile, in which time a repeated one would show
            assert s.services("PUT", "/hello-world", {"lifetime": 3600 + n}).status < 300
            s.launch({**HELLO, "name": f"other-{n}"})
            assert s.services("DELETE", f"/other-{n}").status == 204
        assert len([e for e in refusals(s) if "other" not in e["path"]]) == 2 * len(ids)
        assert s.registry("GET", f"{path}/components").status == 404

        s.registryd.stop()
        s.registryd.options["hadoop.registry.record.max-attributes"] = "100"
        restart(s.registryd, s.registry_port, "registry_synced")
        wait_for(lambda: len(s.registry("GET", f"{path}/components").json.get("nodes", ())) == len(ids), "its records are taken now")
        wait_for(lambda: "diagnostics" not in s.service("hello-world"), "nothing is refused any more")


def refusals(stack):
    return [e for e in stack.svcmgr.events if e["event"] == "record_refused"]
