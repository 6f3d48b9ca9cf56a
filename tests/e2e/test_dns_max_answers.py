"""hadoop.registry.dns.max-answers: a name of many instances is cut once, in the zone, and stays as it was cut."""
import os
import subprocess

import pytest

from harness import BIN, DOMAIN, PATIENCE, Stack, container, request

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop/components"
NAMES = (f"web.shop.alice.{DOMAIN}", f"shop.alice.{DOMAIN}")


def record(i, **more):
    return {**container(f"web-{i}", "web", f"127.77.{i // 200}.{i % 200 + 1}"), **more}


def fill(stack, n):
    for i in range(n):
        stack.bind(f"{BASE}/ctr-{i}", record(i))
    stack.sync_all()


def addresses(stack, name):
    found = stack.dig("+tcp", name, "A")
    assert len(set(found)) == len(found)
    return set(found)


def dumped(stack, name):
    text = request(stack.dns_http_port, "GET", f"/dump?zone={DOMAIN}").body.decode()
    return {line.split("\t")[4] for line in text.splitlines() if line.startswith(f"{name}.\t") and line.split("\t")[3] == "A"}


def test_a_hundred_by_default_and_the_same_hundred_while_they_exist():
    with Stack() as stack:
        fill(stack, 120)
        for name in NAMES:
            shown = addresses(stack, name)
            assert len(shown) == 100 and dumped(stack, name) == shown
        shown = addresses(stack, NAMES[0])
        hidden = {i for i in range(120) if record(i)["yarn:ip"] not in shown}
        gone = min(hidden)
        stack.registry("DELETE", f"{BASE}/ctr-{gone}")
        stack.sync_all()
        assert addresses(stack, NAMES[0]) == shown, "one that was not answered goes"
        stack.bind(f"{BASE}/ctr-{gone}", record(gone))
        stack.sync_all()
        assert addresses(stack, NAMES[0]) == shown, "and comes back"
        one = next(i for i in range(120) if i not in hidden)
        stack.registry("DELETE", f"{BASE}/ctr-{one}")
        stack.sync_all()
        assert len(shown - addresses(stack, NAMES[0])) == 1 and len(addresses(stack, NAMES[0])) == 100, "another one takes its place"
        assert stack.dig(f"web-{gone}.shop.alice.{DOMAIN}") == [record(gone)["yarn:ip"]], "its own name stands"
        said = subprocess.run([os.path.join(BIN, "bobbin"), "dns", "explain", NAMES[0], "--url", f"http://127.0.0.1:{stack.dns_http_port}"],
                              capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        assert "more records of the type than hadoop.registry.dns.max-answers" in said


@pytest.mark.parametrize("options, n", [({"max-answers": "3"}, 3), ({"max-answers": "0"}, 110), ({"mode": "compat"}, 110),
                                        ({"mode": "compat", "max-answers": "3"}, 3)])
def test_the_maximum_of_the_options(options, n):
    with Stack(options={"dnsd": {f"hadoop.registry.dns.{key}": value for key, value in options.items()}}) as stack:
        fill(stack, 110)
        assert len(addresses(stack, NAMES[0])) == n


def test_the_image_of_the_last_run_is_cut_by_the_same_maximum():
    with Stack(options={"dnsd": {"hadoop.registry.dns.max-answers": "5"}}) as stack:
        fill(stack, 8)
        shown = addresses(stack, NAMES[0])
        stack.dnsd.stop()
        stack.dnsd.start("feed_synced")
        assert addresses(stack, NAMES[0]) == shown and len(shown) == 5, "every server chooses the same"
