"""What the dnsd of this folder serves, and the question that shows whether it still does."""
import os
import socket
import subprocess

from wire import Udp, query

BASE = "/users/root/services/yarn-service/test1"
LABEL = "a" * 60
WILD = """$TTL 300
@ SOA ns hostmaster 7 3600 600 86400 30
@ NS ns
ns A 127.0.0.1
*.wild A 10.0.0.1
a.exists.wild A 10.0.0.2
sub NS ns1.sub
sub NS ns2.sub
ns1.sub A 10.0.0.53
ns2.sub A 10.0.0.54
old DNAME new
x.new A 10.0.0.3
new A 10.0.0.4
chain CNAME gone
long DNAME {longest}
multi 60 A 10.0.1.1
multi 60 A 10.0.1.2
odd TYPE65400 \\# 3 010203
""".format(longest=".".join([LABEL] * 3))
# Sets at the limits of a message: no datagram holds the first ones, no message at all the last.
LARGE = """$TTL 300
@ SOA ns.zone.example. hostmaster.zone.example. 7 3600 600 86400 30
@ NS ns.zone.example.
$GENERATE 1-1500 names PTR host-$.some.where.else
$GENERATE 1-40 sub NS ns-$.sub
$GENERATE 1-40 ns-$.sub A 10.0.0.$
beyond TXT "beside what is too large"
$GENERATE 0-249 beyond A 10.0.1.$
""" + "".join(f"$GENERATE 0-249 beyond A 10.0.{i}.$\n" for i in range(2, 21))
CLASSLESS = """$TTL 300
@ SOA ns.zone.example. hostmaster.zone.example. 7 3600 600 86400 30
@ NS ns.zone.example.
9 CNAME 9.8/29
9.8/29 PTR nine.zone.example.
"""


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
            s.bind(("::1", 0))
        return True
    except OSError:
        return False


def certificate(directory, name):
    """A key and a self-signed certificate."""
    key, cert = os.path.join(directory, "tls.key"), os.path.join(directory, "tls.crt")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-keyout", key, "-out", cert], check=True, capture_output=True)
    return cert, key


APPLICATION = {"type": "JSONServiceRecord", "description": "an application", "internal": [], "external": [
    {"api": "http://", "addressType": "uri", "protocolType": "webui", "addresses": [{"uri": "http://127.77.3.3:8088/ui"}]}],
    "yarn:id": "application_1_2", "yarn:persistence": "application"}


APPLICATION_6 = {**APPLICATION, "external": [
    {"api": "http://", "addressType": "uri", "protocolType": "webui", "addresses": [{"uri": "http://[fd00:5::8]:8088/ui"}]},
    {"api": "classpath:org.apache.hadoop.yarn.service.ipc", "addressType": "host/port", "protocolType": "hadoop/IPC",
     "addresses": [{"host": "fd00:5::8", "port": "1026"}]}]}


def answers(stack):
    """Every UDP worker answers a good question: the kernel spreads client ports over them."""
    for _ in range(16):
        with Udp(stack.dns_port) as client:
            answer = client.ask(query("httpd-1.test1.root.bobbin.test"))
            assert answer.rcode == 0 and [record[3] for record in answer.records[0]] == [bytes([127, 77, 0, 19])]
