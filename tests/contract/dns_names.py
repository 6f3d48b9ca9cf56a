"""Rows of the registry DNS contract, as data; test_dns_names.py asks a running dnsd.

A group starts dnsd with `options`, binds `records` (path -> record; null deletes it again), then asks `asks`.
An ask: (name, type, wanted); wanted is
    a list          the answer section, each record as `owner type rdata`, in any order (with TTL in front where it has "ttl")
    "NXDOMAIN"      that rcode, no answer, one SOA in the authority section
    "NODATA"        NOERROR, no answer, one SOA
    ("type", n)     n records of that type and no others
`whole` asks for the whole zone instead: every record of GET /dump but SOA and NS of the apex.
"""

APP_PATH = "/users/root/services/org-apache-slider/test1"
ID2, ID3 = "ctr-e50-1451931954322-0016-01-000002", "ctr-e50-1451931954322-0016-01-000003"
P2, P3 = f"{APP_PATH}/components/{ID2}", f"{APP_PATH}/components/{ID3}"
YARN = "/users/root/services/yarn-service/web"
D = "dev.test."
S = f"test1.root.{D}"
API = "classpath:org.apache.hadoop.yarn.service."


def endpoint(api, **address):
    return {"api": api, "addressType": "uri" if "uri" in address else "host/port" if "host" in address else "zktriple",
            "protocolType": "REST", "addresses": [address] if address else []}


def record(**fields):
    attributes = {"type": "JSONServiceRecord", "external": [], "internal": []}
    attributes.update({key.replace("yarn_", "yarn:").replace("bobbin_", "bobbin:"): value for key, value in fields.items()
                       if value is not None})
    return attributes


def application(*external):
    return record(description="Slider Application Master", external=list(external),
                  yarn_id="application_1451931954322_0016", yarn_persistence="application")


def container(number=2, ip="172.17.0.19", component="httpd", **more):
    fields = {"description": f"httpd-{number - 1}", "yarn_id": f"container_e50_1451931954322_0016_01_00000{number}",
              "yarn_persistence": "container", "yarn_ip": ip, "yarn_hostname": f"host{number - 1}",
              "yarn_component": component}
    fields.update(more)
    return record(**fields)


APP = application(
    {"api": API + "appmaster.ipc", "addressType": "host/port", "protocolType": "hadoop/IPC",
     "addresses": [{"host": "192.168.1.5", "port": "1026"}]},
    {"api": "http://", "addressType": "uri", "protocolType": "webui", "addresses": [{"uri": "http://192.168.1.5:1027"}]},
    {"api": API + "management", "addressType": "uri", "protocolType": "REST",
     "addresses": [{"uri": "http://192.168.1.5:1027/ws/v1/slider/mgmt"}]})
APP["internal"] = [
    {"api": API + "agents.secure", "addressType": "uri", "protocolType": "REST",
     "addresses": [{"uri": "https://192.168.1.5:47700/ws/v1/slider/agents"}]},
    {"api": API + "agents.oneway", "addressType": "uri", "protocolType": "REST",
     "addresses": [{"uri": "https://192.168.1.5:35531/ws/v1/slider/agents"}]}]
C1, C2 = container(), container(3, "172.17.0.20")
NOIP = container(yarn_ip=None, yarn_hostname=None)
NOPERS = container(3, yarn_persistence=None, yarn_hostname="0a134d6329bb")

SUBNET = {"zone-subnet": "172.17.0", "dns-ttl": "30"}
COMPAT, STRICT = {**SUBNET, "mode": "compat"}, {**SUBNET, "mode": "strict"}
MAPPED = "::ffff:172.17.0.19"

ZONE_FILE = """$ORIGIN .
$TTL 1800
0.17.172.in-addr.arpa IN SOA ns.hwhq.hortonworks.com. it.hortonworks.com. ( 2015081000 10800 900 1814400 10800 )
 IN NS ns.hwhq.hortonworks.com.
 IN NS ns2.hwhq.hortonworks.com.
$ORIGIN 0.17.172.in-addr.arpa.
5 PTR cn005.dev.test.
6 PTR cn006.dev.test.
7 PTR cn007.dev.test.
8 PTR cn008.dev.test.
9 PTR cn009.dev.test.
"""

