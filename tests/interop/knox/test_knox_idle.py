"""Connections that a real Apache Knox keeps for its next requests, and our limit for those without any."""
import re

from gateway import JSON, curl
from harness import request, wait_for

RECORD = b'{"type":"JSONServiceRecord","description":"d","external":[],"internal":[]}'


def n_closed(behind):
    """Connections that registryd has closed for want of a request."""
    text = request(behind.hasty.registry_port, "GET", "/metrics").body.decode()
    return int(re.search(r"^\w*http_requests_slow_total (\d+)$", text, re.M)[1])


def test_a_write_never_meets_the_close_of_an_idle_connection(behind):
    """Knox does not send a write again that was lost with its connection. So it drops an idle one before registryd closes it."""
    def put():
        path = "/users/alice/idle?createParents=true&overwrite=true"
        return curl("-X", "PUT", JSON, "--data-binary", "@-", behind.registry(path, "hasty"), data=RECORD)
    assert put().status == 201
    wait_for(lambda: n_closed(behind) == 1, "registryd has closed the connection")
    again = put()
    assert again.status == 200, again
