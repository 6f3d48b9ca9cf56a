"""Services of svcmgr on a real YARN cluster of two resource managers with automatic failover: the active one is killed, and svcmgr and the
masters go on with the other."""
import contextlib
import http.client

import pytest

from harness import request, wait_for
from ports import free_port
from services import Ours, sleepers
from yarn import HERE_ONLY, RM_PORTS, SERVER, Cluster, Member

FOLLOWS_S = 60
IDS = ("rm1", "rm2")
RM = "yarn.resourcemanager."


class Pair(Cluster):
    """With two resource managers, by id in `rms`; each waits for its turn."""

    def __init__(self):
        self.at = {id: {key: free_port() for key in RM_PORTS} for id in IDS}
        addresses = {f"{RM}{key}.{id}": f"{HERE_ONLY}:{port}" for id, at in self.at.items() for key, port in at.items()}
        super().__init__(settings={
            **addresses, RM + "ha.enabled": "true", RM + "ha.rm-ids": ",".join(IDS), RM + "cluster-id": "pair",
            RM + "ha.automatic-failover.enabled": "true", RM + "ha.automatic-failover.embedded": "true", RM + "zk-timeout-ms": 5000,
            "yarn.client.failover-sleep-base-ms": 100, "yarn.client.failover-sleep-max-ms": 500,
            "yarn.scheduler.minimum-allocation-mb": 32})
        self.rms = {"rm1": self.rm, "rm2": self._rm_of("rm2")}
        self.members.insert(2, self.rms["rm2"])

    def _rm(self):
        return self._rm_of("rm1")

    def _rm_of(self, id):
        web = f"http://{HERE_ONLY}:{self.at[id]['webapp.address']}"
        return Member(self, id, self.java(f"{SERVER}.resourcemanager.ResourceManager", "-D", f"{RM}ha.id={id}"), {"web": web},
                      lambda: self.role(id) in ("ACTIVE", "STANDBY"))

    def role(self, id):
        """ACTIVE, STANDBY; None: it does not answer."""
        with contextlib.suppress(OSError, http.client.HTTPException, KeyError, ValueError):
            return request(self.at[id]["webapp.address"], "GET", "/ws/v1/cluster/info", None, {"Accept": "application/json"}).json["clusterInfo"]["haState"]
        return None

    def active(self):
        return next((id for id in IDS if self.role(id) == "ACTIVE"), None)

    def rest(self, *words, **more):
        """The answer of the active one."""
        id = self.active()
        if id:
            self.rm_at = self.at[id]
        return super().rest(*words, **more)


@pytest.fixture(scope="module")
def services():
    with Pair() as cluster:
        ours = Ours(cluster)
        ours.stack.registryd.options.pop(RM + "webapp.address")
        ours.stack.registryd.options |= {RM + "ha.enabled": "true", RM + "ha.rm-ids": ",".join(IDS), **{
            f"{RM}webapp.address.{id}": cluster.rms[id].addresses["web"].removeprefix("http://") for id in IDS}}
        with ours:
            yield ours


@pytest.fixture
def killed(services):
    """Kills the active one; it is back when the test has ended."""
    cluster, gone = services.cluster, []

    def kill():
        gone.append(wait_for(cluster.active, "one is active", FOLLOWS_S))
        cluster.rms[gone[-1]].kill()
        wait_for(lambda: cluster.active() not in (None, gone[-1]), "the other one is active", FOLLOWS_S)
    yield kill
    for id in gone:
        cluster.rms[id].start()


def test_the_active_resource_manager_is_killed(services, killed):
    """Containers stay, with the same master, which gets more from the other one. svcmgr submits there, and ends what it has submitted before."""
    name = services.launch(sleepers("handed-over", 2))
    before, app, master = services.until(name, 2), services.application(name), services.master(name)
    killed()
    services.flex(name, "sleeper", 4)
    after = services.until(name, 4)
    assert before.items() <= after.items() and services.master(name) == master and services.application(name) == app
    other = services.launch(sleepers("begun-there", 1))
    services.until(other, 1)
    services.until_tidy(other)
    for one in (name, other):
        services.destroy(one)
    wait_for(lambda: services.state(app) in ("FINISHED", "KILLED"), "the application has ended", FOLLOWS_S)
