import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def group_of(item):
    """A file; of tests/interop a folder, whose files share servers, or a part of it."""
    folder = os.path.relpath(os.path.dirname(str(item.path)), HERE)
    if not folder.startswith("interop/"):
        return os.path.relpath(str(item.path), HERE)
    part = item.get_closest_marker("group")
    return f"{folder} {part.args[0]}" if part else folder


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the marks
def pytest_collection_modifyitems(items):
    """Each group is run by one of the workers that `./dev test` has side by side."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))


@pytest.fixture
def says(capsys):
    """Runs main(words) of a command; returns its exit code and what it has printed."""
    def run(main, *words):
        code = main(list(words))
        said = capsys.readouterr()
        return code, said.out + said.err
    return run
