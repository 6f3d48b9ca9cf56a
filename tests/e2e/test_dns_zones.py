"""Master files: what is in zones-dir is answered, what changes there is seen, what is bad changes nothing."""
import os
import re
import signal
import subprocess

import pytest

from harness import BIN, DOMAIN, PATIENCE, Stack, container, dig_full, request, wait_for

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop"
HEAD = "$TTL 60\n@ IN SOA ns.corp.test. hostmaster.corp.test. {serial} 3600 600 86400 30\n  IN NS ns.corp.test.\n"


def write(path, text):
    """As an editor does: whole, in place at once."""
    with open(path + "~", "w", encoding="utf-8") as f:
        f.write(text)
    os.rename(path + "~", path)


class Zones(Stack):
    def __init__(self, tmp_path, **options):
        self.zones_dir = str(tmp_path)
        super().__init__(options={"dnsd": {"hadoop.registry.dns.zones-dir": self.zones_dir,
                                           "hadoop.registry.dns.zones-poll-interval": "0", **options}})

    def write(self, name, text, serial=1):
        write(os.path.join(self.zones_dir, f"{name}.zone"), HEAD.format(serial=serial) + text)

    def reload(self):
        return request(self.dns_http_port, "POST", "/reload")

    def zone(self, name):
        found = [z for z in request(self.dns_http_port, "GET", "/zones").json["zones"] if z["name"] == name]
        return found[0] if found else None

    def status(self, name, kind="A"):
        return re.search(r"status: (\w+)", dig_full(self.dns_port, name, kind)).group(1)


@pytest.fixture
def stack(tmp_path):
    (tmp_path / "corp.test.zone").write_text(HEAD.format(serial=5) + "www A 10.0.0.1\n")
    with Zones(tmp_path) as s:
        yield s


def test_changed_added_bad_and_removed_files(stack):
    assert stack.dig("www.corp.test") == ["10.0.0.1"]
    assert stack.zone("corp.test.")["serial"] == 5
    stack.write("corp.test", "www A 10.0.0.2\n", serial=9)
    stack.write("other.test", "a A 10.0.0.3\n")
    assert stack.reload().json == {"files": 2, "changed": 2}
    assert stack.dig("www.corp.test") == ["10.0.0.2"]
    assert stack.dig("a.other.test") == ["10.0.0.3"]
    assert stack.zone("corp.test.")["serial"] == 9

    stack.write("corp.test", "www A 10.0.0.4\nbroken A nonsense\n", serial=10)
    answer = stack.reload()
    assert answer.status == 500 and answer.json["where"].endswith("corp.test.zone:5"), answer
    assert stack.dig("www.corp.test") == ["10.0.0.2"], "a bad file keeps what was there"
    assert "corp.test.zone:5" in stack.zone("corp.test.")["error"]
    bad = stack.dnsd.event("zones_bad")
    assert bad["where"].endswith("corp.test.zone:5")

    stack.write("corp.test", "www A 10.0.0.5\n", serial=10)
    os.remove(os.path.join(stack.zones_dir, "other.test.zone"))
    assert stack.reload().json == {"files": 1, "changed": 2}
    assert stack.dig("www.corp.test") == ["10.0.0.5"]
    assert stack.status("a.other.test") == "REFUSED"
    assert stack.zone("other.test.") is None and "error" not in stack.zone("corp.test.")


def test_content_that_changes_without_its_serial_still_gets_a_new_one(stack):
    stack.write("corp.test", "www A 10.0.0.9\n", serial=5)
    stack.reload()
    assert stack.zone("corp.test.")["serial"] == 6


def test_sighup_reads_again(stack):
    stack.write("corp.test", "www A 10.0.0.7\n", serial=6)
    stack.dnsd.process.send_signal(signal.SIGHUP)
    wait_for(lambda: stack.dig("www.corp.test") == ["10.0.0.7"], "the file is read after SIGHUP")


