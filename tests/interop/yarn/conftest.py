import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import pytest  # noqa: E402

from kept import start_time  # noqa: E402
from yarn import Cluster, containers  # noqa: E402


@pytest.fixture(scope="session")
def yarn():
    """One cluster for all tests; it remembers two applications that have ended."""
    with Cluster(settings={"yarn.resourcemanager.max-completed-applications": 2}) as cluster:
        yield cluster
    assert not os.path.exists(cluster.dir) and not containers(cluster.dir) and not any(start_time(m.pid) for m in cluster.members)
