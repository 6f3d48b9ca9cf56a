"""services_flows.json: the rows of dependency order (12.3) and of the flows of a service's life (12.4)."""
import pytest

from services_flow import Flow, asked, managers, names, table

TABLE = table("services_flows.json")
ASKED = [(cluster, *pair) for cluster in ("sim", "local") for pair in asked(TABLE["rows"], cluster)]
SCRIPT = ("nodes 3 memory=65536 vcores=64; delay allocate=0-5 start=0-5 stop=0-5 ready=0-5; end exit=1 of=fails-* after=1-5; "
          "end exit=0 of=exits-* after=1-5; end exit=0 of=slowly-* after=20-40; end exit=1 of=once-* after=1-5 attempts=1; "
          "end exit=0 of=once-* after=1-5")


@pytest.fixture(scope="module")
def running():
    with managers(sim={"yarn.service.sim.script": SCRIPT, "yarn.service.stop-containers-on-exit": "false",
                       "yarn.service.container-failure.retry-interval-ms": "10"}) as found:
        yield found


def test_every_row_of_the_contract_is_there():
    found = {row["row"].split(".")[0] for row in TABLE["rows"]}
    wanted = {"D": 8, "F": 25, "G": 20}
    assert {f"{kind}{n + 1}" for kind, count in wanted.items() for n in range(count)} <= found
    assert len({row["row"] for row in TABLE["rows"]}) == len(TABLE["rows"]), "each row has a name of its own"


@pytest.mark.parametrize("cluster,dialect,row", ASKED, ids=names(pair[1:] for pair in ASKED))
def test_row(running, cluster, dialect, row):
    with Flow(running(cluster, dialect), dialect, TABLE["services"]) as flow:
        flow.run(row["steps"])
