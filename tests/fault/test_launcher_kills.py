"""kill -9 of svcmgr in the life of a framework, over HTTP: its tasks go on, each container is started once, retries are counted once, and
what was answered is done.

Each start of a task appends a line `application role index container` to a file. The life of `retried` has 14 of them: in each of two
applications two workers that fail three times, and a judge, who fails in the first application and succeeds in the second.
"""
import os
import random
import time

import pytest

from frameworks import Frameworks, role
from harness import Manager, request, wait_for

pytestmark = pytest.mark.sanitize

OPTIONS = {"yarn.service.launcher.conflict-min-delay": "3s", "yarn.service.launcher.gang-timeout": "1s"}
NOTE = r"echo \"$APP_ID $TASK_ROLE_NAME $TASK_INDEX $CONTAINER_ID\" >> {dir}/starts; "
WORK = NOTE + "sleep 0.2; exit 7"
JUDGE = NOTE + (r"until test \$(grep -c \"^$APP_ID worker\" {dir}/starts) = 6; do sleep 0.05; done; sleep 0.4; "
                "test -e {dir}/again && exit 0; touch {dir}/again; echo wrong >&2; exit 9")
ROLES = {"worker": 6, "judge": 1}
COUNTERS = ["succeededRetriedCount", "transientNormalRetriedCount", "transientConflictRetriedCount", "nonTransientRetriedCount",
            "unKnownRetriedCount"]


class Life:
    """One framework, and a svcmgr that is killed."""

    def __init__(self, stack, name):
        self.stack, self.name, self.api = stack, name, Frameworks(stack.services_port)
        self.dir = os.path.join(stack.dir, name)
        os.mkdir(self.dir)
        os.chmod(self.dir, 0o777)
        self.source = os.path.join(self.dir, "source")
        with open(self.source, "w", encoding="utf-8") as f:
            f.write("nothing\n")

    def role(self, entry, n=1, **more):
        return role(entry.replace("{dir}", self.dir), [self.source], n, **more)

    def put_retried(self):
        never = {"minFailedTaskCount": None}
        self.api.put(self.name, retryPolicy={"maxRetryCount": 1}, roles={
            "worker": self.role(WORK, 2, taskRetryPolicy={"maxRetryCount": 2}, applicationCompletionPolicy=never),
            "judge": self.role(JUDGE, applicationCompletionPolicy={"minFailedTaskCount": 1, "minSucceededTaskCount": 1})})

    def kill(self):
        self.stack.svcmgr.kill()
        self.stack.svcmgr.start("svcmgr_ready")

    def document(self):
        answer = self.api.ask("GET", self.name, "/AggregatedFrameworkStatus")
        assert answer.status == 200, answer
        return answer.json

    def starts(self):
        try:
            with open(os.path.join(self.dir, "starts"), encoding="utf-8") as f:
                return [tuple(line.split()) for line in f]
        except FileNotFoundError:
            return []

    def until_started(self, n):
        """A container that runs has a process, which may not have come to its first line."""
        wait_for(lambda: len(self.starts()) >= n, f"{n} containers have started")

    def until_stored(self):
        """What was shown until now is stored: an answer says that its request is, and writes keep their order."""
        answer = request(self.stack.services_port, "PUT", "/v1/LauncherRequest/ClusterConfiguration", {"nodes": None})
        assert answer.status == 202, answer

    def delete(self):
        self.api.delete(self.name)
        self.until_gone()

    def until_gone(self):
        wait_for(lambda: not os.listdir(f"{self.stack.dir}/svcmgr/containers"), "its containers are gone")


@pytest.fixture
def stack():
    with Manager(options={"svcmgr": OPTIONS}) as s:
        yield s


@pytest.fixture
def life(stack):
    return Life(stack, "life")


def retries(state):
    return tuple(state[name] for name in ["retriedCount", *COUNTERS])


def tasks_of(document):
    """Statuses of all tasks, by role and index."""
    return {(name, task["taskIndex"]): task for name, one in document["aggregatedTaskRoleStatuses"].items()
            for task in one["taskStatuses"]["taskStatusArray"]}


def shape(document):
    """What a client sees change: states, application and containers."""
    status = document["frameworkStatus"]
    return (status["frameworkState"], status["applicationId"],
            {place: (task["taskState"], task["containerId"]) for place, task in tasks_of(document).items()})


def is_over(document):
    return document["frameworkStatus"]["frameworkState"] == "FRAMEWORK_COMPLETED"