TXT_AND_SRV = [
    f'{S} TXT "api=appmaster-ipc"', f'{S} TXT "api=http" "path="', f'{S} TXT "api=management" "path=/ws/v1/slider/mgmt"',
    f'appmaster-ipc-api.{S} TXT "api=appmaster-ipc"', f'http-api.{S} TXT "api=http" "path="',
    f'management-api.{S} TXT "api=management" "path=/ws/v1/slider/mgmt"',
    # SRV points at a name that has the address: the literal's octets are no name that resolves.
    f"{S} SRV 1 1 1026 {S}", f"{S} SRV 1 1 1027 {S}", f"appmaster-ipc-api.{S} SRV 1 1 1026 {S}",
    f"http-api.{S} SRV 1 1 1027 {S}", f"management-api.{S} SRV 1 1 1027 {S}"]


def container_names(mapped, number=2, ip="172.17.0.19", component=True):
    owners = [f"httpd-{number - 1}.{S}", f"ctr-e50-1451931954322-0016-01-00000{number}.{D}"]
    owners += [f"httpd.{S}"] if component else []
    return [f"{o} A {ip}" for o in owners] + ([f"{o} AAAA ::ffff:{ip}" for o in owners] if mapped else []) + [
        f'httpd-{number - 1}.{S} TXT "id=container_e50_1451931954322_0016_01_00000{number}"']


def ported(record, port="8080"):
    """The record of a container that says which port it listens on."""
    return {**record, "external": [endpoint("http://", host=record["yarn:ip"], port=port)]}


