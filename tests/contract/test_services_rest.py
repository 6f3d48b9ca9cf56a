"""services_rest.json: the rows of the REST surface (12.1), the failures of each endpoint (1.4) and the rules of input (2.1)."""
import pytest

from services_flow import Flow, asked, managers, names, table

TABLE = table("services_rest.json")
ASKED = [(cluster, *pair) for cluster in ("sim", "local") for pair in asked(TABLE["rows"], cluster)]


@pytest.fixture(scope="module")
def running():
    with managers() as found:
        yield found


def test_every_row_of_the_contract_is_there():
    found = {row["row"].split(".")[0] for row in TABLE["rows"]}
    assert {f"A{n}" for n in range(1, 29)} | {f"B{n}" for n in range(1, 20)} <= found
    assert len({row["row"] for row in TABLE["rows"]}) == len(TABLE["rows"]), "each row has a name of its own"


@pytest.mark.parametrize("cluster,dialect,row", ASKED, ids=names(pair[1:] for pair in ASKED))
def test_row(running, cluster, dialect, row):
    with Flow(running(cluster, dialect), dialect, TABLE["services"]) as flow:
        flow.run(row["steps"])
