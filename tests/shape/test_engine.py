"""The engine changes what it counts and sorts by in one place, and an event costs what it changes."""
import os
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SORTED_BY = re.compile(r"\b(?:inst|there)->(?:state|due_ms|last_exit)\s*=[^=]|->(?:removing|unplaced)\s*=[^=]")
WALK = re.compile(r"\bTAILQ_FOREACH\w* ?\([^;{]*instances, link\)|\bTAILQ_(?:FIRST|NEXT)\([^;]*(?:->instances|, link)\)")
HASHED = re.compile(r"\bMAP_EACH\b")
# A walk through all instances of a component, in one step, is for these: what a launch says of dependencies; and, once for as many
# as a step changes, which of a Slider component go first and which final ones of a new definition start again.
WALKS = {"svcmgr/engine/instances.c", "svcmgr/engine/launch.c", "svcmgr/engine/policy_slider.c", "svcmgr/engine/revision.c"}
# The order in which a hash map has its items reaches no effect here: they look for the least, or for any.
HASHED_ORDER = {"svcmgr/engine/homes.c", "svcmgr/engine/nodes.c", "svcmgr/engine/places.c"}


def lines(pattern):
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", pattern], cwd=ROOT, text=True,
                           capture_output=True, check=True).stdout.split()
    for path in files:
        if os.path.exists(os.path.join(ROOT, path)):
            with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                yield from ((path, n, line) for n, line in enumerate(f, 1))


@pytest.mark.parametrize("pattern, allowed, instead", [
    (SORTED_BY, {"svcmgr/engine/instances.c"}, "instance_enter, instance_set_due, instance_set_exit, … change these"),
    (WALK, WALKS, "a step looks at the instances it changes: counters, heaps, instances_next in slices (instances.c)"),
    (HASHED, HASHED_ORDER, "effects come in the order of keys or of events, never in that of a hash"),
], ids=["state", "walk", "order"])
def test_engine(pattern, allowed, instead):
    bad = [f"{path}:{n}: {line.strip()}" for path, n, line in lines("svcmgr/engine/*.c")
           if path not in allowed and pattern.search(line)]
    assert not bad, instead + "\n" + "\n".join(bad)