def assert_no_step_back(before, after):
    """Nothing that was counted or had come to its end is forgotten."""
    was, now = before["frameworkStatus"], after["frameworkStatus"]
    assert retries(now["frameworkRetryPolicyState"]) >= retries(was["frameworkRetryPolicyState"])
    if was["frameworkState"] == "FRAMEWORK_COMPLETED":
        assert untimed(after) == untimed(before)
    if was["applicationId"] is None or now["applicationId"] != was["applicationId"]:
        return
    then = tasks_of(after)
    for place, task in tasks_of(before).items():
        assert retries(then[place]["taskRetryPolicyState"]) >= retries(task["taskRetryPolicyState"]), place
        if task["taskState"] == "TASK_COMPLETED":
            assert untimed(then[place]) == untimed(task)


def untimed(value):
    """Without the times of ends: what was shown, and was not stored yet, is found out again."""
    if isinstance(value, list):
        return [untimed(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: untimed(one) for name, one in value.items() if not name.endswith("CompletedTimestamp")}


def killed(life, before):
    """Kill; the document when all is there that had been shown before."""
    def there():
        after = life.document()
        assert_no_step_back(before, after)
        return after
    life.kill()
    return wait_for(there, "nothing is forgotten")


def assert_lived(life):
    """It has come to its end as if nobody had been killed, and is deleted."""
    document = life.document()
    status = document["frameworkStatus"]
    assert (status["applicationExitCode"], status["applicationExitType"]) == (0, "SUCCEEDED"), status
    assert (status["applicationExitTriggerTaskRoleName"], status["applicationExitTriggerTaskIndex"]) == ("judge", 0), status
    assert retries(status["frameworkRetryPolicyState"]) == (1, 0, 0, 0, 0, 1), status
    tasks = tasks_of(document)
    assert [retries(tasks["worker", i]["taskRetryPolicyState"]) for i in range(2)] == [(2, 0, 0, 0, 0, 2)] * 2, tasks
    life.delete()
    starts = life.starts()
    assert len({container for *_, container in starts}) == len(starts), "no container was started twice"
    apps = list(dict.fromkeys(app for app, *_ in starts))
    assert len(apps) == 2 and apps[1] == status["applicationId"], starts
    assert [(app, name, sum(s[:2] == (app, name) for s in starts)) for app in apps for name in ROLES] == \
        [(app, name, n) for app in apps for name, n in ROLES.items()]


def test_a_kill_at_each_transition(life):  # F68
    """Whenever a client sees what it has not seen before, svcmgr is killed."""
    life.put_retried()
    seen, document = [], life.document()

    def something_new():
        now = life.document()
        return shape(now) not in seen and now
    while not is_over(document):
        document = wait_for(something_new, "something new is seen")
        seen.append(shape(document))
        document = killed(life, document)
    assert len(seen) >= 20, seen
    assert_lived(life)


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_at_any_moment(life, seed):
    chance = random.Random(seed)
    life.put_retried()
    document = life.document()
    while not is_over(document):
        time.sleep(chance.random() * 0.3)  # any moment: nothing is awaited
        document = killed(life, life.document())
    assert_lived(life)


def test_what_was_answered_is_done(life):
    """A kill right after the answer to each kind of request."""
    def until(what, condition):
        return wait_for(lambda: condition(life.document()), what)

    def containers(document):
        return [t["containerId"] for t in tasks_of(document).values() if t["taskState"] == "CONTAINER_RUNNING"]

    fancy = {"taskRetryPolicy": {"fancyRetryPolicy": True, "maxRetryCount": 0}}
    roles = {"w": life.role(NOTE + "sleep 1000", 2, **fancy)}
    life.api.put(life.name, roles)
    life.kill()
    until("it runs", lambda d: len(containers(d)) == 2)
    life.until_started(2)
    assert life.api.ask("PUT", life.name, "/TaskRoles/w/TaskNumber", {"taskNumber": 3}).status == 202
    life.kill()
    first = until("it has grown", lambda d: len(containers(d)) == 3 and containers(d))
    life.until_started(3)
    assert life.api.ask("PUT", life.name, f"/MigrateTasks/{first[0]}", {}).status == 202
    life.kill()
    second = until("one has moved", lambda d: len(containers(d)) == 3 and first[0] not in containers(d) and containers(d))
    assert second[1:] == first[1:]
    life.until_started(4)
    assert retries(tasks_of(life.document())["w", 0]["taskRetryPolicyState"]) == (0, 0, 1, 0, 0, 0)
    assert life.api.ask("PUT", life.name, "/ApplicationProgress", {"applicationProgress": 0.5}).status == 202
    life.kill()
    until("its progress", lambda d: d["frameworkStatus"]["applicationProgress"] == 0.5)
    assert life.api.ask("PUT", life.name, "/ExecutionType", {"executionType": "STOP"}).status == 202
    life.kill()
    document = killed(life, until("it has stopped", lambda d: is_over(d) and d))
    assert document["frameworkStatus"]["applicationExitCode"] == -7351
    life.until_stored()
    life.kill()
    assert life.document() == document
    life.api.put(life.name, roles, version=4)
    life.kill()
    until("the next version runs", lambda d: d["frameworkStatus"]["frameworkVersion"] == 4 and len(containers(d)) == 2)
    life.until_started(6)
    life.api.put(life.name, roles, version=5)
    life.kill()
    until("another", lambda d: d["frameworkStatus"]["frameworkVersion"] == 5 and len(containers(d)) == 2)
    life.until_started(8)
    life.api.delete(life.name)
    life.kill()
    assert life.api.ask("GET", life.name).status == 404
    life.until_gone()
    assert life.api.ask("GET", life.name, "/FrameworkRequest").status == 404
    assert len(life.starts()) == 8


def test_one_that_is_deleted_and_put_at_once_is_another(life):
    """What is stored of the one before is not taken for the state of the new one, which has the same name and version."""
    roles = {"w": life.role(NOTE + "sleep 1000")}
    life.api.put(life.name, roles)
    life.api.until_tasks(life.name, "CONTAINER_RUNNING", 1)
    life.until_started(1)
    for n in range(2, 6):
        before = life.api.status(life.name)
        life.api.delete(life.name)
        life.api.put(life.name, roles)
        life.kill()
        wait_for(lambda: life.api.status(life.name)["applicationId"] not in (None, before["applicationId"]), "another application")
        life.api.until_tasks(life.name, "CONTAINER_RUNNING", 1)
        life.until_started(n)
        status = life.api.status(life.name)
        assert status["frameworkCreatedTimestamp"] > before["frameworkCreatedTimestamp"], status
        assert retries(status["frameworkRetryPolicyState"]) == (0, 0, 0, 0, 0, 0), status
    life.delete()
    assert len({container for *_, container in life.starts()}) == len(life.starts()) == 5


def test_how_it_ended_is_kept(life):
    life.api.put(life.name, {"w": life.role(NOTE + "echo it broke >&2; exit 3")})
    status = life.api.completed(life.name)
    assert status["applicationExitCode"] == 3 and "it broke" in status["applicationExitDiagnostics"], status
    killed(life, life.document())
    before = life.api.ask("GET", life.name).json
    life.until_stored()
    for _ in range(2):
        life.kill()
        assert life.api.ask("GET", life.name).json == before
    life.delete()
    assert len(life.starts()) == 1


def test_a_back_off_ends_when_it_was_to_end(stack):
    """The application that got no containers is tried again 3 s after its end, however often svcmgr was killed meanwhile."""
    stack.svcmgr.stop()
    stack.svcmgr.options["yarn.nodemanager.resource.cpu-vcores"] = "2"
    stack.svcmgr.start("svcmgr_ready")
    life = Life(stack, "gang")
    life.api.put(life.name, {"w": life.role(NOTE + "sleep 1000", 3)}, retryPolicy={"fancyRetryPolicy": True},
                 platformSpecificParameters={"gangAllocation": True})

    def waits():
        life.kill()
        status = life.api.status(life.name)
        return status["frameworkState"] == "APPLICATION_COMPLETED" and status
    ended = wait_for(waits, "it is in its back-off")
    assert ended["applicationExitCode"] == -7252, ended

    def again():
        if time.time() * 1000 < ended["applicationCompletedTimestamp"] + 3000:
            life.kill()
        status = life.api.status(life.name)
        return status["applicationId"] not in (None, ended["applicationId"]) and status
    status = wait_for(again, "it is tried again")
    took = status["applicationLaunchedTimestamp"] - ended["applicationCompletedTimestamp"]
    assert 3000 <= took < 6000, took
    assert retries(status["frameworkRetryPolicyState"]) == (0, 0, 0, 1, 0, 0), status
    life.delete()
    assert not life.starts()
