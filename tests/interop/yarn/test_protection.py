"""Services of svcmgr on a real YARN cluster that protects its calls by integrity, by one key that the cluster and svcmgr read from the same file."""
import pytest

from services import Ours, sleepers
from yarn import Cluster


@pytest.fixture(scope="module")
def services():
    with Cluster(settings={"hadoop.rpc.protection": "integrity", "yarn.scheduler.minimum-allocation-mb": 32}) as cluster, Ours(cluster) as ours:
        yield ours


def test_a_service_with_integrity(services):
    name = services.launch(sleepers("signed", 2))
    services.until(name, 2)
    services.flex(name, "sleeper", 3)
    services.until(name, 3)
    services.until_tidy(name)
    services.destroy(name)
