"""What the RFCs ask of an authoritative server, as dig and kdig see it: one row, one case."""
import re
import subprocess

import pytest

from harness import request
from served import has_ipv6

pytestmark = pytest.mark.sanitize

HOST = "httpd-1.test1.root.bobbin.test"
BIG = "big.test1.root.bobbin.test"
SIX = "six-1.test1.root.bobbin.test"
APP = "app.root.bobbin.test"
SOA_ONLY = r"AUTHORITY: 1,.*IN\s+SOA"

# (what, command after "@server -p port", patterns that the output has, patterns that it has not)
ROWS = [
    ("1034 answer", f"dig {HOST} A", [r"status: NOERROR", r"flags: qr aa[ ;]", r"ANSWER: 1,", r"A\s+127\.77\.0\.19"], []),
    ("1035 unknown opcode", "dig +opcode=15 bobbin.test SOA", [r"opcode: RESERVED15, status: NOTIMP", r"flags: qr"], []),
    ("1035 status", "dig +opcode=status bobbin.test", [r"opcode: STATUS, status: NOTIMP", r"flags: qr"], []),
    ("1035 iquery", "dig +opcode=iquery bobbin.test", [r"opcode: IQUERY, status: NOTIMP"], []),
    ("1996 notify to us", "dig +opcode=notify bobbin.test SOA", [r"opcode: NOTIFY, status: (NOTIMP|NOTAUTH)"], []),
    ("2136 update", "dig +opcode=update bobbin.test SOA", [r"opcode: UPDATE, status: (NOTIMP|REFUSED)"], []),
    ("1035 out of authority", "dig example.com A", [r"status: REFUSED", r"EDE: 20", r"ANSWER: 0, AUTHORITY: 0"], [r"flags:[^;]* aa"]),
    ("1035 out of authority, no EDNS", "dig +noedns example.com A", [r"status: REFUSED"], [r"EDE"]),
    ("1035 TCP framing", "kdig +tcp bobbin.test SOA", [r"status: NOERROR", r"IN\s+SOA"], []),
    ("2181 equal TTLs", "dig multi.zone.example A", [r"multi\S+\s+60\s+IN\s+A\s+10.*multi\S+\s+60\s+IN\s+A\s+10"], []),
    ("2181 no twins", "dig twin.test1.root.bobbin.test A", [r"ANSWER: 1,"], []),
    ("2308 NXDOMAIN", "dig nope.bobbin.test A", [r"status: NXDOMAIN", r"flags: qr aa", SOA_ONLY, r"bobbin\.test\.\s+30\s+IN\s+SOA"], []),
    ("2308 NODATA", f"dig {HOST} MX", [r"status: NOERROR", r"flags: qr aa", r"ANSWER: 0", SOA_ONLY], []),
    ("2317 classless", "dig 9.0.0.10.in-addr.arpa PTR", [r"ANSWER: 2,", r"CNAME\s+9\.8/29\.0\.0\.10", r"PTR\s+nine\.zone"], []),
    ("2782 SRV", f"dig {APP} SRV", [r"SRV\s+1 1 8088 app\.root", r"ADDITIONAL: 2", r"IN\s+A\s+127\.77\.3\.3"], []),
    ("3225 DO", f"dig +dnssec {HOST} A", [r"flags: do;", r"status: NOERROR"], []),
    ("3225 no DO", f"dig {HOST} A", [r"EDNS: version: 0"], [r"flags: do", r"RRSIG"]),
    ("3597 unknown type asked", f"dig {HOST} TYPE65400", [r"status: NOERROR", SOA_ONLY], []),
    ("3597 unknown type stored", "dig odd.zone.example TYPE65400", [r"\\# 3 010203"], []),
    ("3596 AAAA", f"dig {SIX} AAAA", [r"ANSWER: 1,", r"AAAA\s+fd00:5::13"], []),
    ("3596 AAAA at the component", "dig six.test1.root.bobbin.test AAAA", [r"ANSWER: 1,", r"AAAA\s+fd00:5::13"], []),
    ("3596 no A beside a real AAAA", f"dig {SIX} A", [r"status: NOERROR", r"ANSWER: 0", SOA_ONLY], []),
    ("3596 ip6.arpa", "dig -x fd00:5::13", [r"flags: qr aa", r"PTR\s+six-1\.test1\.root\.bobbin\.test\."], []),
    ("3596 ip6.arpa, nobody", "dig -x fd00:5::14", [r"status: NXDOMAIN", r"5\.0\.0\.0\.0\.0\.d\.f\.ip6\.arpa\.\s+\d+\s+IN\s+SOA"], []),
    ("3596 ip6.arpa, in between", "dig 0.0.0.0.5.0.0.0.0.0.d.f.ip6.arpa PTR", [r"status: NOERROR", r"ANSWER: 0"], []),
    ("3596 ip6.arpa, outside", "dig -x 2600::13", [r"status: REFUSED", r"EDE: 20"], []),
    ("2782 SRV with a real IPv6 address", "dig app6.root.bobbin.test SRV",
     [r"ANSWER: 2,", r"SRV\s+1 1 8088 app6\.root", r"SRV\s+1 1 1026 app6\.root", r"app6\S+\s+30\s+IN\s+AAAA\s+fd00:5::8"], []),
    ("4343 case", "dig HTTPD-1.Test1.ROOT.bobbin.TEST A", [r"HTTPD-1\.Test1\.ROOT\.bobbin\.TEST\.\s+30\s+IN\s+A"], [r"httpd-1"]),
    ("4592 wildcard", "dig x.wild.zone.example A", [r"x\.wild\.zone\.example\.\s+300\s+IN\s+A\s+10\.0\.0\.1"], []),
    ("4592 sibling of a name", "dig b.exists.wild.zone.example A", [r"status: NXDOMAIN"], []),
    ("4592 empty non-terminal", "dig exists.wild.zone.example A", [r"status: NOERROR", r"ANSWER: 0"], []),
    ("5001 NSID", "dig +nsid bobbin.test SOA", [r"NSID: [0-9a-f ]+ \(\"node-seven\"\)"], []),
    ("5001 NSID not asked", "dig bobbin.test SOA", [], [r"NSID"]),
    ("6303 empty zone", "dig -x 10.255.255.1", [r"status: NXDOMAIN", SOA_ONLY], []),
    ("6604 chain to a missing name", "dig chain.zone.example A", [r"status: NXDOMAIN", r"CNAME\s+gone\.zone"], []),
    ("6672 DNAME", "dig x.old.zone.example A", [r"DNAME\s+new\.zone", r"CNAME\s+x\.new", r"A\s+10\.0\.0\.3"], []),
    ("6672 DNAME owner itself", "dig old.zone.example DNAME", [r"DNAME\s+new\.zone"], []),
    ("6672 DNAME that makes the name too long", f"dig {'b' * 60}.{'b' * 60}.long.zone.example A",
     [r"status: YXDOMAIN", r"DNAME\s+aaa"], [r"CNAME"]),
    ("6672 DNAME asked below it", "dig x.old.zone.example DNAME", [r"DNAME\s+new\.zone", r"CNAME\s+x\.new"], []),
    ("6761 localhost over IPv6", "dig localhost AAAA", [r"AAAA\s+::1"], []),
    ("6761 localhost", "dig localhost A", [r"A\s+127\.0\.0\.1"], []),
    ("6761 invalid", "dig x.invalid A", [r"status: NXDOMAIN"], []),
    ("6840 AD and CD", "dig +adflag +cdflag bobbin.test SOA", [r"status: NOERROR"], [r"flags:[^;]* ad"]),
    ("6891 basic", "dig +bufsize=1232 bobbin.test SOA", [r"EDNS: version: 0, flags:; udp: 1232"], []),
    ("6891 no EDNS", "dig +noedns bobbin.test SOA", [r"status: NOERROR", r"ADDITIONAL: 0"], [r"EDNS"]),
    ("6891 version", "dig +edns=1 +noednsneg bobbin.test SOA", [r"status: BADVERS", r"EDNS: version: 0", r"ANSWER: 0"], []),
    ("6891 unknown option", "dig +ednsopt=100:abcd bobbin.test SOA", [r"status: NOERROR", r"ANSWER: 1"], [r"OPT=100"]),
    ("6891 Z flags", "dig +ednsflags=0x40 bobbin.test SOA", [r"status: NOERROR", r"flags:;"], [r"MBZ"]),
    ("truncation", f"dig +notcp +ignore +bufsize=512 {BIG} A", [r"flags: qr aa tc", r"ANSWER: 0", r"EDNS"], []),
    ("7766 retry", f"dig {BIG} A", [r"ANSWER: 200,"], []),
    ("7766 two on one connection", f"kdig +tcp +keepopen {HOST} A {APP} A", [r"127\.77\.0\.19.*127\.77\.3\.3"], []),
    ("7828 keepalive", "dig +tcp +keepalive bobbin.test SOA", [r"TCP[- ]KEEPALIVE: 10"], []),
    ("7828 not over UDP", "dig +notcp +keepalive bobbin.test SOA", [r"status: NOERROR"], [r"KEEPALIVE"]),
    ("7871 ECS", f"dig +subnet=10.1.0.0/16 {HOST} A", [r"status: NOERROR", r"127\.77\.0\.19"], [r"CLIENT-SUBNET"]),
    ("7873 cookie", "dig +cookie bobbin.test SOA", [r"COOKIE: [0-9a-f]{48} \(good\)"], []),
    ("8020 above a name", "dig root.bobbin.test A", [r"status: NOERROR", SOA_ONLY], []),
    ("8020 a service without records of its own", "dig test1.root.bobbin.test NS", [r"status: NOERROR"], []),
    ("9156 every ancestor", f"dig {HOST.split('.', 1)[1]} NS", [r"status: NOERROR"], []),
    ("8482 ANY over UDP", f"dig +notcp {HOST} ANY", [r"status: NOERROR", r"ANSWER: 1,"], []),
    ("8482 ANY over TCP", f"dig +tcp {HOST} ANY", [r"ANSWER: 2,"], []),
    ("8906 class CH", "dig version.bind TXT CH", [r"Bobbin dnsd"], []),
    ("4892 version.server", "dig version.server TXT CH", [r"Bobbin dnsd"], []),
    ("4892 id.server", "dig id.server TXT CH", [r"\"node-seven\""], []),
    ("4892 hostname.bind", "dig hostname.bind TXT CH", [r"\"node-seven\""], []),
    ("1035 class CH, other name", "dig bobbin.test SOA CH", [r"status: REFUSED"], []),
    ("1035 class HS", "dig bobbin.test A HS", [r"status: REFUSED"], []),
    ("9460 HTTPS", f"dig {HOST} HTTPS", [r"status: NOERROR", r"ANSWER: 0"], []),
    ("9471 glue", "dig host.sub.zone.example A", [r"ANSWER: 0, AUTHORITY: 2, ADDITIONAL: 3", r"10\.0\.0\.53", r"10\.0\.0\.54"],
     [r"flags:[^;]* aa"]),
    ("9471 glue that does not fit", "dig +notcp +ignore host.sub.large.example A", [r"flags: qr tc"], []),
    ("9471 all glue over TCP", "dig host.sub.large.example A", [r"ANSWER: 0, AUTHORITY: 40, ADDITIONAL: 41"], []),
    ("9619 no question", "dig +header-only +nocookie", [r"status: FORMERR"], []),
    ("7873 no question but a cookie", "dig +header-only +cookie", [r"status: NOERROR", r"COOKIE: [0-9a-f]{48}"], []),
    ("9715 no fragments", f"dig +bufsize=4096 +notcp +ignore {BIG} A", [r"flags: qr aa tc"], []),
    ("2181 a set that no message holds", "dig beyond.large.example A",
     [r"status: SERVFAIL", r"EDE: 0 \(Other\): \(.*more than one message"], [r"flags:[^;]* tc"]),
    ("2181 the same, UDP sends to TCP", "dig +notcp +ignore beyond.large.example A", [r"status: NOERROR", r"flags: qr aa tc"], []),
    ("2181 what stands beside it", "dig beyond.large.example TXT", [r"status: NOERROR", r"ANSWER: 1,"], []),
    ("8482 ANY leaves out what does not fit", "dig +tcp beyond.large.example ANY", [r"status: NOERROR", r"ANSWER: 1,", r"IN\s+TXT"], []),
    ("minimal answers", f"dig {HOST} A", [r"AUTHORITY: 0"], []),
]


