"""Store and mirror against real ZooKeeper servers that are killed, restarted and late."""
import random

import pytest

from follower import Follower
from zkproxy import Proxy
from zkwire import Client, session_of
from zookeeper import Ensemble, Server, four_letters, wait_for

pytestmark = pytest.mark.sanitize


@pytest.fixture(scope="module")
def zk():
    with Server() as server:
        yield server


def names(tree):
    return set(tree)


def data(tree):
    return {path: node[0] for path, node in tree.items()}


def same_as_truth(address, follower, root):
    """A second mirror, read from nothing, has what the first has followed its way to."""
    with Follower(address, root) as truth:
        truth.sync()
        follower.wait(truth.state()["applied"])
        truth.wait(follower.state()["applied"])
        expected, followed = truth.tree(), follower.tree()
        assert {p: n[:2] for p, n in followed.items()} == {p: n[:2] for p, n in expected.items()}
        too_small = [p for p, n in followed.items() if n[2] < expected[p][2]]
        assert not too_small, "the number of a node's last child change may be larger than the change's, never smaller"
        return expected


def test_missing_root_is_waited_for(zk):
    with Follower(zk.address, "/late") as f:
        assert f.ask("create /x 1").startswith("ERR_NOTFOUND")
        assert not f.state()["ready"]
        zxid = f.write("create / top")
        f.sync()
        f.wait(zxid)
        assert data(f.tree()) == {"/": "top"}
        assert f.store_id == format(zxid, "x")


def test_parent_of_root_missing(zk):
    with Follower(zk.address, "/no/such/root") as f:
        assert f.ask("create / top").startswith("ERR_NOTFOUND")


def test_root_deleted_and_made_again_is_another_store(zk):
    with Follower(zk.address, "/again") as f:
        first = f.write("create / one")
        f.sync()
        f.write("create /a 1")
        f.write("delete /a")
        gone = f.write("delete /")
        f.wait(gone)
        assert f.tree() == {}
        second = f.write("create / two")
        wait_for("the other store", lambda: f.state()["store_id"] == format(second, "x"))
        f.wait(second)
        assert first != second
        assert data(f.tree()) == {"/": "two"}


def test_zxids_are_those_of_the_changes(zk):
    with Follower(zk.address, "/zxids") as f:
        made = f.write("create / top")
        a = f.write("create /a 1")
        b = f.write("create /a/b 1")
        changed = f.write("set /a 2")
        f.sync()
        f.wait(changed)
        assert made < a < b < changed
        assert f.tree() == {"/": ("top", made, a), "/a": ("2", changed, b), "/a/b": ("1", b, b)}
        deleted = f.write("delete /a/b")
        assert deleted > changed
        f.wait(deleted)
        assert f.tree()["/a"] == ("2", changed, deleted)


def test_wide_and_deep_tree_is_read_whole(zk):
    with Follower(zk.address, "/wide") as f:
        f.write("create / top")
        f.write("create /w x")
        last = f.write("fill /w 5000")
        path = ""
        for depth in range(50):
            path += f"/d{depth}"
            last = f.write(f"create {path} {depth}")
        f.write("big /large 1000000")
        with Follower(zk.address, "/wide") as other:
            other.sync()
            assert other.state()["nodes"] == 5000 + 50 + 3
        f.wait(last)
        tree = same_as_truth(zk.address, f, "/wide")
        assert tree["/large"][0] == "(long)"


def test_changes_during_the_full_read(zk):
    rng = random.Random(7)
    with Follower(zk.address, "/busy") as f:
        f.write("create / top")
        f.sync()
        for i in range(20):
            f.write(f"create /g{i} x")
            f.write(f"fill /g{i} 50")
        with Follower(zk.address, "/busy") as other:
            for _ in range(300):
                g, n = rng.randrange(20), rng.randrange(80)
                f.ask(f"{rng.choice(['create', 'set', 'delete'])} /g{g}/{n}" + rng.choice(["", f" {n}"]))
            other.sync()
            other.wait(f.write("set / done"))
            same_as_truth(zk.address, other, "/busy")
            same_as_truth(zk.address, f, "/busy")


def test_kill_9_and_restart_of_the_server():
    with Server() as server, Follower(server.address) as f:
        f.write("create / top")
        for name in "abc":
            last = f.write(f"create /{name} 1")
        f.sync()
        f.wait(last)
        store_id = f.state()["store_id"]
        server.kill()
        wait_for("the mirror to say that it is stale", lambda: not f.state()["fresh"])
        assert names(f.tree()) == {"/", "/a", "/b", "/c"}, "the mirror keeps what it has"
        f.send("create /during 1")
        server.start()
        answer = f.line()
        assert answer.startswith("ok "), f"a write made while the server was away: {answer}"
        f.sync()
        f.wait(int(answer.split()[1]))
        assert data(f.tree()) == {"/": "top", "/a": "1", "/b": "1", "/c": "1", "/during": "1"}
        assert f.state()["store_id"] == store_id


def test_differences_after_a_cut_connection(zk):
    with Proxy(zk.port) as proxy, Follower(zk.address, "/cut", f"127.0.0.1:{proxy.port}") as f:
        f.write("create / top")
        for name in ("kept", "changed", "deleted", "replaced"):
            f.write(f"create /{name} old")
        f.write("create /deleted/below old")
        last = f.write("create /replaced/below old")
        f.sync()
        f.wait(last)
        proxy.refuse(True)
        proxy.cut()
        wait_for("the mirror to say that it is stale", lambda: not f.state()["fresh"])
        f.write("set /changed new")
        f.write("delete /deleted/below")
        f.write("delete /deleted")
        f.write("delete /replaced/below")
        f.write("delete /replaced")
        f.write("create /replaced new")
        last = f.write("create /made new")
        assert "/deleted/below" in f.tree(), "without a connection the mirror keeps what it has"
        proxy.refuse(False)
        f.sync()
        f.wait(last)
        assert data(f.tree()) == {"/": "top", "/kept": "old", "/changed": "new", "/replaced": "new", "/made": "new"}
        same_as_truth(zk.address, f, "/cut")


