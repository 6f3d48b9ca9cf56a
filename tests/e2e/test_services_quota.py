"""Quotas: how many containers the services of a user and in a queue may want together."""
import pytest

from harness import Stack

pytestmark = pytest.mark.sanitize

QUOTA = "yarn.service.quota"


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True, options={"svcmgr": {f"{QUOTA}.user.max-containers": "3",
                                                  f"{QUOTA}.queue.max-containers": "4"}}) as s:
        yield s


def document(name, n):
    return {"name": name, "version": "1", "components": [{
        "name": "w", "number_of_containers": n, "launch_command": "exec sleep 1000",
        "resource": {"cpus": 1, "memory": "16"}}]}


def test_more_than_the_quota_is_refused_with_its_name(stack):
    def ask(verb, path, user, body):
        return stack.services(verb, f"{path}?user.name={user}", body)

    assert ask("POST", "", "alice", document("a", 2)).status == 202
    refused = ask("POST", "", "alice", document("b", 2))
    assert refused.status == 403
    assert refused.json["diagnostics"] == ("Service b: the services of user alice would want 4 containers together, "
                                           "their quota is 3")
    assert ask("PUT", "/a/components/w", "alice", {"name": "w", "number_of_containers": 4}).status == 403
    refused = ask("POST", "", "bob", document("b", 3))
    assert refused.status == 403
    assert "queue default would want 5 containers together, their quota is 4" in refused.json["diagnostics"]
    assert ask("PUT", "/a/components/w", "alice", {"name": "w", "number_of_containers": 1}).status == 200
    assert ask("POST", "", "bob", document("b", 3)).status == 202