def test_a_file_takes_the_place_of_a_generated_zone_and_leaves_it(stack):
    answer = stack.bind(f"{BASE}/components/ctr-1", container("web-0", "web", "127.77.0.9"))
    stack.sync(answer.headers["Bobbin-Revision"])
    before = stack.zone(f"{DOMAIN}.")
    stack.write(DOMAIN, "static A 10.0.0.8\n", serial=3)
    stack.reload()
    assert stack.dig(f"static.{DOMAIN}") == ["10.0.0.8"]
    assert stack.dig(f"web-0.shop.alice.{DOMAIN}") == ["127.77.0.9"]
    assert stack.zone(f"{DOMAIN}.")["serial"] > before["serial"], "a serial never goes back"
    os.remove(os.path.join(stack.zones_dir, f"{DOMAIN}.zone"))
    stack.reload()
    assert stack.status(f"static.{DOMAIN}") == "NXDOMAIN"
    assert stack.dig(f"web-0.shop.alice.{DOMAIN}") == ["127.77.0.9"]


def test_names_move_into_a_zone_that_comes_and_out_of_one_that_goes(stack):
    path = f"{BASE}/components/ctr-1"
    answer = stack.bind(path, container("web-0", "web", "127.77.0.9"))
    stack.sync(answer.headers["Bobbin-Revision"])
    inner = f"shop.alice.{DOMAIN}"
    stack.write(inner, "static A 10.0.0.8\n")
    stack.reload()
    assert stack.dig(f"web-0.{inner}") == ["127.77.0.9"] and stack.dig(f"static.{inner}") == ["10.0.0.8"]
    assert stack.zone(f"{inner}.")["kind"] == "file"
    stack.sync(stack.bind(path, container("web-0", "web", "127.77.0.10")).headers["Bobbin-Revision"])
    assert stack.dig(f"web-0.{inner}") == ["127.77.0.10"]
    os.remove(os.path.join(stack.zones_dir, f"{inner}.zone"))
    stack.reload()
    assert stack.dig(f"web-0.{inner}") == ["127.77.0.10"] and stack.status(f"static.{inner}") == "NXDOMAIN"
    stack.sync(stack.registry("DELETE", path).headers["Bobbin-Revision"])
    assert stack.status(f"web-0.{inner}") == "NXDOMAIN", "nothing of it stayed behind in either zone"


def test_delegation_dname_wildcard_and_include(stack):
    write(os.path.join(stack.zones_dir, "more.inc"), "inc A 10.0.0.6\n")
    stack.write("corp.test", "sub NS ns.sub\nns.sub A 10.0.0.53\nold DNAME new\na.new A 10.0.0.4\n"
                "*.wild A 10.0.0.5\n$INCLUDE more.inc\n", serial=7)
    stack.reload()
    referral = dig_full(stack.dns_port, "x.sub.corp.test")
    assert "ANSWER: 0" in referral and "ns.sub.corp.test." in referral and "10.0.0.53" in referral
    assert stack.dig("a.old.corp.test")[-1] in ("new.corp.test.", "a.new.corp.test.")
    assert "10.0.0.4" in stack.dig("a.old.corp.test")
    assert stack.dig("anything.wild.corp.test") == ["10.0.0.5"] and stack.dig("inc.corp.test") == ["10.0.0.6"]
    write(os.path.join(stack.zones_dir, "more.inc"), "inc A 10.0.0.66\n")
    assert stack.reload().json["changed"] == 1, "an included file counts"
    assert stack.dig("inc.corp.test") == ["10.0.0.66"]


def metric(stack, name):
    text = request(stack.dns_http_port, "GET", "/metrics").body.decode()
    return int(re.search(rf"^{name} (\d+)$", text, re.M).group(1))


def slices(stack):
    return metric(stack, "dnsd_zone_change_slices_total")


def test_a_large_file_is_taken_in_slices(stack):
    """The loop has other work done in between; the old content is answered until all of the new one is."""
    before = slices(stack)
    stack.write("corp.test", "www A 10.0.0.2\n$GENERATE 1-20000 h$ A 10.0.0.3\n", serial=11)
    assert stack.reload().json["changed"] == 1
    assert stack.dig("h1.corp.test") == stack.dig("h20000.corp.test") == ["10.0.0.3"] and stack.dig("www.corp.test") == ["10.0.0.2"]
    first = slices(stack)
    assert metric(stack, "dnsd_loop_longest_turn_microseconds") > 0 and metric(stack, "dnsd_loop_long_turns_total") >= 0
    assert first > before and stack.zone("corp.test.")["serial"] == 11
    os.remove(os.path.join(stack.zones_dir, "corp.test.zone"))
    stack.reload()
    assert stack.status("h1.corp.test") == "REFUSED" and slices(stack) > first


