import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def group_of(path):
    """A file; of tests/interop a folder, whose files share servers."""
    folder = os.path.relpath(os.path.dirname(path), HERE)
    return folder if folder.startswith("interop/") else os.path.relpath(path, HERE)


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the marks
def pytest_collection_modifyitems(items):
    """Each group is run by one of the workers that `./dev test` has side by side."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(str(item.path))))


@pytest.fixture
def says(capsys):
    """Runs main(words) of a command; returns its exit code and what it has printed."""
    def run(main, *words):
        code = main(list(words))
        said = capsys.readouterr()
        return code, said.out + said.err
    return run