GROUPS = [
    {"name": "1 testAppRegistration", "options": COMPAT, "records": {APP_PATH: APP}, "asks": [
        (S, "A", [f"{S} A 192.168.1.5"]),
        (f"management-api.{S}", "A", [f"management-api.{S} CNAME {S}", f"{S} A 192.168.1.5"]),
        (f"appmaster-ipc-api.{S}", "SRV", [f"appmaster-ipc-api.{S} SRV 1 1 1026 {S}"]),
        (f"appmaster-ipc-api.{S}", "A", [f"appmaster-ipc-api.{S} CNAME {S}", f"{S} A 192.168.1.5"]),
        (f"http-api.{S}", "A", [f"http-api.{S} CNAME {S}", f"{S} A 192.168.1.5"]),
        (f"http-api.{S}", "AAAA", [f"http-api.{S} CNAME {S}", f"{S} AAAA ::ffff:192.168.1.5"]),
        (f"http-api.{S}", "SRV", [f"http-api.{S} SRV 1 1 1027 {S}"]),
        (S, "TXT", ("TXT", 3)),
        (f"appmaster-ipc-api.{S}", "TXT", ("TXT", 1)),
        (f"http-api.{S}", "TXT", ("TXT", 1)),
        (f"management-api.{S}", "TXT", ("TXT", 1))]},
    {"name": "Example A, whole, compat", "options": COMPAT, "records": {APP_PATH: APP}, "whole": TXT_AND_SRV + [
        f"{S} A 192.168.1.5", f"{S} AAAA ::ffff:192.168.1.5"]
        + [f"{e}-api.{S} CNAME {S}" for e in ("appmaster-ipc", "http", "management")]},
    {"name": "Example A, whole, strict: no CNAME beside data, no mapped address", "options": STRICT,
     "records": {APP_PATH: APP}, "whole": TXT_AND_SRV + [
         f"{o} A 192.168.1.5" for o in (S, f"appmaster-ipc-api.{S}", f"http-api.{S}", f"management-api.{S}")]},
    {"name": "2, 4, 5, 8, 9, 10 one container", "options": COMPAT, "records": {P2: C1}, "asks": [
        (f"{ID2}.{D}", "A", [f"30 {ID2}.{D} A 172.17.0.19"]),
        (f"httpd-1.{S}", "A", [f"30 httpd-1.{S} A 172.17.0.19"]),
        ("19.0.17.172.in-addr.arpa.", "PTR", [f"19.0.17.172.in-addr.arpa. PTR httpd-1.{S}"]),
        (f"{ID2}.{D}", "AAAA", [f"{ID2}.{D} AAAA {MAPPED}"]),
        (f"httpd-1.{S}", "AAAA", [f"httpd-1.{S} AAAA {MAPPED}"]),
        ("19.1.17.172.in-addr.arpa.", "PTR", "NXDOMAIN"),
        (f"missing.{D}", "A", "NXDOMAIN"),
        (f"HTTPD-1.Test1.ROOT.{D}", "A", ("A", 1)),
        (f"root.{D}", "A", "NODATA"),
        (f"httpd-1.{S}", "MX", "NODATA")]},
    {"name": "2, 4, 5, 8 one container, strict", "options": STRICT, "records": {P2: C1}, "asks": [
        (f"{ID2}.{D}", "A", [f"30 {ID2}.{D} A 172.17.0.19"]),
        ("19.0.17.172.in-addr.arpa.", "PTR", [f"19.0.17.172.in-addr.arpa. PTR httpd-1.{S}"]),
        (f"{ID2}.{D}", "AAAA", "NODATA"), (f"httpd-1.{S}", "AAAA", "NODATA")]},
    {"name": "3 testContainerRegistrationPersistanceAbsent", "options": COMPAT, "records": {P3: NOPERS}, "asks": [
        (f"{ID2}.{D}", "A", "NXDOMAIN"), (f"{ID3}.{D}", "A", "NXDOMAIN")], "whole": []},
    {"name": "6 testReverseLookupInLargeNetwork",
     "options": {**COMPAT, "zone-subnet": "172.17.0.0", "zone-mask": "255.255.224.0"}, "records": {P2: C1}, "asks": [
         ("19.0.17.172.in-addr.arpa.", "PTR", [f"19.0.17.172.in-addr.arpa. PTR httpd-1.{S}"])],
     "zones": ["17.172.in-addr.arpa.", D]},
    {"name": "7 testNoContainerIP", "options": COMPAT, "records": {P2: NOIP}, "asks": [
        (f"{ID2}.{D}", "A", "NXDOMAIN")], "whole": []},
    {"name": "11 testMultiARecord", "options": COMPAT, "records": {P2: C1, P3: C2}, "asks": [
        (f"httpd.{S}", "A", [f"httpd.{S} A 172.17.0.19", f"httpd.{S} A 172.17.0.20"])],
     "whole": container_names(True) + container_names(True, 3, "172.17.0.20")},
    {"name": "12 testReadMasterFile", "options": COMPAT, "files": {"0.17.172.in-addr.arpa.zone": ZONE_FILE},
     "records": {P2: C1}, "asks": [
         (f"{ID2}.{D}", "A", [f"{ID2}.{D} A 172.17.0.19"]),
         (f"httpd-1.{S}", "A", ("A", 1)),
         ("19.0.17.172.in-addr.arpa.", "PTR", [f"19.0.17.172.in-addr.arpa. PTR httpd-1.{S}"]),
         ("5.0.17.172.in-addr.arpa.", "PTR", ["1800 5.0.17.172.in-addr.arpa. PTR cn005.dev.test."])]},
    {"name": "13 testReverseZoneNames",
     "options": {**COMPAT, "zone-subnet": "172.26.32.0", "zone-mask": "255.255.224.0"}, "records": {},
     "zones": ["26.172.in-addr.arpa.", D]},
    {"name": "14 testSplitReverseZoneNames",
     "options": {**COMPAT, "zone-subnet": "172.26.32.0", "zone-mask": "255.255.252.0", "split-reverse-zone": "true",
                 "split-reverse-zone-range": "256"}, "records": {},
     "zones": [f"{i}.26.172.in-addr.arpa." for i in range(32, 36)] + [D]},
    {"name": "several subnets, IPv6 too", "options": {**STRICT, "reverse-subnets": "10.0.0.0/15, fd00:1::/32"},
     "records": {P2: container(ip="fd00:1::13")},
     "zones": ["0.17.172.in-addr.arpa.", "0.10.in-addr.arpa.", "1.10.in-addr.arpa.", "1.0.0.0.0.0.d.f.ip6.arpa.", D],
     "whole": [f"{o} AAAA fd00:1::13" for o in (f"httpd-1.{S}", f"{ID2}.{D}", f"httpd.{S}")] + container_names(False)[-1:],
     "asks": [("3.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.d.f.ip6.arpa.", "PTR", ("PTR", 1))]},
    {"name": "Example D, compat: no names", "options": COMPAT, "records": {YARN: application()}, "whole": []},
    {"name": "Example F, update: no old data stays", "options": COMPAT,
     "steps": [{P2: C1}, {P2: container(ip="172.17.0.30")}], "whole": container_names(True, 2, "172.17.0.30"), "asks": [
         ("19.0.17.172.in-addr.arpa.", "PTR", "NXDOMAIN"),
         ("30.0.17.172.in-addr.arpa.", "PTR", [f"30.0.17.172.in-addr.arpa. PTR httpd-1.{S}"])]},
    {"name": "Example G, shared address: stays until both are gone", "options": STRICT,
     "steps": [{P2: container(2, "10.0.0.7"), P3: container(3, "10.0.0.7")}, {P2: None}],
     "whole": container_names(False, 3, "10.0.0.7")},
    {"name": "Example G, both gone", "options": STRICT,
     "steps": [{P2: container(2, "10.0.0.7"), P3: container(3, "10.0.0.7")}, {P2: None, P3: None}], "whole": []},
    {"name": "Example H, IPv6", "options": COMPAT, "records": {P2: container(ip="fd00::13")}, "whole": [
        f"httpd-1.{S} AAAA fd00::13", f"{ID2}.{D} AAAA fd00::13", f"httpd.{S} AAAA fd00::13"] + container_names(False)[-1:]},
    {"name": "1.8 rewritten to an application without endpoints", "options": STRICT,
     "steps": [{P2: C1}, {P2: container(yarn_persistence="application")}], "whole": []},
    {"name": "1.8 rewritten to something else", "options": STRICT, "steps": [{P2: C1}, {P2: NOIP}], "whole": []},
    {"name": "1.8 two service classes, one name", "options": STRICT, "records": {
        P2: C1, "/users/root/services/other/test1/components/ctr-x": container(3, "172.17.0.20")}, "asks": [
            (f"httpd.{S}", "A", ("A", 2))]},
    # 1.7, row by row
    {"name": "1.7 unknown api prefix", "options": COMPAT, "records": {APP_PATH: application(
        endpoint("https://x", host="10.0.0.1", port="80"), endpoint("http://", host="10.0.0.1", port="81"))}, "whole": [
            f"{S} A 10.0.0.1", f"{S} AAAA ::ffff:10.0.0.1", f"{S} SRV 1 1 80 {S}", f"{S} SRV 1 1 81 {S}",
            f'{S} TXT "api=https-x"', f'{S} TXT "api=http"', f"http-api.{S} CNAME {S}", f"http-api.{S} SRV 1 1 81 {S}",
            f'http-api.{S} TXT "api=http"']},
    {"name": "1.7 endpoint without addresses", "options": STRICT, "records": {APP_PATH: application(
        endpoint("http://"), endpoint(API + "b", host="10.0.0.1", port="81"))}, "whole": [
            f"{S} A 10.0.0.1", f"{S} SRV 1 1 81 {S}", f'{S} TXT "api=b"', f"b-api.{S} A 10.0.0.1",
            f"b-api.{S} SRV 1 1 81 {S}", f'b-api.{S} TXT "api=b"']},
    {"name": "1.7 URI without port", "options": STRICT, "records": {APP_PATH: application(
        endpoint("http://", uri="http://10.0.0.1/x"))}, "whole": [
            f"{S} A 10.0.0.1", f'{S} TXT "api=http" "path=/x"', f"http-api.{S} A 10.0.0.1",
            f'http-api.{S} TXT "api=http" "path=/x"']},
    {"name": "1.7 URI without host", "options": STRICT, "records": {APP_PATH: application(
        endpoint("http://", uri="http://a_b:80/x"))}, "whole": [
            f'{S} TXT "api=http" "path=/x"', f'http-api.{S} TXT "api=http" "path=/x"']},
    {"name": "1.7 port too large, port no number", "options": STRICT, "records": {APP_PATH: application(
        endpoint("http://", host="10.0.0.1", port="70000"), endpoint(API + "b", host="10.0.0.1", port="x"))}, "whole": [
            f"{o} A 10.0.0.1" for o in (S, f"http-api.{S}", f"b-api.{S}")] + [
                f'{S} TXT "api=http"', f'{S} TXT "api=b"', f'http-api.{S} TXT "api=http"', f'b-api.{S} TXT "api=b"']},
    {"name": "1.7 first endpoint without host: the next one's", "options": COMPAT, "records": {APP_PATH: application(
        endpoint(API + "a", port="1", host=None), endpoint(API + "b", host="10.0.0.2", port="2"))}, "asks": [
            (S, "A", [f"{S} A 10.0.0.2"]), (S, "SRV", [f"{S} SRV 1 1 2 {S}"])]},
    {"name": "1.7 IPv6 host", "options": COMPAT, "records": {APP_PATH: application(
        endpoint("http://", host="fd00::5", port="80"))}, "asks": [
            (S, "AAAA", [f"{S} AAAA fd00::5"]), (S, "A", "NODATA"), (S, "SRV", [f"{S} SRV 1 1 80 {S}"])]},
    {"name": "1.7 container without component or description", "options": STRICT,
     "records": {P2: container(yarn_component=None, description=None)}, "whole": [f"{ID2}.{D} A 172.17.0.19"]},
    {"name": "1.7 container without hostname: no PTR", "options": STRICT, "records": {P2: container(yarn_hostname=None)},
     "whole": container_names(False), "asks": [("19.0.17.172.in-addr.arpa.", "PTR", "NXDOMAIN")]},
    {"name": "1.7 empty, short and broken yarn:ip", "options": STRICT, "records": {
        P2: container(ip=""), P3: container(3, "172.17.9"), f"{APP_PATH}/components/c4": container(4, "10.0.0.300")},
     "whole": []},
    {"name": "1.7 list of addresses, with blanks", "options": STRICT, "records": {P2: container(ip=" 172.17.0.19 , 10.0.0.1")},
     "whole": container_names(False)},
    {"name": "1.7 label too long", "options": STRICT, "records": {P2: container(description="x" * 64)},
     "whole": [f"{ID2}.{D} A 172.17.0.19", f"httpd.{S} A 172.17.0.19"]},
    {"name": "1.7 TXT string too long", "options": STRICT, "records": {APP_PATH: application(
        endpoint("http://", uri="http://10.0.0.1:80/" + "x" * 260))}, "asks": [(S, "TXT", [f'{S} TXT "api=http"'])]},
    {"name": "1.7 reverse name outside every zone", "options": STRICT, "records": {P2: container(ip="10.9.9.9")},
     "whole": container_names(False, 2, "10.9.9.9")},
    # 1.2, 1.5
    {"name": "1.5 a description * is a wildcard", "options": STRICT, "records": {P2: container(description="*")}, "asks": [
        (f"anything.{S}", "A", [f"anything.{S} A 172.17.0.19"])]},
    {"name": "1.2 users and system services", "options": STRICT, "records": {
        "/services/x/y": application(endpoint("http://", host="10.0.0.1", port="1")),
        "/users/john.doe/services/x/z": application(endpoint("http://", host="10.0.0.2", port="1"))}, "asks": [
            (f"y.anonymous.{D}", "A", ("A", 1)), (f"z.john.doe.{D}", "A", ("A", 1))]},
    {"name": "1.2 users that are none, and names below no user", "options": STRICT, "records": {
        "/users/Alice/services/x/upper": application(endpoint("http://", host="10.0.0.1", port="1")),
        "/users/a_b/services/x/under": application(endpoint("http://", host="10.0.0.2", port="1")),
        "/services/top": application(endpoint("http://", host="10.0.0.3", port="1"))}, "asks": [
            (f"upper.anonymous.{D}", "A", ("A", 1)), (f"under.a.{D}", "A", ("A", 1)), (f"top.anonymous.{D}", "A", ("A", 1))]},
    {"name": "1.2 a blank and a letter beyond ASCII in a service's name", "options": STRICT, "records": {
        "/users/root/services/x/my%20service": application(endpoint("http://", host="10.0.0.1", port="1")),
        "/users/root/services/x/caf%C3%A9": application(endpoint("http://", host="10.0.0.2", port="1"))}, "asks": [
            (f"my\\032service.root.{D}", "A", ("A", 1)), (f"caf\\233.root.{D}", "A", ("A", 1))]},
    {"name": "1.2 a container record below the root has no service: the name of its id is formed", "options": COMPAT, "records": {
        "/ctr-x": container()}, "whole": [f"ctr-x.{D} A 172.17.0.19", f"ctr-x.{D} AAAA ::ffff:172.17.0.19"]},
    {"name": "1.4 quotes and backslashes of a path are what they are, no escapes", "options": STRICT, "records": {
        APP_PATH: application(endpoint("http://", uri="http://10.0.0.1:80/a%22b%5Cc"))}, "asks": [
            (S, "TXT", [f'{S} TXT "api=http" "path=/a\\"b\\\\c"'])]},
    {"name": "1.3 any other persistence is an application's, case matters", "options": STRICT, "records": {
        P2: container(yarn_persistence="Container"), APP_PATH: {**application(endpoint("http://", host="10.0.0.1", port="1")),
                                                                 "yarn:persistence": "permanent"}},
     "whole": [f"{S} A 10.0.0.1", f"{S} SRV 1 1 1 {S}", f'{S} TXT "api=http"', f"http-api.{S} A 10.0.0.1",
               f"http-api.{S} SRV 1 1 1 {S}", f'http-api.{S} TXT "api=http"']},
    {"name": "1.4 a port is written or there is none; dots of an api become hyphens; the path is decoded", "options": STRICT,
     "records": {APP_PATH: application(endpoint(API + "a.b.c", uri="http://10.0.0.1:8080/a%20b/c"))}, "whole": [
         f"{S} A 10.0.0.1", f"{S} SRV 1 1 8080 {S}", f'{S} TXT "api=a-b-c" "path=/a b/c"', f"a-b-c-api.{S} A 10.0.0.1",
         f"a-b-c-api.{S} SRV 1 1 8080 {S}", f'a-b-c-api.{S} TXT "api=a-b-c" "path=/a b/c"']},
    {"name": "1.4 two endpoints that say the same are one", "options": STRICT, "records": {APP_PATH: application(
        endpoint("http://", host="10.0.0.1", port="81"), endpoint("http://", host="10.0.0.1", port="81"))}, "whole": [
            f"{S} A 10.0.0.1", f"{S} SRV 1 1 81 {S}", f'{S} TXT "api=http"', f"http-api.{S} A 10.0.0.1",
            f"http-api.{S} SRV 1 1 81 {S}", f'http-api.{S} TXT "api=http"']},
    {"name": "1.5 dots and escapes in a description, capitals", "options": STRICT, "records": {
        P2: container(description="A.B"), P3: container(3, "172.17.0.20", "WEB", description="c\\046d")}, "asks": [
            (f"a.b.{S}", "A", ("A", 1)), (f"b.{S}", "A", "NODATA"), (f"c\\.d.{S}", "A", ("A", 1)), (f"web.{S}", "A", ("A", 1))]},
    {"name": "1.5 a description @ is a label, an empty one is none", "options": STRICT, "records": {
        P2: container(description="@"), P3: container(3, "172.17.0.20", description="")}, "asks": [
            (f"\\@.{S}", "A", ("A", 1)), (f"httpd.{S}", "A", ("A", 2)), (f"{ID3}.{D}", "A", ("A", 1))]},
    {"name": "1.5 without yarn:id", "options": STRICT, "records": {P2: container(yarn_id=None)}, "asks": [
        (f"httpd-1.{S}", "TXT", [f'httpd-1.{S} TXT "id=null"'])]},
    {"name": "1.7 zktriple and path endpoints", "options": STRICT, "records": {APP_PATH: application(
        endpoint(API + "z", zk="h:2181"), endpoint("http://", host="10.0.0.1", port="81"))}, "whole": [
            f"{S} A 10.0.0.1", f"{S} SRV 1 1 81 {S}", f'{S} TXT "api=z"', f'{S} TXT "api=http"', f"z-api.{S} A 10.0.0.1",
            f'z-api.{S} TXT "api=z"', f"http-api.{S} A 10.0.0.1", f"http-api.{S} SRV 1 1 81 {S}", f'http-api.{S} TXT "api=http"']},
    {"name": "1.7 name over 255 octets", "options": STRICT, "records": {P2: container(description=".".join(["y" * 60] * 4))},
     "whole": [f"{ID2}.{D} A 172.17.0.19", f"httpd.{S} A 172.17.0.19"]},
    {"name": "1.8 deleting what is not there", "options": STRICT, "steps": [{P2: C1}, {P3: C2}, {P3: None}],
     "whole": container_names(False)},
    {"name": "1.8 a record that becomes another one at every name", "options": STRICT,
     "steps": [{P2: C1}, {P2: container(2, "172.17.0.40", "other", description="moved")}], "whole": [
         f"moved.{S} A 172.17.0.40", f"{ID2}.{D} A 172.17.0.40", f"other.{S} A 172.17.0.40",
         f'moved.{S} TXT "id=container_e50_1451931954322_0016_01_000002"']},
    {"name": "10.2.1 an -api name in strict: addresses beside SRV and TXT, nothing illegal", "options": STRICT,
     "records": {APP_PATH: APP}, "asks": [
         (f"http-api.{S}", "A", [f"http-api.{S} A 192.168.1.5"]), (f"http-api.{S}", "CNAME", "NODATA")]},
    {"name": "10.2.2 no mapped address in strict", "options": STRICT, "records": {P2: C1, APP_PATH: APP}, "asks": [
        (S, "AAAA", "NODATA"), (f"httpd.{S}", "AAAA", "NODATA")]},
    {"name": "10.2.2 real IPv6 beside IPv4 in compat: the real one only", "options": COMPAT, "records": {
        P2: C1, P3: container(3, "fd00::20")}, "asks": [
            (f"httpd.{S}", "AAAA", [f"httpd.{S} AAAA {MAPPED}", f"httpd.{S} AAAA fd00::20"]), (f"httpd.{S}", "A", ("A", 1))]},
    {"name": "10.2.3 SRV of a host that is not S: a name that resolves", "options": STRICT, "records": {APP_PATH: application(
        endpoint("http://", host="10.0.0.1", port="81"), endpoint(API + "b", host="10.0.0.2", port="82"))}, "asks": [
            (f"b-api.{S}", "SRV", ("SRV", 1)), (f"http-api.{S}", "SRV", [f"http-api.{S} SRV 1 1 81 {S}"])]},
    # 10.2, strict
    {"name": "10.2.8 service-level name", "options": STRICT, "records": {
        YARN: application(), f"{YARN}/components/ctr-1": container(2, "172.17.0.19"),
        f"{YARN}/components/ctr-2": container(3, "172.17.0.20", "other")}, "asks": [
            (f"web.root.{D}", "A", [f"web.root.{D} A 172.17.0.19", f"web.root.{D} A 172.17.0.20"])]},
    {"name": "10.2.8 service-level name, compat: none", "options": COMPAT, "records": {
        YARN: application(), f"{YARN}/components/ctr-1": C1}, "asks": [(f"web.root.{D}", "A", "NODATA")]},
    {"name": "10.2.7 one is not ready", "options": STRICT, "records": {P2: container(bobbin_ready="false"), P3: C2}, "asks": [
        (f"httpd.{S}", "A", [f"httpd.{S} A 172.17.0.20"]), (f"httpd-1.{S}", "A", ("A", 1)), (f"{ID2}.{D}", "A", ("A", 1))]},
    {"name": "10.2.7 none is ready: all are answered", "options": STRICT,
     "records": {P2: container(bobbin_ready="false"), P3: container(3, "172.17.0.20", bobbin_ready="false")},
     "asks": [(f"httpd.{S}", "A", ("A", 2))]},
    {"name": "10.2.7 the last ready one goes, a new one comes", "options": STRICT,
     "steps": [{P2: container(bobbin_ready="false"), P3: C2}, {P3: None}], "asks": [
         (f"httpd.{S}", "A", [f"httpd.{S} A 172.17.0.19"])]},
    {"name": "10.2.7 readiness comes", "options": STRICT, "steps": [{P2: container(bobbin_ready="false"), P3: C2}, {P2: C1}],
     "asks": [(f"httpd.{S}", "A", ("A", 2))]},
    {"name": "10.2.8 SRV by component and by endpoint", "options": STRICT, "records": {
        P2: ported(container()), P3: ported(container(3, "fd00::20"), "8081")}, "asks": [
            (f"_httpd._tcp.{S}", "SRV", [f"_httpd._tcp.{S} SRV 1 1 8080 httpd-1.{S}", f"_httpd._tcp.{S} SRV 1 1 8081 httpd-2.{S}"]),
            (f"_http._tcp.httpd.{S}", "SRV", ("SRV", 2)), (f"_tcp.{S}", "SRV", "NODATA"), (f"_httpd._udp.{S}", "SRV", "NXDOMAIN")]},
    {"name": "10.2.8 SRV by the name of a port", "options": STRICT, "records": {
        P2: {**container(), "external": [endpoint("metrics", host="172.17.0.19", port="9100"), endpoint("odd api", host="172.17.0.19", port="1")]}},
     "asks": [(f"_metrics._tcp.httpd.{S}", "SRV", [f"_metrics._tcp.httpd.{S} SRV 1 1 9100 httpd-1.{S}"]),
              (f"_odd-api._tcp.httpd.{S}", "SRV", "NXDOMAIN")]},
    {"name": "10.2.8 SRV by component, compat: none", "options": COMPAT, "records": {P2: ported(container())},
     "whole": container_names(True)},
    {"name": "10.2.7 SRV of those that are ready", "options": STRICT, "records": {
        P2: ported(container(bobbin_ready="false")), P3: ported(container(3, "172.17.0.20"))}, "asks": [
            (f"_httpd._tcp.{S}", "SRV", [f"_httpd._tcp.{S} SRV 1 1 8080 httpd-2.{S}"])]},
    {"name": "10.2.7 SRV: none is ready", "options": STRICT, "steps": [
        {P2: ported(container(bobbin_ready="false")), P3: ported(container(3, "172.17.0.20"))}, {P3: None}], "asks": [
            (f"_httpd._tcp.{S}", "SRV", [f"_httpd._tcp.{S} SRV 1 1 8080 httpd-1.{S}"])]},
    {"name": "10.2.8 SRV whose record goes", "options": STRICT, "steps": [{P2: ported(container())}, {P2: container()}],
     "whole": container_names(False)},
    # 6.4 TTLs
    {"name": "6.4 TTL of a component, of a type, negative", "options": {
        **STRICT, "ttl.httpd": "5s", "ttl-type.srv": "7", "negative-ttl": "11"},
     "records": {P2: C1, APP_PATH: APP}, "asks": [
         (f"httpd.{S}", "A", [f"5 httpd.{S} A 172.17.0.19"]), (f"http-api.{S}", "SRV", [f"7 http-api.{S} SRV 1 1 1027 {S}"]),
         (S, "A", [f"30 {S} A 192.168.1.5"]), (f"missing.{D}", "A", "NXDOMAIN 11")]},
    {"name": "6.1 the manual's spelling of dns-ttl", "options": {"zone-subnet": "172.17.0", "=hadoop.registry.dns-ttl": "77"},
     "records": {P2: C1}, "asks": [(f"{ID2}.{D}", "A", [f"77 {ID2}.{D} A 172.17.0.19"])]},
    # 1.4, 1.7: names as hosts
    {"name": "1.7 hosts that are names", "options": STRICT, "wait": True, "records": {
        APP_PATH: application(endpoint("http://", host="localhost", port="80")), P2: container(ip="localhost")}, "asks": [
            (f"http-api.{S}", "SRV", [f"http-api.{S} SRV 1 1 80 localhost."]), (f"{ID2}.{D}", "A", [f"{ID2}.{D} A 127.0.0.1"]),
            (S, "A", [f"{S} A 127.0.0.1"])]},
]