def test_files_are_looked_at_by_themselves(tmp_path):
    with Zones(tmp_path, **{"hadoop.registry.dns.zones-poll-interval": "100ms"}) as stack:
        assert stack.status("www.corp.test") == "REFUSED"
        stack.write("corp.test", "www A 10.0.0.1\n")
        wait_for(lambda: stack.dig("www.corp.test") == ["10.0.0.1"], "the new file is seen")


def test_a_bad_file_at_the_start_leaves_the_others_alone(tmp_path):
    """The others are answered, a generated zone stands in for its own bad file, and the file is read again when it is mended."""
    (tmp_path / "corp.test.zone").write_text(HEAD.format(serial=5) + "www A nonsense\n")
    (tmp_path / "fine.test.zone").write_text(HEAD.format(serial=5) + "www A 10.0.0.2\n")
    (tmp_path / f"{DOMAIN}.zone").write_text(HEAD.format(serial=5) + "www CNAME a\nwww A 10.0.0.3\n")
    with Zones(tmp_path) as stack:
        stack.sync(stack.bind(f"{BASE}/components/ctr-1", container("web-0", "web", "127.77.0.9")).headers["Bobbin-Revision"])
        assert stack.dig("www.fine.test") == ["10.0.0.2"] and stack.dig(f"web-0.shop.alice.{DOMAIN}") == ["127.77.0.9"]
        assert stack.status("www.corp.test") == "REFUSED" and stack.zone("corp.test.") is None
        assert "CNAME" in stack.zone(f"{DOMAIN}.")["error"]
        assert sorted(os.path.basename(e["where"]) for e in stack.dnsd.events if e["event"] == "zones_bad") == \
            [f"{DOMAIN}.zone:5", "corp.test.zone:4"]
        assert metric(stack, "dnsd_bad_zone_files") == 2
        stack.write("corp.test", "www A 10.0.0.1\n", serial=6)
        stack.write(DOMAIN, "www A 10.0.0.3\n", serial=6)
        assert stack.reload().json["changed"] == 2
        assert stack.dig("www.corp.test") == ["10.0.0.1"] and stack.dig(f"www.{DOMAIN}") == ["10.0.0.3"]


@pytest.mark.parametrize("text", ["a CNAME b\na A 10.0.0.1\n", "a TXT x\na CNAME b\n", "a CNAME b\na CNAME c\n",
                                  "c A 10.0.0.9\n@ CNAME c\n", "a DNAME b\na DNAME c\n", "a CNAME b\na DNAME b\n"])
