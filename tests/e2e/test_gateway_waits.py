"""A gateway gives up after 20 s of silence: whoever asks through one has an answer before, whatever is away or lasts."""
import concurrent.futures
import time

import zkproxy
import zookeeper
from harness import Registry, Stack, request, wait_for

BEHIND = {"X-Forwarded-Context": "/gateway/bobbin", "X-Forwarded-Host": "gateway:8443"}
RECORD = {"type": "JSONServiceRecord", "description": "d", "external": [], "internal": []}
NODE = "/ws/v1/registry/users/alice"
ADMIN = "/ws/v1/registry-admin"
GATEWAY_PATIENCE_S = 20
#: Each handler of registryd that waits for the store: what is asked, its body, the type of the answer when the store is silent.
WAITING = {
    "bind": ("PUT", f"{NODE}/a?createParents=true", RECORD, "unknown-outcome"),
    "bind, as gateways send it": ("PUT", f"{NODE}/b?createParents=true", RECORD, "unavailable"),
    "mknode": ("POST", f"{NODE}/c?op=mknode", None, "unknown-outcome"),
    "delete": ("DELETE", f"{NODE}/there", None, "unknown-outcome"),
    "strong read": ("GET", f"{NODE}/there?consistency=strong", None, "unavailable"),
    "homes": ("POST", f"{ADMIN}/users", {"users": ["carol"]}, "unknown-outcome"),
}


WEB = {"name": "web", "version": "1", "components": [{
    "name": "w", "number_of_containers": 0, "launch_command": "exec sleep 1000", "resource": {"cpus": 1, "memory": "16"}}]}


def timed(port, method, path, body=None, headers=None):
    begun = time.monotonic()
    answer = request(port, method, path, body, {**BEHIND, **(headers or {})})
    return answer, time.monotonic() - begun


def test_registryd_answers_while_its_store_is_silent():
    with zookeeper.Server() as server, zkproxy.Proxy(server.port) as proxy:
        with Registry(store=f"zk://127.0.0.1:{proxy.port}/silent") as reg:
            assert reg.registry("PUT", "/users/alice/there", RECORD, query="createParents=true").status == 201
            proxy.hold("both")
            with concurrent.futures.ThreadPoolExecutor(len(WAITING)) as pool:
                asked = {name: pool.submit(timed, reg.registry_port, method, path, body,
                                           {"X-Request-Id": "1"} if "as gateways" in name else None)
                         for name, (method, path, body, _) in WAITING.items()}
                at_once, _ = timed(reg.registry_port, "GET", f"{NODE}/there")
                assert at_once.status == 200 and not any(future.done() for future in asked.values()), "a read of the mirror waits for nothing"
                answers = {name: future.result(60) for name, future in asked.items()}
            for name, (answer, seconds) in answers.items():
                assert (answer.status, answer.json["type"]) == (503, f"urn:bobbin:error:{WAITING[name][3]}"), (name, answer)
                assert answer.headers["Retry-After"] and seconds < GATEWAY_PATIENCE_S, (name, seconds)
                assert seconds > 13, f"{name} waited for the store: {answer} after {seconds} s"
            assert min(seconds for _, seconds in answers.values()) < 15, answers
            proxy.release("both")
            wait_for(lambda: reg.registry("GET", "/users/alice/a").status == 200, "what was begun is done in the end")


def test_svcmgr_answers_while_its_state_cannot_be_written():
    with zookeeper.Server() as server, zkproxy.Proxy(server.port) as proxy:
        options = {"svcmgr": {"yarn.service.state.store": f"zk://127.0.0.1:{proxy.port}/silent"}}
        with Stack(services=True, options=options) as stack:
            proxy.hold("both")
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                asked = [pool.submit(timed, stack.services_port, "POST", f"/app/v1/services?user.name={user}", WEB, headers)
                         for user, headers in (("alice", {}), ("bob", {"X-Request-Id": "1"}))]
                for future in asked:
                    answer, seconds = future.result(60)
                    assert answer.status == 503 and seconds < GATEWAY_PATIENCE_S, (answer, seconds)
            proxy.release("both")
