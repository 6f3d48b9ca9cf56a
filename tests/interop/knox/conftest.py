import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../contract"), os.path.join(HERE, "../../e2e")]

import pytest  # noqa: E402

from gateway import Bobbin, Setting, SlowAnswers  # noqa: E402


@pytest.fixture(scope="session")
def behind():
    """One Knox for all tests."""
    slow = SlowAnswers(5)
    with Setting(slow.url) as setting:
        yield setting
    slow.close()


@pytest.fixture(scope="session")
def people(behind, tmp_path_factory):
    """`bobbin` through Knox."""
    return Bobbin(behind, tmp_path_factory.mktemp("people"))
