"""ZooKeeper restored from an old snapshot while registryd does not run: no number of before is taken for one of after."""
import os
import shutil

import pytest

import zookeeper
from harness import Feed, Registry, container, wait_for

pytestmark = pytest.mark.sanitize

PATH = "/users/alice/services/yarn-service/shop/components/ctr-1-1-1-1"
OPTIONS = {"hadoop.registry.zk.connection.timeout.ms": "1000", "hadoop.registry.zk.retry.interval.ms": "100",
           "hadoop.registry.zk.retry.ceiling.ms": "200"}


def bind(reg, number):
    answer = reg.registry("PUT", PATH, container("web-0", "web", f"127.77.0.{number}"), query="createParents=true&overwrite=true")
    assert answer.status in (200, 201), answer
    return answer.headers["Bobbin-Revision"]


def parts(revision):
    store_id, number = revision.rsplit(".", 1)
    return store_id, int(number)


def restart(reg):
    reg.registryd.stop()
    reg.registryd.start("registry_synced")
    wait_for(lambda: reg.registry("GET", "", base="/readyz").status == 200, "registryd is ready")


def resumes(reg, revision):
    feed = Feed(reg, f"&since={revision}")
    feed.close()
    return {200: True, 410: False}[feed.status]


def test_a_number_of_before_is_not_taken_for_one_of_after():
    with zookeeper.Server() as zk, Registry(store=f"zk://{zk.address}/registry", options={"registryd": OPTIONS}) as reg:
        here, kept = os.path.join(zk.dir, "version-2"), os.path.join(zk.dir, "kept")
        bind(reg, 1)
        reg.registryd.stop()
        zk.stop()
        shutil.copytree(here, kept)
        zk.start()
        reg.registryd.start("registry_synced")
        wait_for(lambda: reg.registry("GET", "", base="/readyz").status == 200, "registryd is ready")
        late = bind(reg, 2)
        restart(reg)
        assert parts(bind(reg, 2))[0] == parts(late)[0], "a restart alone changes nothing"
        reg.registryd.kill()
        zk.kill()
        shutil.rmtree(here)
        os.rename(kept, here)
        zk.start()
        reg.registryd.start("registry_synced", "store_went_back")
        wait_for(lambda: parts(bind(reg, 3))[1] > parts(late)[1], "the numbers of before are given out again")
        assert not resumes(reg, late)
        now = bind(reg, 4)
        assert parts(now)[0] != parts(late)[0]
        assert resumes(reg, now)
        restart(reg)
        assert parts(bind(reg, 5))[0] == parts(now)[0], "the new id stays"
        assert not resumes(reg, late)
