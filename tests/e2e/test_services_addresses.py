"""Two stacks on one host: no two containers share an address, whatever their services are called, and whoever was killed."""
import signal

import pytest

from harness import CHANCE, Stack, containers, wait_for

pytestmark = pytest.mark.sanitize

# Few addresses, and as many containers as a host surely has room for: the stacks meet at each of them.
NETWORK = {"yarn.service.local.addresses": f"127.{CHANCE.randrange(80, 251)}.{CHANCE.randrange(1, 255)}.16/29"}
GROWN = 4
KEEP = {"yarn.service.stop-containers-on-exit": "false"}
HELLO = {"name": "hello-world", "version": "1", "components": [
    {"name": "hello", "number_of_containers": 2, "launch_command": "exec busybox httpd -f -p \"$CONTAINER_IP:8080\"",
     "resource": {"memory": "32"}, "readiness_check": {"type": "PORT", "properties": {"port": "8080"}}}]}


def addresses(service):
    return [c["ip"] for c in containers(service)]


def restart(stack):
    """kill -9 and a start: its containers live on."""
    stack.svcmgr.process.send_signal(signal.SIGKILL)
    stack.svcmgr.process.wait()
    stack.svcmgr.start()


def ready_at(stack, ips):
    wait_for(lambda: stack.service("hello-world")["state"] == "READY", "its service is READY")
    assert addresses(stack.service("hello-world")) == ips


def test_containers_of_two_stacks_have_different_addresses():
    with Stack(services=True, options={"svcmgr": {**KEEP, **NETWORK}}) as one, \
            Stack(services=True, options={"svcmgr": NETWORK}) as two:
        first = addresses(one.launch(HELLO))
        second = addresses(two.launch(HELLO))
        assert len(set(first + second)) == 4
        restart(one)
        ready_at(one, first)
        one.svcmgr.process.send_signal(signal.SIGKILL)
        one.svcmgr.process.wait()  # nobody but the shims holds its addresses now
        assert two.services("PUT", "/hello-world/components/hello", {"number_of_containers": GROWN}).status == 200
        wait_for(lambda: two.service("hello-world")["number_of_running_containers"] == GROWN, "the other stack has grown")
        assert not set(first) & set(addresses(two.service("hello-world")))
        one.svcmgr.start()
        ready_at(one, first)
        assert one.services("DELETE", "/hello-world").status == 204
        assert two.services("DELETE", "/hello-world").status == 204
        assert sorted(addresses(one.launch(HELLO))) == sorted(first)  # given back by the kernel
        assert one.services("DELETE", "/hello-world").status == 204
