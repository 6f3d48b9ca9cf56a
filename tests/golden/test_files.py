"""What a process finds in its working directory, byte for byte.

A case is a folder: `definition.json`, a service with one component whose command is added here; `in/`, the sources that it names
as @IN@/…; a folder in/x.tar.gz.d or in/x.zip.d becomes the archive in/x.tar.gz or in/x.zip; `work/`, all that the directory has.
"""
import json
import os
import shutil
import tarfile
import zipfile

import pytest

from harness import DOMAIN, Manager, containers

pytestmark = pytest.mark.sanitize
HERE = os.path.dirname(os.path.abspath(__file__))
CASES = sorted(name for name in os.listdir(HERE) if os.path.exists(os.path.join(HERE, name, "definition.json")))


@pytest.fixture(scope="module")
def manager():
    options = {"yarn.nodemanager.resource.cpu-vcores": "1000", "yarn.nodemanager.resource.memory-mb": "100000"}
    with Manager(options={"svcmgr": options}) as m:
        yield m


def tree(top):
    """Name -> content of each file below a directory."""
    found = {}
    for directory, _, files in os.walk(top):
        for name in files:
            path = os.path.join(directory, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, top)] = f.read()
    return found


def members(directory):
    return [(os.path.join(directory, name), name) for name in sorted(tree(directory))]


def make_archives(top):
    for name in os.listdir(top):
        path = os.path.join(top, name)
        if name.endswith(".tar.gz.d"):
            with tarfile.open(path[:-2], "w:gz") as t:
                for source, member in members(path):
                    t.add(source, member)
        if name.endswith(".zip.d"):
            with zipfile.ZipFile(path[:-2], "w") as z:
                for source, member in members(path):
                    z.write(source, member)


def inputs(manager, case):
    """The sources of a case where the containers' user reads them."""
    given, top = os.path.join(HERE, case, "in"), os.path.join(manager.dir, f"in-{case}")
    if os.path.exists(given):
        shutil.copytree(given, top)
        make_archives(top)
        for directory, _, files in os.walk(top):
            os.chmod(directory, 0o755)
            for name in files:
                os.chmod(os.path.join(directory, name), 0o644)
    return top


@pytest.mark.parametrize("case", CASES)
def test_working_directory(manager, case):
    with open(os.path.join(HERE, case, "definition.json"), encoding="utf-8") as f:
        definition = json.loads(f.read().replace("@IN@", inputs(manager, case)))
    [component] = definition["components"]
    component.update({"number_of_containers": 1, "resource": {"cpus": 1, "memory": "8"}})
    component.setdefault("launch_command", "exec sleep 1000")
    manager.launch({"name": case, "version": "1", **definition})
    [container] = containers(manager.service(case))
    work = os.path.join(manager.dir, "svcmgr", "containers", container["id"], "work")
    assert tree(work) == {name: content.replace(b"@DOMAIN@", DOMAIN.encode())
                          for name, content in tree(os.path.join(HERE, case, "work")).items()}
