"""A misspelt key is refused on the command line and named where a file has it; every key of any program and of Hadoop is known."""
import os
import subprocess

import pytest

from harness import BIN, Daemon, free_port

DAEMONS = {"registryd": "hadoop.registry.http.address", "dnsd": "hadoop.registry.dns.http.address", "svcmgr": "yarn.service.api-server.address"}
DOMAIN = ["-D", "hadoop.registry.dns.domain-name=bobbin.test"]


def run(*words):
    return subprocess.run([os.path.join(BIN, words[0]), *words[1:]], capture_output=True, text=True, timeout=60, check=False,
                          env={k: v for k, v in os.environ.items() if k != "HADOOP_CONF_DIR"})


def site(directory, *keys):
    with open(directory / "core-site.xml", "w", encoding="utf-8") as f:
        f.write("<configuration>\n" + "".join(f"<property><name>{k}</name><value>1</value></property>\n" for k in keys) + "</configuration>\n")
    return str(directory / "core-site.xml")


@pytest.mark.parametrize("name", DAEMONS)
def test_a_misspelt_key_of_the_command_line_is_refused(name, tmp_path):
    rows = [("hadoop.registry.storee=foo", "hadoop.registry.storee: no such key; did you mean hadoop.registry.store?"),
            ("bobbin.data-dir=foo", "bobbin.data-dir: no such key; did you mean bobbin.data.dir?"),
            ("yarn.service.dialect=seed", "yarn.service.dialect: no such key; --show-defaults lists them")]
    for assignment, line in rows:
        done = run(name, "-t", *DOMAIN, "-D", assignment)
        assert (done.returncode, done.stdout, done.stderr) == (3, "", f"-D: {line}\n")
    started = run(name, *DOMAIN, "-D", f"bobbin.data.dir={tmp_path}/data", "-D", rows[0][0])
    assert started.returncode == 3 and rows[0][1] in started.stderr and os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", DAEMONS)
def test_a_misspelt_key_of_a_file_is_named(name, tmp_path):
    path = site(tmp_path, "fs.of.others", "hadoop.registry.dns.zone-subnett", "hadoop.registry.dns.ttl.web")
    line = f"{path}:3: hadoop.registry.dns.zone-subnett: no such key; did you mean hadoop.registry.dns.zone-subnet?"
    checked = run(name, "--config", str(tmp_path), "-t", *DOMAIN)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "configuration is fine\n", f"warning: {line}\n")
    strict = run(name, "--config", str(tmp_path), "-t", "--strict", *DOMAIN)
    assert (strict.returncode, strict.stdout, strict.stderr) == (3, "", f"{line}\n")
    options = {"bobbin.data.dir": tmp_path / "data", DAEMONS[name]: "127.0.0.1:0", "hadoop.registry.dns.domain-name": "bobbin.test",
               "hadoop.registry.dns.bind-port": 0, "hadoop.registry.url": f"http://127.0.0.1:{free_port()}"}
    daemon = Daemon(name, options, env={"HADOOP_CONF_DIR": str(tmp_path)}).start("config_warning")
    try:
        assert daemon.event("config_warning")["warning"] == line
    finally:
        daemon.stop()
    alone = run(name, "--strict")
    assert alone.returncode == 2 and "goes with -t" in alone.stderr


def test_keys_of_hadoop_that_are_not_used_are_known(tmp_path):
    site(tmp_path, "hadoop.registry.dns.private-key-file", "hadoop.registry.dns.zone-ip-min", "hadoop.registry.zk.service.ticktime",
         "hadoop.registry.system.acls", "yarn.service.am.java.opts", "yarn.service.framework.path", "yarn.service.client-am.retry-interval-ms")
    for name in DAEMONS:
        checked = run(name, "--config", str(tmp_path), "-t", "--strict", *DOMAIN)
        assert (checked.returncode, checked.stderr) == (0, ""), name


def test_the_command_refuses_them_too(tmp_path):
    done = run("bobbin", "registry", "ls", "/", "-D", "hadoop.registry.ulr=http://127.0.0.1:1")
    assert done.returncode == 3 and "-D: hadoop.registry.ulr: no such key; did you mean hadoop.registry.url?" in done.stderr, done
    site(tmp_path, "hadoop.registry.ulr")
    done = run("bobbin", "registry", "ls", "/", "--config", str(tmp_path), "--url", f"http://127.0.0.1:{free_port()}")
    assert done.returncode not in (0, 3) and "ulr" not in done.stderr, "a file is the daemons' to check"


def test_the_log_says_which_line_chose_the_store(tmp_path):
    """A store that follows from hadoop.registry.zk.quorum of a file was logged with origin=default."""
    options = {"bobbin.data.dir": tmp_path / "data", DAEMONS["registryd"]: "127.0.0.1:0"}
    path = tmp_path / "core-site.xml"
    port = free_port()
    path.write_text(f"<configuration>\n<property><name>hadoop.registry.zk.quorum</name><value>127.0.0.1:{port}</value></property>\n"
                    "</configuration>\n", encoding="utf-8")
    rows = [({}, {"HADOOP_CONF_DIR": str(tmp_path)}, f"zk://127.0.0.1:{port}/registry", f"{path}:2"),
            ({"hadoop.registry.store": f"file:{tmp_path}/s"}, {"HADOOP_CONF_DIR": str(tmp_path)}, f"file:{tmp_path}/s", "-D"),
            ({}, {}, f"file:{tmp_path}/data/registry", "default")]
    for more, env, url, origin in rows:
        daemon = Daemon("registryd", {**options, **more}, env=env).start("store_chosen")
        try:
            chosen = daemon.event("store_chosen")
            assert (chosen["url"], chosen["origin"]) == (url, origin)
        finally:
            daemon.stop()


def test_signed_zones_are_refused_by_name():
    for words in (["-t"], []):
        done = run("dnsd", *words, *DOMAIN, "-D", "hadoop.registry.dns.dnssec.enabled=true")
        assert done.returncode == 3 and "hadoop.registry.dns.dnssec.enabled: asks for signed zones" in done.stderr, done
    assert run("dnsd", "-t", *DOMAIN, "-D", "hadoop.registry.dns.dnssec.enabled=false").returncode == 0
