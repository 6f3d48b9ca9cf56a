"""The machine was off: another boot, no process of before. What was wanted comes back, in the order of its dependencies."""
import os
import signal

import pytest

from harness import BIN, Stack, command_lines, containers, wait_for

pytestmark = pytest.mark.sanitize

MOUNT = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"'
GATED = "mkdir -p www; : > www/index.html; until [ -e {} ]; do sleep 0.05; done; exec busybox httpd -f -p $CONTAINER_IP:8080 -h www"


def component(name, command="exec sleep 1000", **more):
    return {"name": name, "number_of_containers": 1, "launch_command": command, "resource": {"cpus": 1, "memory": "32"}, **more}


def probed(name, gate):
    return component(name, GATED.format(gate), readiness_check={"type": "PORT", "properties": {"port": "8080"}})


class Host:
    """A stack whose power is cut, and which boots again."""

    def __init__(self, stack):
        self.stack = stack

    def cut_the_power(self):
        """Every process of it ends at once, in no order that a shim could notice."""
        pids = [pid for pid, words in command_lines().items() if pid != os.getpid() and (self.stack.dir in words or self.works_there(pid))]
        for sent in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                try:
                    os.kill(pid, sent)
                except ProcessLookupError:
                    pass
        for daemon in self.stack.daemons:
            daemon.kill()
        wait_for(lambda: not [p for p in pids if os.path.exists(f"/proc/{p}/cwd") and self.works_there(p)], "no process is left")

    def works_there(self, pid):
        try:
            return os.readlink(f"/proc/{pid}/cwd").startswith(self.stack.dir)
        except OSError:
            return False

    def boot(self):
        """Start the daemons with the id of another boot."""
        boot_id = os.path.join(self.stack.dir, "boot_id")
        with open(boot_id, "w", encoding="ascii") as f:
            f.write("01234567-89ab-4cde-8f01-23456789abcd\n")
        program = os.path.join(self.stack.dir, "svcmgr-of-another-boot")
        with open(program, "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\nexec unshare --mount --propagation=private sh -c '{MOUNT}' {boot_id} {BIN}/svcmgr \"$@\"\n")
        os.chmod(program, 0o755)
        self.stack.svcmgr.name = program
        self.stack.__enter__()


@pytest.mark.skipif(os.getuid() != 0, reason="another boot id needs a mount namespace with root's rights")
def test_services_come_back_in_order():
    with Stack(services=True, options={"svcmgr": {"yarn.service.stop-containers-on-exit": "false"}}) as stack:
        host = Host(stack)
        gates = {name: os.path.join(stack.dir, f"gate-{name}") for name in ("base", "db")}
        for gate in gates.values():
            open(gate, "w", encoding="ascii").close()
        documents = [
            {"name": "base", "version": "1", "components": [probed("store", gates["base"])]},
            {"name": "shop", "version": "1", "dependencies": ["base"], "components": [
                component("front", dependencies=["db"]), probed("db", gates["db"])]},
            {"name": "down", "version": "1", "components": [component("one")]}]
        before = {d["name"]: stack.launch(d) for d in documents}
        assert stack.services("PUT", "/down?user.name=alice", {"state": "STOPPED"}).status == 204
        stack.until_state("down", "STOPPED")
        host.cut_the_power()
        for gate in gates.values():
            os.remove(gate)
        host.boot()

        def waits(service):
            answer = stack.services("GET", f"/{service}?user.name=alice&explain=true")
            return {w["instance"]: w["wait"] for w in answer.json["explain"] if w.get("instance")}
        wait_for(lambda: waits("shop") == {i: "dependency: service base is STARTED" for i in ("front-0", "db-0")}, "all of shop waits for base")
        open(gates["base"], "w", encoding="ascii").close()
        stack.until_state("base", "READY")
        wait_for(lambda: waits("shop").get("front-0", "").startswith("dependency: component db has 0 of 1"), "front waits for db")
        open(gates["db"], "w", encoding="ascii").close()
        after = {name: stack.until_state(name, "READY") for name in ("base", "shop")}
        for name, service in after.items():
            assert service["id"] == before[name]["id"], "the application is the same"
            old, new = ([c["id"] for c in containers(s)] for s in (before[name], service))
            assert len(new) == len(old) and not set(old) & set(new), "each container is a new one"
        started = {c["component_instance_name"]: c["launch_time"] for c in containers(after["shop"])}
        assert started["front-0"] >= started["db-0"]
        assert stack.service("down")["state"] == "STOPPED" and not containers(stack.service("down"))
        for name in before:
            stack.services("DELETE", f"/{name}?user.name=alice")
