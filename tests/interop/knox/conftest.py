import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../contract"), os.path.join(HERE, "../../e2e")]

import pytest  # noqa: E402

from gateway import Bobbin, Setting  # noqa: E402


@pytest.fixture(scope="session")
def behind():
    """One Knox for all tests."""
    with Setting() as setting:
        yield setting


@pytest.fixture(scope="session")
def people(behind, tmp_path_factory):
    """`bobbin` through Knox."""
    return Bobbin(behind, tmp_path_factory.mktemp("people"))
