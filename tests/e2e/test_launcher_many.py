"""Frameworks of many tasks on a simulated cluster where a tenth of the processes ends with a transient code: what is tried again is counted, each once."""
import re

import pytest

from frameworks import Frameworks, role
from harness import SANITIZED, Manager, request, wait_for

pytestmark = pytest.mark.sanitize

TASKS = 500 if SANITIZED else 2000
LONG = 120  # seconds, on a machine that does much else
SCRIPT = ("nodes 100 memory=262144 vcores=1000; "
          "end exit=137 of=* share=10% after=0-300ms; end exit=0 of=* after=0-300ms")


@pytest.fixture(scope="module")
def stack():
    options = {"yarn.service.cluster": "sim", "yarn.service.sim.script": SCRIPT, "yarn.service.sim.seed": "7"}
    with Manager(options={"svcmgr": options}) as s:
        yield s


def tasks_of(n, **more):
    return role("work", ["/work"], n, **more)


def ended(stack):
    """Processes that have ended, by what the cluster reported."""
    text = request(stack.services_port, "GET", "/metrics").body.decode()
    return int(re.search(r"^svcmgr_container_exits_total (\d+)$", text, re.M).group(1))


def held(stack):
    text = request(stack.services_port, "GET", "/metrics").body.decode()
    return int(re.search(r"^svcmgr_containers (\d+)$", text, re.M).group(1))


def retries(tasks):
    """(sum of retriedCount, sum of transientNormalRetriedCount), after a look that nothing else was counted."""
    states = [t["taskRetryPolicyState"] for t in tasks]
    for state in states:
        assert {key for key, value in state.items() if value} <= {"retriedCount", "transientNormalRetriedCount"}
    return sum(s["retriedCount"] for s in states), sum(s["transientNormalRetriedCount"] for s in states)


def sequence(task):
    """Number of the container among those of its application."""
    return int(task["containerId"].rpartition("_")[2])


def test_many_tasks_complete_and_their_retries_are_those_that_failed(stack):
    frameworks, before = Frameworks(stack.services_port), ended(stack)
    half = TASKS // 2
    frameworks.put("many", {"fancy": tasks_of(half, taskRetryPolicy={"fancyRetryPolicy": True}),
                            "blind": tasks_of(half, taskRetryPolicy={"maxRetryCount": -1})})
    status = frameworks.completed("many", LONG)
    assert (status["applicationExitCode"], status["applicationProgress"]) == (0, 1.0)
    fancy, blind = frameworks.tasks("many", "fancy"), frameworks.tasks("many", "blind")
    assert [t["taskIndex"] for t in fancy] == [t["taskIndex"] for t in blind] == list(range(half))
    assert {(t["taskState"], t["containerExitCode"], t["containerExitType"]) for t in fancy + blind} == {("TASK_COMPLETED", 0, "SUCCEEDED")}
    (counted, transient), (counted_blind, transient_blind) = retries(fancy), retries(blind)
    assert counted == 0  # the fancy policy retries what is transient without counting it
    assert counted_blind == transient_blind
    assert transient + transient_blind == ended(stack) - before - TASKS
    assert 0.05 * TASKS < transient + transient_blind < 0.2 * TASKS
    assert len({t["containerId"] for t in fancy + blind}) == TASKS
    assert max(map(sequence, fancy + blind)) - min(map(sequence, fancy + blind)) < ended(stack) - before  # a container for each process
    assert wait_for(lambda: held(stack) == 0, "every container is released")


def test_tasks_that_may_not_be_tried_again_end_their_framework_with_the_first_that_fails(stack):
    frameworks = Frameworks(stack.services_port)
    frameworks.put("strict", {"w": tasks_of(TASKS)})
    status = frameworks.completed("strict", LONG)
    assert (status["applicationExitCode"], status["applicationExitType"], status["applicationExitTriggerTaskRoleName"]) == (137, "TRANSIENT_NORMAL", "w")
    tasks = frameworks.tasks("strict")
    trigger = tasks[status["applicationExitTriggerTaskIndex"]]
    assert (trigger["containerExitCode"], len(tasks)) == (137, TASKS)
    assert retries(tasks) == (0, 0)
    assert {t["containerExitCode"] for t in tasks} <= {0, 137, -7400}
    assert wait_for(lambda: held(stack) == 0, "every container is released")


def test_failures_up_to_a_number_are_borne(stack):
    frameworks, before = Frameworks(stack.services_port), ended(stack)
    frameworks.put("tolerant", {"w": tasks_of(TASKS, applicationCompletionPolicy={"minFailedTaskCount": None})})
    assert frameworks.completed("tolerant", LONG)["applicationExitCode"] == 0
    codes = [t["containerExitCode"] for t in frameworks.tasks("tolerant")]
    assert set(codes) == {0, 137}
    assert 0.05 * TASKS < codes.count(137) < 0.2 * TASKS
    assert ended(stack) - before == TASKS
