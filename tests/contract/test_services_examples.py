"""The examples of the services API's document: POST takes each as it is written there, and it becomes READY on a simulated cluster.

services_examples/ has the request bodies. `simple` asks for 4 GPUs, as the document's answer shows it; the URL of `hbase` names the
service.
"""
import os

import pytest

from harness import ROOT, containers, wait_for
from services_flow import DIALECTS, managers

SCRIPT = ("nodes 3 memory=65536 vcores=64 gpus=8 label=gpu attributes=os:centos7,fault_domain:fd1; "
          "delay allocate=0-5 start=0-5 stop=0-5 ready=0-5")
READY = {"seed": "READY", "hadoop3": "STABLE"}
GONE = {"seed": 204, "hadoop3": 200}
INSTANCES = {"simple": {"hello-0"}, "simple-without-gpu": {"hello-0", "hello-1"}, "gpu": {"hello-0", "hello-1"},
             "anti-affinity": {"hello-0", "hello-1", "hello-2"},
             "hbase": {"hbasemaster-0", "regionserver-0", "regionserver-1", "regionserver-2"}}


@pytest.fixture(scope="module")
def running():
    with managers(sim={"yarn.service.sim.script": SCRIPT}) as found:
        yield found


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", INSTANCES)
def test_example(running, name, dialect):
    with open(os.path.join(ROOT, f"tests/contract/services_examples/{name}.json"), "rb") as f:
        text = f.read()
    manager = running("sim", dialect)
    service = "hbase-app-1" if name == "hbase" else "hello-world"
    answer = manager.services("POST", "/hbase-app-1" if name == "hbase" else "", text)
    assert answer.status == 202 and answer.json["state"] == "ACCEPTED" and answer.json["uri"] == f"/v1/services/{service}", answer
    assert answer.json["diagnostics"].startswith("Application ID: application_")
    assert "Ignored" not in answer.json["diagnostics"], "each member of the document is known"
    document = wait_for(lambda: next((d for d in [manager.service(service)] if d["state"] == READY[dialect]), None), "it is ready")
    assert {c["component_instance_name"] for c in containers(document)} == INSTANCES[name]
    assert {c["state"] for c in containers(document)} == {"READY"}
    if name == "anti-affinity":
        assert len({c["bare_host"] for c in containers(document)}) == 3, "one on each node"
    if name == "hbase":
        assert 0 < document["lifetime"] <= 3600
        assert document["quicklinks"]["HBase Master Status UI"] == "http://hbasemaster0.hbase-app-1.alice.bobbin.test:16010/master-status"
    assert manager.services("DELETE", f"/{service}").status == GONE[dialect]
