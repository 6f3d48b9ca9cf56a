"""Every row of registry_cli.tsv by `bobbin registry -o hadoop`, on the embedded store and on a real ZooKeeper; and the errors that
no words on a command line bring about by themselves (CL16)."""
import base64
import os
import subprocess

import pytest

from cli import check, read_cases
from harness import BIN, STORES, Registry, store_url
from operations import Rest, empty

CASES = read_cases()


@pytest.fixture(scope="module", params=STORES)
def registry(request):
    with store_url(request.param) as url:
        with Registry(store=url, options={"registryd": {"hadoop.registry.path.names": "zookeeper", "hadoop.registry.admin.users": "alice"}}) as r:
            yield r


EXCEPTIONS = "org.apache.hadoop.registry.client.exceptions."


def run(registry, *words, **env):
    command = [os.path.join(BIN, "bobbin"), "registry", "--url", f"http://127.0.0.1:{registry.registry_port}", "-o", "hadoop", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **env})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_command_line(registry, case):
    empty(Rest(registry))
    for words, code, lines in case[1]:
        done = run(registry, *words)
        assert done.returncode == code % 256, (words, done)
        check(lines["1"], done.stdout, (words, "stdout"))
        check(lines["2"], done.stderr, (words, "stderr"))


def test_cl16_bytes_that_are_no_record(registry):
    empty(Rest(registry))
    node = {"path": "/bad", "base64": base64.b64encode(b'{"type":"JSONServiceRecord",').decode()}
    assert registry.registry("POST", "/import", {"nodes": [node]}, base="/ws/v1/registry-admin", query="user.name=root").json["created"] == 1
    done = run(registry, "resolve", "/bad")
    assert (done.returncode, done.stdout) == (255, "")
    assert done.stderr.startswith(f"Unable to read record at: /bad: {EXCEPTIONS}InvalidRecordException: `/bad': "), done


def test_cl16_who_is_not_let_and_who_holds_an_accessor():
    options = {"hadoop.registry.secure": "true", "hadoop.registry.kerberos.realm": "R"}
    bind = ("bind", "-rest", "u", "-api", "Api", "/services/x")
    with Registry(options={"registryd": options}) as secure:
        made = secure.registry("POST", "/services/x", headers={"X-Bobbin-Write-Accessors": "u2:o9NxcCGDPOlcV7JVhmKHOf5ctVE="},
                               query="op=mknode&user.name=yarn")
        assert made.status == 201, made
        refused = run(secure, *bind, HADOOP_USER_NAME="mallory")
        assert (refused.returncode, refused.stdout) == (255, "")
        assert refused.stderr.startswith(f"No Permission to path: /services/x: {EXCEPTIONS}NoPathPermissionsException: "), refused
        assert run(secure, *bind, HADOOP_USER_NAME="mallory", BOBBIN_ACCESSOR="u2:p2").returncode == 0
        bad = run(secure, *bind, HADOOP_USER_NAME="mallory", BOBBIN_ACCESSOR="no-pair")
        assert bad.returncode == 255 and "Invalid id:password" in bad.stderr and "no-pair" not in bad.stderr, bad


def configured(directory, **values):
    """HADOOP_CONF_DIR with these keys; _ stands for a dot."""
    rows = "".join(f"<property><name>hadoop.registry.{k.replace('_', '.')}</name><value>{v}</value></property>" for k, v in values.items())
    directory.mkdir()
    (directory / "core-site.xml").write_text(f"<configuration>{rows}</configuration>")
    return {"HADOOP_CONF_DIR": str(directory), "HADOOP_USER_NAME": "mallory"}


def test_the_digest_of_hadoops_configuration_is_the_accessor(tmp_path):
    options = {"hadoop.registry.secure": "true", "hadoop.registry.kerberos.realm": "R"}
    bind = ("bind", "-rest", "u", "-api", "Api", "/services/x")
    digest = {"secure": "true", "client_auth": "digest", "client_auth_id": "u2", "client_auth_password": "p2"}
    held = configured(tmp_path / "held", **digest)
    with Registry(options={"registryd": options}) as secure:
        made = secure.registry("POST", "/services/x", headers={"X-Bobbin-Write-Accessors": "u2:o9NxcCGDPOlcV7JVhmKHOf5ctVE="},
                               query="op=mknode&user.name=yarn")
        assert made.status == 201, made
        assert run(secure, *bind, **held).returncode == 0
        assert run(secure, "mknode", "/services/x/y", **held).returncode == 0
        assert run(secure, "rm", "/services/x/y", **held).returncode == 0
        for n, other in enumerate(({"secure": "false"}, {"client_auth": "simple"}, {"client_auth_password": "wrong"})):
            refused = run(secure, *bind, **configured(tmp_path / f"other{n}", **{**digest, **other}))
            assert refused.stderr.startswith("No Permission to path: /services/x: "), (other, refused)
        given = run(secure, *bind, **held, BOBBIN_ACCESSOR="u2:wrong")
        assert given.stderr.startswith("No Permission to path: /services/x: "), given
        lacking = run(secure, *bind, **configured(tmp_path / "lacking", **{**digest, "client_auth_password": ""}))
        assert lacking.returncode == 255 and "Missing value for configuration option hadoop.registry.client.auth.password" in lacking.stderr, lacking
        assert run(secure, "ls", "/services", **held).stdout == "x\n"