def test_what_other_servers_refuse_is_refused(stack, text):
    stack.write("corp.test", text, serial=6)
    answer = stack.reload()
    assert answer.status == 500 and answer.json["where"].endswith("corp.test.zone:5"), answer
    assert stack.dig("www.corp.test") == ["10.0.0.1"]
    path = os.path.join(stack.zones_dir, "corp.test.zone")
    done = subprocess.run(["named-checkzone", "-q", "-i", "none", "corp.test", path], capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode != 0, "BIND does so, too"


def test_the_check_of_the_options_reports_bad_files(tmp_path):
    """As a warning: a start goes on without the file, and the unit's check before it must not keep it from that."""
    (tmp_path / "corp.test.zone").write_text(HEAD.format(serial=5) + "www A nonsense\n")
    (tmp_path / "more.test.zone").write_text(HEAD.format(serial=5) + "a CNAME b\na A 10.0.0.1\n")

    def check(*more):
        return subprocess.run([os.path.join(BIN, "dnsd"), "-t", "-D", f"hadoop.registry.dns.domain-name={DOMAIN}", "-D",
                               f"hadoop.registry.dns.zones-dir={tmp_path}", *more], capture_output=True, text=True, timeout=PATIENCE, check=False)
    said = check()
    assert said.returncode == 0 and "corp.test.zone:4: " in said.stderr and "more.test.zone:5: a name with a CNAME" in said.stderr, said
    missing = check("-D", "hadoop.registry.dns.zones-dir=/nowhere/at/all")
    assert missing.returncode == 3 and "/nowhere/at/all" in missing.stderr


def rises(serials):
    """By RFC 1982, or stays."""
    return all((b - a) % 2**32 < 2**31 for a, b in zip(serials, serials[1:]))


def test_whatever_the_serials_of_a_file_the_one_that_is_served_never_goes_back(stack):
    """Edits with and without other content, over a stop, a kill and a file that is gone for a while; jumps of half the space."""
    content = 1

    def edit(serial, is_changed):
        nonlocal content
        content += is_changed
        stack.write("corp.test", f"www A 10.0.0.{content}\n", serial=serial)

    def serve():
        served.append(int(stack.dig("corp.test", "SOA")[0].split()[2]))
        assert stack.dig("www.corp.test") == [f"10.0.0.{content}"] and stack.zone("corp.test.")["serial"] == served[-1]
    served = [5]
    for serial, is_changed in ((4, False), (3, True), (9, True), (8, False), (9 + 2**31, True), (10 + 2**31 - 1, False), (2**32 - 1, False),
                               (9 + 2**31 - 3, True), (1, True)):
        edit(serial, is_changed)
        stack.reload()
        serve()
    for end, serial in ((stack.dnsd.stop, 2), (stack.dnsd.kill, 3), (stack.dnsd.stop, (served[-1] + 2**31) % 2**32)):
        end()
        edit(serial, True)
        stack.dnsd.start("feed_synced")
        serve()
    os.remove(os.path.join(stack.zones_dir, "corp.test.zone"))
    stack.reload()
    edit(1, True)
    stack.reload()
    serve()
    assert rises(served), served


def test_a_cname_of_a_file_gives_way_to_the_registry(stack):
    """Whichever comes first; when the registry's records go it is back. What is served is a zone that BIND loads."""
    name, path = f"web-0.shop.alice.{DOMAIN}", f"{BASE}/components/ctr-1"

    def dump_is_fine():
        dump = os.path.join(stack.zones_dir, "dump")
        with open(dump, "wb") as f:
            f.write(request(stack.dns_http_port, "GET", f"/dump?zone={DOMAIN}").body)
        return subprocess.run(["named-checkzone", "-q", "-i", "none", DOMAIN, dump], timeout=PATIENCE, check=False).returncode == 0

    stack.write(DOMAIN, "web-0.shop.alice CNAME www.corp.test.\n")
    stack.reload()
    assert sorted(stack.dig(name, "A")) == ["10.0.0.1", "www.corp.test."]
    stack.sync(stack.bind(path, container("web-0", "web", "127.77.0.9")).headers["Bobbin-Revision"])
    assert stack.dig(name, "A") == ["127.77.0.9"] and stack.dig(name, "CNAME") == [] and stack.dig(name, "MX") == []
    assert dump_is_fine() and stack.dnsd.event("zones_alias_hidden")["name"] == f"{name}."
    said = request(stack.dns_http_port, "GET", f"/explain?name={name}").json["chain"][0]
    assert "CNAME at the name gives way to the registry" in said["because"] and len(said["rrsets"]) == 2
    stack.write(DOMAIN, "web-0.shop.alice CNAME a.corp.test.\n", serial=2)
    stack.reload()
    assert stack.dig(name, "A") == ["127.77.0.9"], "a file that comes later gives way, too"
    stack.dnsd.stop()
    stack.dnsd.start("feed_synced")
    assert stack.dig(name, "A") == ["127.77.0.9"] and dump_is_fine(), "over a restart"
    stack.sync(stack.registry("DELETE", path).headers["Bobbin-Revision"])
    wait_for(lambda: stack.dig(name, "CNAME") == ["a.corp.test."], "the CNAME is back")
    stack.dnsd.event("zones_alias_back")
    stack.sync(stack.bind(path, container("web-0", "web", "127.77.0.9")).headers["Bobbin-Revision"])
    stack.write(DOMAIN, "other A 10.0.0.1\n", serial=3)
    stack.reload()
    stack.sync(stack.registry("DELETE", path).headers["Bobbin-Revision"])
    wait_for(lambda: stack.status(name) == "NXDOMAIN", "nothing of it stayed behind")
