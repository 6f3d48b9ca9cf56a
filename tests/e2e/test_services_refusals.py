"""What the services API refuses, and in which words."""
import pytest

from harness import Stack, containers, wait_for

pytestmark = pytest.mark.sanitize

COMPONENT = {"name": "sleeper", "number_of_containers": 1, "launch_command": "exec sleep 1000",
             "resource": {"cpus": 1, "memory": "32"}, "readiness_check": {"type": "DEFAULT"}}
SERVICE = {"name": "naps", "version": "1", "components": [COMPONENT]}


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True) as s:
        yield s


def component(**changes):
    return {**SERVICE, "components": [{key: value for key, value in {**COMPONENT, **changes}.items() if value is not None}]}


INVALID = [
    ({**SERVICE, "name": "no_underscore"},
     "Invalid format: no_underscore, can not use '_', as DNS hostname does not allow '_'. Use '-' Instead. "),
    ({**SERVICE, "name": "Upper"}, "Invalid name Upper does not match the pattern [a-z][a-z0-9-]* "),
    ({"version": "1", "components": [COMPONENT]}, "Service name is either empty or not provided"),
    ({**SERVICE, "version": ""}, "Version of service naps is either empty or not provided"),
    ({**SERVICE, "components": []}, "No component specified for naps"),
    ({**SERVICE, "components": [COMPONENT, COMPONENT]}, "Component name collision: sleeper"),
    (component(name="naps"), "Component name naps must not be same as service name naps"),
    (component(launch_command=None), "launch_command is required when type is not DOCKER"),
    (component(resource=None), "Resource is not provided for component sleeper (nor at the global level)"),
    (component(number_of_containers=-1),
     "Invalid no of containers specified for component sleeper (nor at the global level): -1"),
    (component(dependencies=["nobody"]),
     "Dependency nobody for component sleeper is invalid, does not exist as a component"),
]


@pytest.mark.parametrize("document,text", INVALID, ids=[text[:40] for _, text in INVALID])
def test_invalid_documents(stack, document, text):
    answer = stack.services("POST", "", document)
    assert (answer.status, answer.json["diagnostics"]) == (400, text)
    assert answer.headers["Content-Type"].startswith("application/json")
    assert stack.services("GET", "/naps").status == 404


def test_a_circle_of_dependencies(stack):
    one, two = ({**COMPONENT, "name": a, "dependencies": [b]} for a, b in (("one", "two"), ("two", "one")))
    answer = stack.services("POST", "", {**SERVICE, "components": [one, two]})
    assert answer.status == 400
    assert answer.json["diagnostics"].startswith("Invalid dependencies, a cycle may exist: ")


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"name":', b"null", b"", b"\xff\xfe", b'{"name":{"a":1}}'])
def test_bodies_that_are_no_service(stack, body):
    answer = stack.services("POST", "", body)
    assert answer.status == 400 and answer.json["diagnostics"], answer


def test_wrong_media_type_origin_and_method(stack):
    assert stack.services("POST", "", b"name=naps", {"Content-Type": "text/plain"}).status == 415
    assert stack.services("POST", "", SERVICE, {"Origin": "http://evil.example"}).status == 403
    assert stack.services("PATCH", "/naps", SERVICE).status == 405
    assert stack.services("GET", "/naps").status == 404


def test_unknown_services_and_components(stack):
    missing = stack.services("GET", "/nosuch")
    assert (missing.status, missing.json) == (404, {"diagnostics": "Service nosuch not found", "code": 404004})
    assert stack.services("PUT", "/nosuch", {"state": "STOPPED"}).status == 404
    assert stack.services("PUT", "/nosuch/components/c", {"number_of_containers": 1}).status == 404
    gone = stack.services("DELETE", "/nosuch")
    assert (gone.status, gone.json["diagnostics"]) == (404, "Service nosuch doesn't exist")


def test_a_name_is_taken_once(stack):
    first = stack.launch(SERVICE)
    for _ in range(2):
        taken = stack.services("POST", "", SERVICE)
        assert (taken.status, taken.json["diagnostics"]) == (500, "Service name naps is already taken.")
    assert containers(stack.service("naps")) == containers(first)
    cases = [({"number_of_containers": -2}, 400, "Invalid number of containers specified -2"),
             ({"name": "sleeper"}, 400, "No container count provided"),
             ({"name": "other", "number_of_containers": 1}, 400, "Component name in the request object (other) does not "
              "match that in the URI path (sleeper)")]
    for body, status, text in cases:
        answer = stack.services("PUT", "/naps/components/sleeper", body)
        assert (answer.status, answer.json["diagnostics"]) == (status, text)
    assert stack.services("PUT", "/naps/components/nosuch", {"number_of_containers": 1}).status == 404
    assert containers(stack.service("naps")) == containers(first)
    assert stack.services("DELETE", "/naps").status == 204


def test_a_container_larger_than_the_host(stack):
    huge = component(resource={"cpus": 1, "memory": "999999999"})
    answer = stack.services("POST", "", huge)
    assert answer.status == 400
    assert answer.json["diagnostics"].startswith(
        "Component sleeper: specified memory size (999999999) is larger than configured max container memory size (")


def test_a_process_that_never_gets_ready_is_not_ready(stack):
    never = component(readiness_check={"type": "PORT", "properties": {"port": "9"}})
    assert stack.services("POST", "", never).status == 202
    wait_for(lambda: [c["state"] for c in containers(stack.service("naps"))] == ["STARTED"], "the process has started")
    assert stack.service("naps")["state"] == "STARTED"
    assert stack.services("DELETE", "/naps").status == 204


def test_a_second_user_of_one_registry_directory_is_refused(stack):
    """alice and Alice, a_b and a-b: launching a service of one would purge the live records of the other's."""
    path = "/users/a-b/services/yarn-service/shared"
    live = stack.launch({**SERVICE, "name": "shared"}, user="a_b")
    wait_for(lambda: stack.registry("GET", path).status == 200, "its record is there")
    for user in ("a-b", "A_B"):
        answer = stack.services("POST", f"?user.name={user}", {**SERVICE, "name": "shared"})
        assert answer.status == 409, answer
        assert "a_b" in answer.json["diagnostics"] and "destroy the services of user a_b" in answer.json["diagnostics"]
        assert stack.services("GET", f"/shared?user.name={user}").status == 404
    record = stack.registry("GET", path).json["service"]
    assert record["yarn:id"] == live["id"], "nothing of the first was touched"
    assert stack.services("DELETE", "/shared?user.name=a_b").status == 204
    assert stack.services("POST", "?user.name=a-b", {**SERVICE, "name": "shared"}).status == 202
    assert stack.services("DELETE", "/shared?user.name=a-b").status == 204


def test_a_component_that_is_named_like_an_instance_of_another_is_refused(stack):
    """Instance 0 of "web" is web-0 in DNS, as would be the component web-0."""
    parts = [{**COMPONENT, "name": name} for name in ("web", "web-0")]
    answer = stack.services("POST", "?user.name=alice", {**SERVICE, "name": "twice", "components": parts})
    assert answer.status == 400 and "web-0" in answer.json["diagnostics"], answer
    parts[1]["name"] = "web-0b"
    assert stack.services("POST", "?user.name=alice", {**SERVICE, "name": "twice", "components": parts}).status == 202
    assert stack.services("DELETE", "/twice?user.name=alice").status == 204
