"""Named ports of components: in the environment, as placeholders, in the record, in DNS and for Prometheus."""
import http.client
import os

import pytest

from harness import DOMAIN, Stack, containers, processes, request, wait_for

pytestmark = pytest.mark.sanitize

SERVER = "mkdir -p www; echo ${PORT.http} > www/port; exec busybox httpd -f -p $CONTAINER_IP:$PORT_HTTP -h www"


def definition(name, count=2, **more):
    return {"name": name, "version": "1", "components": [{
        "name": "web", "number_of_containers": count, "launch_command": SERVER, "resource": {"cpus": 1, "memory": "32"},
        "ports": [{"name": "http", "port": 0}, {"name": "metrics", "port": 9100}],
        "readiness_check": {"type": "PORT", "properties": {"port": "${PORT.http}"}}, **more}]}


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True, options={"svcmgr": {"yarn.service.readiness-check-interval.seconds": "100ms"}}) as s:
        yield s


@pytest.fixture(scope="module")
def launched(stack):
    return stack.launch(definition("ported"))


def content(c):
    """What the server of a container says its port is."""
    connection = http.client.HTTPConnection(c["ip"], c["ports"]["http"], timeout=20)
    try:
        connection.request("GET", "/port")
        return connection.getresponse().read().decode().strip()
    finally:
        connection.close()


def test_the_process_listens_where_it_is_said_to(launched):
    for c in containers(launched):
        assert c["ports"]["metrics"] == 9100 and 20000 <= c["ports"]["http"] < 32768
        assert content(c) == str(c["ports"]["http"])


def test_srv_names_every_instance_and_its_port(stack, launched):
    wanted = sorted(f"1 1 {c['ports']['http']} {c['component_instance_name']}.ported.alice.{DOMAIN}." for c in containers(launched))
    name = f"web.ported.alice.{DOMAIN}"

    def answered():
        stack.sync_all()
        return stack.dig(f"_http._tcp.{name}", "SRV") == wanted
    wait_for(answered, "SRV of the port by its name")
    assert stack.dig(f"_web._tcp.ported.alice.{DOMAIN}", "SRV") == wanted, "the first port stands for the component"
    assert [line.split()[2] for line in stack.dig(f"_metrics._tcp.{name}", "SRV")] == ["9100", "9100"]


def test_prometheus_finds_the_targets(stack, launched):
    query = "?component=web&user=alice&api=metrics&format=http_sd"

    def targets():
        return sorted(t for group in request(stack.registry_port, "GET", f"/ws/v1/registry-find{query}").json for t in group["targets"])
    wanted = sorted(f"{c['ip']}:9100" for c in containers(launched))
    wait_for(lambda: targets() == wanted, f"the targets are {wanted}")


def test_a_port_is_kept_over_restarts(stack, launched):
    before = {c["component_instance_name"]: (c["id"], c["ports"]) for c in containers(launched)}
    first = next(c for c in containers(launched) if c["component_instance_name"] == "web-0")
    pid = wait_for(lambda: next(iter(processes("busybox httpd", f"{first['ip']}:")), None), "the server runs")
    os.kill(pid, 6)  # SIGABRT: it is started again in its container

    def restarted():
        service = stack.service("ported")
        return service["state"] == "READY" and any(c["restarts"] for c in containers(service)) and service
    after = wait_for(restarted, "web-0 is started again")
    assert {c["component_instance_name"]: (c["id"], c["ports"]) for c in containers(after)} == before
    stack.svcmgr.stop()
    stack.svcmgr.start()
    wait_for(lambda: request(stack.services_port, "GET", "/readyz").status == 200, "svcmgr is ready again")
    again = stack.until_state("ported", "READY")
    assert {c["component_instance_name"]: c["ports"] for c in containers(again)} == {n: p for n, (_, p) in before.items()}


def test_a_check_of_a_port_that_is_not_declared_is_refused(stack):
    answer = stack.services("POST", "?user.name=alice", definition("none", ports=[]))
    assert answer.status == 400 and "${PORT.http} in its readiness_check is none of its ports" in answer.json["diagnostics"], answer