def test_cuts_at_any_moment_lose_nothing(zk):
    rng = random.Random(11)
    with Proxy(zk.port) as proxy, Follower(zk.address, "/cuts", f"127.0.0.1:{proxy.port}") as f:
        f.write("create / top")
        f.write("create /n x")
        f.write("fill /n 2000")
        for i in range(10):
            proxy.cut()
            f.ask(f"create /m{i} 1")
            f.ask(f"delete /n/{rng.randrange(2000)}")
        f.sync()
        f.wait(f.write("set / done"))
        same_as_truth(zk.address, f, "/cuts")


@pytest.fixture(scope="module")
def strict_zk():
    """A server that grants sessions of one second at most."""
    with Server(config="maxSessionTimeout=1000\n") as server:
        yield server


def test_expired_sessions_are_replaced(strict_zk):
    with Proxy(strict_zk.port) as proxy, Follower(f"127.0.0.1:{proxy.port}", "/expired") as f:
        f.write("create / top")
        f.sync()
        proxy.refuse(True)
        proxy.cut()
        wait_for("the sessions to expire", lambda: "Session Sets (0)/(0)" in four_letters(strict_zk.port, "dump"))
        proxy.refuse(False)
        f.wait(f.write("create /a 1"))
        f.sync()
        assert data(f.tree()) == {"/": "top", "/a": "1"}


@pytest.mark.parametrize("role", ["following", "writing"])
def test_a_session_that_somebody_else_closes_is_replaced(zk, role):
    """Who knows a session's id and password can take it over and close it."""
    root = f"/closed-{role}"
    with Proxy(zk.port) as proxy:
        proxy.hold("down")
        ours, theirs = f"127.0.0.1:{proxy.port}", zk.address
        with Follower(*((theirs, root, ours) if role == "following" else (ours, root, theirs))) as f:
            wait_for("the session", lambda: len(proxy.waiting("down")) >= 41)
            session = session_of(proxy.waiting("down")[4:])
            proxy.release("down")
            f.write("create / top")
            f.sync()
            proxy.refuse(True)  # else it would be taken back at once
            with Client(zk.address, session=session) as thief:
                assert thief.session == session
            wait_for("its end", lambda: f"0x{session[0]:x}" not in four_letters(zk.port, "dump"))
            proxy.refuse(False)
            f.make_sure("create", "/a", "1")
            f.wait(f.write("create /b 2"))
            wait_for("the mirror to be current", lambda: f.state()["fresh"])
            f.sync()
            assert data(f.tree()) == {"/": "top", "/a": "1", "/b": "2"}


def test_silent_server_is_noticed(strict_zk):
    with Proxy(strict_zk.port) as proxy, Follower(strict_zk.address, "/silent", f"127.0.0.1:{proxy.port}") as f:
        f.write("create / top")
        f.sync()
        proxy.hold("both")
        wait_for("the mirror to say that it is stale", lambda: not f.state()["fresh"])
        last = f.write("create /a 1")
        proxy.release("both")
        f.sync()
        f.wait(last)
        assert data(f.tree()) == {"/": "top", "/a": "1"}


def test_late_follower_server_misses_nothing_and_keeps_nothing():
    """Writes go through one server; the server that is followed learns of them late, by turns not at all."""
    proxies = {}

    def via(port):
        proxies[port] = Proxy(port)
        return proxies[port].port

    rng = random.Random(3)
    try:
        with Ensemble(3, via) as ensemble:
            late, writing = ensemble.servers[0], ensemble.leader()
            assert late is not writing
            with Follower(writing.address, "/registry", late.address) as f:
                f.write("create / top")
                f.sync()
                expected = {"/": "top"}
                for turn in range(6):
                    for proxy in proxies.values():
                        proxy.delay("down", 0.05)
                        if turn % 2:
                            proxy.hold("down")
                    last = 0
                    for i in range(25):
                        path = f"/n{rng.randrange(30)}"
                        if path in expected and rng.random() < 0.5:
                            last = f.make_sure("delete", path) or last
                            del expected[path]
                        else:
                            verb = "set" if path in expected else "create"
                            last = f.make_sure(verb, path, f"{turn}.{i}")
                            expected[path] = f"{turn}.{i}"
                    last = f.write("set / top")
                    if turn % 2:
                        assert f.state()["applied"] < last, "what the server does not know cannot be applied"
                        for proxy in proxies.values():
                            proxy.release("down")
                    f.wait(last)
                    assert data(f.tree()) == expected
                same_as_truth(writing.address, f, "/registry")
    finally:
        for proxy in proxies.values():
            proxy.close()


def test_leader_killed_in_an_ensemble():
    with Ensemble(3) as ensemble:
        with Follower(ensemble.address) as f:
            f.write("create / top")
            f.sync()
            acknowledged = {"/": "top"}
            for i in range(30):
                if i == 10:
                    killed = ensemble.leader()
                    killed.kill()
                if i == 20:
                    killed.start()
                answer = f.ask(f"create /n{i} {i}")
                assert answer.startswith(("ok ", "ERR_EXISTS")), answer
                acknowledged[f"/n{i}"] = str(i)
            f.sync()
            f.wait(f.write("set / done"))
            acknowledged["/"] = "done"
            assert data(f.tree()) == acknowledged
            same_as_truth(ensemble.address, f, "/registry")
