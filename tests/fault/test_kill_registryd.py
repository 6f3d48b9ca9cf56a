"""kill -9 of registryd, on both stores: nothing acknowledged is lost, the others go on and come back by themselves."""
import http.client
import json
import os
import threading

import pytest

from harness import HELLO, STORES, Stack, container, containers, dig_full, request, store_url, wait_for

pytestmark = pytest.mark.sanitize

USER = "/users/alice/services/yarn-service/shop/components"
N_WRITERS = 4


class Writer(threading.Thread):
    """Binds records one after another, and deletes every third again, until registryd is gone; notes what was acknowledged.

    The last request is not answered: whether it happened is unknown, so its path counts for nothing.
    """

    def __init__(self, port, number):
        super().__init__(daemon=True)
        self.port, self.number = port, number
        self.bound, self.deleted, self.unknown = {}, set(), None

    def record(self, path):
        i = int(path.rsplit("-", 1)[1])
        return container(f"w{self.number}-{i}", "w", f"127.77.{self.number}.{i % 250 + 1}")

    def run(self):
        for i in range(100000):
            path = f"{USER}/ctr-{self.number}-1-1-{i}"
            record = self.record(path)
            try:
                self.unknown = path
                answer = request(self.port, "PUT", f"/ws/v1/registry{path}?createParents=true", record)
                assert answer.status == 201, answer
                self.bound[path] = record
                if i % 3 == 2:
                    del self.bound[path]
                    assert request(self.port, "DELETE", f"/ws/v1/registry{path}").json["deleted"] is True
                    self.deleted.add(path)
            except (OSError, http.client.HTTPException):
                return


def tree(stack):
    """Every record of the registry by path."""
    found, cursor = {}, ""
    while cursor is not None:
        page = stack.registry("GET", "/", query="recursive=true" + (f"&cursor={cursor}" if cursor else "")).json
        found.update({node["path"]: node["service"] for node in page["tree"] if "service" in node})
        cursor = page.get("cursor")
    return found


@pytest.mark.parametrize("kind", STORES)
def test_nothing_acknowledged_is_lost(kind):
    with store_url(kind) as url, Stack(store=url) as stack:
        for round_number in range(3):
            writers = [Writer(stack.registry_port, 10 * round_number + k) for k in range(N_WRITERS)]
            for writer in writers:
                writer.start()
            wait_for(lambda: all(len(w.bound) > 20 for w in writers), "some writes are acknowledged")
            stack.registryd.kill()
            for writer in writers:
                writer.join()
            stack.registryd.start("registry_synced")
            kept = tree(stack)
            for writer in writers:
                for path, record in writer.bound.items():
                    assert kept.get(path) == record or path == writer.unknown, f"{path} was acknowledged and is lost"
                half = [path for path in kept if path not in writer.bound and path.startswith(f"{USER}/ctr-{writer.number}-")
                        and kept[path] != writer.record(path)]
                assert not half, f"{half} are half written"
                back = [path for path in writer.deleted if path in kept]
                assert not back, f"{back} were deleted and are back"
        before = stack.registry("GET", "/").headers["Bobbin-Revision"]
        stack.sync(before)
        name = next(iter(writers[0].bound))
        assert stack.dig(f"{os.path.basename(name)}.bobbin.test") == [writers[0].bound[name]["yarn:ip"]]


def test_dnsd_goes_on_says_so_and_catches_up():
    with Stack() as stack:
        path = f"{USER}/ctr-1-2-3-4"
        stack.sync(stack.bind(path, container("web-0", "web", "127.77.0.9")).headers["Bobbin-Revision"])
        fresh = dig_full(stack.dns_port, "web-0.shop.alice.bobbin.test", "A")
        assert "127.77.0.9" in fresh and "EDE" not in fresh

        stack.registryd.kill()
        stack.dnsd.event("feed_lost")
        stale = wait_for(lambda: next((t for t in [dig_full(stack.dns_port, "web-0.shop.alice.bobbin.test", "A")]
                                       if "EDE: 3" in t), None), "an answer that says it is stale")
        assert "status: NOERROR" in stale and "127.77.0.9" in stale and "flags: qr aa" in stale
        missing = dig_full(stack.dns_port, "nobody.shop.alice.bobbin.test", "A")
        assert "status: NXDOMAIN" in missing
        assert request(stack.dns_http_port, "GET", "/readyz").status == 200
        assert "registry_stale 1" in request(stack.dns_http_port, "GET", "/metrics").body.decode()

        stack.registryd.start("registry_synced")
        stack.sync(stack.bind(path, container("web-0", "web", "127.77.0.10")).headers["Bobbin-Revision"])
        back = dig_full(stack.dns_port, "web-0.shop.alice.bobbin.test", "A")
        assert "127.77.0.10" in back and "127.77.0.9" not in back and "EDE" not in back
        stack.dnsd.event("feed_back")


def test_what_was_deleted_while_dnsd_was_cut_off_goes():
    """dnsd follows anew after a restart of registryd; a delete that it did not see as a change still takes the name away."""
    with Stack() as stack:
        path = f"{USER}/ctr-1-2-3-4"
        stack.sync(stack.bind(path, container("web-0", "web", "127.77.0.9")).headers["Bobbin-Revision"])
        stack.dnsd.process.send_signal(19)  # SIGSTOP: it misses what follows
        try:
            assert stack.registry("DELETE", path).json["deleted"] is True
            stack.registryd.kill()
            stack.registryd.start("registry_synced")
        finally:
            stack.dnsd.process.send_signal(18)  # SIGCONT
        stack.sync_all()
        assert "NXDOMAIN" in dig_full(stack.dns_port, "web-0.shop.alice.bobbin.test", "A")


def test_records_of_containers_started_meanwhile_appear():
    with Stack(services=True) as stack:
        stack.registryd.kill()
        service = stack.launch(HELLO)
        assert len(containers(service)) == 2
        stack.registryd.start("registry_synced")
        expected = sorted(c["ip"] for c in containers(service))

        def found():
            stack.sync_all()
            return stack.dig("hello.hello-world.alice.bobbin.test") == expected
        wait_for(found, "the names of containers that were started while registryd was away")
        stack.registryd.kill()
        gone = stack.services("DELETE", "/hello-world")
        assert (gone.status, gone.json["diagnostics"]) == (500, "Service hello-world error cleaning up registry")
        stack.registryd.start("registry_synced")
        wait_for(lambda: stack.services("GET", "/hello-world").status == 404, "the destruction goes on by itself")
        wait_for(lambda: stack.registry("GET", "/users/alice/services/yarn-service/hello-world").status == 404,
                 "records of a service destroyed while registryd was away are gone")


def test_a_store_in_use_is_refused():
    with Stack() as stack:
        answer = stack.bind("/users/alice/one", json.loads('{"type":"JSONServiceRecord","external":[],"internal":[]}'))
        second = type(stack.registryd)("registryd", {**stack.registryd.options, "hadoop.registry.http.address": "127.0.0.1:0"})
        second.start()
        code = second.process.wait(30)
        assert code not in (0, None) and code > 0, f"a second registryd on one store ended with {code}"
        assert str(stack.registryd.process.pid) in "".join(second.raw), "the pid that holds the store is not named"
        assert stack.registry("GET", "/users/alice/one").headers["ETag"] == answer.headers["ETag"]