def run(served, command):
    tool, *words = command.split()
    once = ["+tries=1", "+timeout=5", "+nostats"] if tool == "dig" else ["+retry=0", "+timeout=5"]
    done = subprocess.run([tool, "@127.0.0.1", "-p", str(served.dns_port), *once, *words], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("command, wanted, unwanted", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_row(served, command, wanted, unwanted):
    text = run(served, command)
    for pattern in wanted:
        assert re.search(pattern, text, re.S), f"{command}: no {pattern}\n{text}"
    for pattern in unwanted:
        assert not re.search(pattern, text), f"{command}: {pattern}\n{text}"


@pytest.mark.parametrize("transport", ["+notcp", "+tcp"])
def test_an_ipv6_socket_answers(served, transport):
    if not has_ipv6():
        pytest.skip("this machine has no ::1")
    for name, kind, wanted in ((SIX, "AAAA", "fd00:5::13"), (HOST, "A", "127.77.0.19"), ("app6.root.bobbin.test", "AAAA", "fd00:5::8")):
        done = subprocess.run(["dig", "@::1", "-p", str(served.dns_port), transport, "+short", name, kind],
                              capture_output=True, text=True, check=False)
        assert done.stdout.split() == [wanted], done.stdout + done.stderr


def test_the_zone_is_one_that_others_load(served, tmp_path):
    """RFC 1034 3.6.2, RFC 2181 10.1: BIND's checker finds no CNAME beside other data, nor anything else."""
    text = request(served.dns_http_port, "GET", "/dump?zone=bobbin.test").body.decode()
    path = tmp_path / "bobbin.test.zone"

    def check(content):
        path.write_text(content)
        return subprocess.run(["named-checkzone", "-i", "none", "bobbin.test", str(path)], capture_output=True, text=True, check=False)
    good = check(text)
    assert good.returncode == 0 and "loaded serial" in good.stdout, good.stdout + good.stderr
    assert check(text + f"{HOST}. 30 IN CNAME {BIG}.\n").returncode != 0, "the checker would have seen one"


def test_every_ancestor_exists(served):
    """RFC 9156: minimising resolvers walk down."""
    labels = HOST.split(".")
    for i in range(len(labels) - 2):
        for qtype in ("NS", "A"):
            assert "status: NOERROR" in run(served, f"dig {'.'.join(labels[i:])} {qtype}")


def test_update_changes_nothing(served):
    script = f"server 127.0.0.1 {served.dns_port}\nzone bobbin.test\nupdate add evil.bobbin.test 60 A 10.6.6.6\nsend\n"
    done = subprocess.run(["nsupdate"], input=script, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode != 0 and re.search("NOTIMP|REFUSED", done.stdout + done.stderr)
    assert "status: NXDOMAIN" in run(served, "dig evil.bobbin.test A")


def test_serial_rises_with_a_change(served):
    from served import BASE
    from harness import container

    def serial():
        return int(served.dig("bobbin.test", "SOA")[0].split()[2])
    before = serial()
    path = f"{BASE}/components/ctr-e50-1-1-9-9"
    served.sync(served.bind(path, container("serial-1", "serial", "127.77.0.99")).headers["Bobbin-Revision"])
    assert 0 < (serial() - before) % 2**32 < 2**31
    served.sync(served.registry("DELETE", path).headers["Bobbin-Revision"])


def test_cookie_of_the_first_answer_is_good(served):
    text = run(served, "dig +cookie bobbin.test SOA")
    cookie = re.search(r"COOKIE: ([0-9a-f]{48})", text).group(1)
    again = run(served, f"dig +cookie={cookie} bobbin.test SOA")
    assert f"COOKIE: {cookie} (good)" in again


def test_padding_is_for_tls_only(served):
    """RFC 7830, RFC 8467: kdig says how long the answer was."""
    def size(transport, port):
        text = subprocess.run(["kdig", "@127.0.0.1", "-p", str(port), "+retry=0", transport, "+padding", "bobbin.test", "SOA"],
                              capture_output=True, text=True, check=False).stdout
        return int(re.search(r"Received (\d+) B", text).group(1))
    assert size("+tls", served.tls_port) == 468
    assert size("+tcp", served.dns_port) < 200


def test_tls_gives_the_same_answer(served):
    over_tls = subprocess.run(["kdig", "@127.0.0.1", "-p", str(served.tls_port), "+retry=0", "+tls", "+tls-sni=one.dns.test",
                               "+short", HOST, "A"], capture_output=True, text=True, check=False)
    assert over_tls.stdout.strip() == "127.77.0.19", over_tls.stdout + over_tls.stderr
