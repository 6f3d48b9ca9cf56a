"""registryd and dnsd when the time of day is set: writes, the feed, retries and answers go on."""
import time

import pytest

from harness import DOMAIN, Stack, WallClock, dig_full, wait_for

RECORD = {"type": "JSONServiceRecord", "yarn:id": "container_1700000000000_0001_01_000002", "yarn:persistence": "container",
          "yarn:ip": "127.77.3.4", "yarn:hostname": "host", "yarn:component": "web"}


@pytest.fixture
def stack():
    s = Stack()
    s.clock = WallClock(s.dir)
    s.registryd.env = s.dnsd.env = s.clock.env
    try:
        with s:
            yield s
    finally:
        s.clock.tidy()


def found(stack, n, name):
    """Bind the record of container n and find it by its instance's name."""
    container = f"ctr-1700000000000-0001-01-{n:06}"
    record = {**RECORD, "yarn:id": container.replace("ctr", "container").replace("-", "_"), "description": name}
    stack.bind(f"/users/alice/services/yarn-service/app/components/{container}", record)
    stack.sync_all()
    return stack.dig(f"{name}.app.alice.bobbin.test") == ["127.77.3.4"]


@pytest.mark.parametrize("jump", ["-1h", "+1d"])
def test_what_is_bound_is_answered(stack, jump):
    assert found(stack, 2, "web-0")
    stack.clock.set(jump)
    assert found(stack, 3, "web-1")
    stack.registryd.kill()  # dnsd looks for it again and again
    stack.clock.set("+0")
    stack.registryd.start("registry_synced")
    assert found(stack, 4, "web-2")
    assert stack.dig("web-0.app.alice.bobbin.test") == ["127.77.3.4"]


@pytest.mark.parametrize("jump", ["-1h", "+1d"])
def test_what_is_known_ages_alike_over_a_restart(stack, jump):
    """dnsd is started again in an outage after the time of day was set: neither expires what it knows, nor makes it new."""
    stack.dnsd.options["hadoop.registry.dns.stale.max"] = "12h"
    stack.dnsd.stop()
    stack.dnsd.start("feed_synced")
    assert found(stack, 2, "web-0")
    stack.dnsd.stop()
    stopped = time.clock_gettime(time.CLOCK_BOOTTIME)
    stack.registryd.kill()
    stack.clock.set(jump)
    least_ms = wait_for(lambda: int((time.clock_gettime(time.CLOCK_BOOTTIME) - stopped) * 1000), "a millisecond of the outage has passed")
    stack.dnsd.start("feed_restored")
    for event in "feed_image", "feed_restored":
        assert least_ms <= int(stack.dnsd.event(event)["age_ms"]) < 12 * 3600 * 1000
    answer = dig_full(stack.dns_port, f"web-0.app.alice.{DOMAIN}")
    assert "127.77.3.4" in answer and "EDE: 3" in answer, answer
