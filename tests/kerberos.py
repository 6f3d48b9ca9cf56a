"""A Kerberos realm of our own, from Debian's packages: a KDC on a free loopback port, its principals and keytabs.

    with Realm() as realm:
        keytab = realm.keytab("registryd/here")      # makes the principal, too
        Daemon(…, env=realm.env)

It has its own temporary directory; nothing of the machine's own Kerberos is read or changed.
"""
import glob
import os
import shutil
import signal
import subprocess
import tempfile

import pytest

import zookeeper
from java import die_with_parent, wait_for
from ports import free_port

NAME = "EXAMPLE.COM"
SERVER = f"zookeeper/127.0.0.1@{NAME}"
PROVIDER = "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n"
LOGIN = """{entry} {{
    /* made for a test */ com.sun.security.auth.module.Krb5LoginModule required
    useKeyTab=true storeKey=true useTicketCache=false keyTab="{keytab}" principal="{principal}";
}};
"""
# No plug-ins: libkrb5 would open their directory on its thread, and the thread sanitizer does not see opendir() make a
# descriptor, nor libuv close the one that had this number before.
KRB5_CONF = """[libdefaults]
 plugin_base_dir = {dir}/none
 default_realm = {realm}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 kdc_timesync = 0
 rdns = false
 permitted_enctypes = aes256-cts-hmac-sha1-96
 kdc_timeout = 2000
 max_retries = 1
[realms]
 {realm} = {{
  kdc = 127.0.0.1:{port}
 }}
"""
KDC_CONF = """[kdcdefaults]
 kdc_listen = 127.0.0.1:{port}
 kdc_tcp_listen = 127.0.0.1:{port}
[realms]
 {realm} = {{
  database_name = {dir}/principal
  key_stash_file = {dir}/stash
  acl_file = {dir}/kadm5.acl
  supported_enctypes = aes256-cts-hmac-sha1-96:normal
 }}
[logging]
 kdc = FILE:{dir}/kdc.log
"""


def program(name):
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not found:
        raise RuntimeError(f"no {name}: apt-get install krb5-kdc krb5-admin-server krb5-user")
    return found


def faketime():
    """The library that gives a program another clock."""
    found = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    if not found:
        raise RuntimeError("no libfaketime.so.1: apt-get install libfaketime")
    return found[0]


class Realm:
    """One realm with one KDC."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="kerberos-")
        self.port = free_port()
        self.kdc = None
        self.conf = self.write("krb5.conf", KRB5_CONF.format(realm=NAME, port=self.port, dir=self.dir))
        profile = self.write("kdc.conf", KDC_CONF.format(realm=NAME, port=self.port, dir=self.dir))
        self.env = {"KRB5_CONFIG": self.conf, "KRB5_KDC_PROFILE": profile, "KRB5CCNAME": f"FILE:{self.dir}/no-cache",
                    "KRB5RCACHENAME": "none:"}

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        return path

    def run(self, *command):
        done = subprocess.run([program(command[0]), *command[1:]], env={**os.environ, **self.env}, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def admin(self, query):
        """One order of kadmin.local."""
        return self.run("kadmin.local", "-r", NAME, "-q", query)

    def principal(self, name, *options):
        self.admin(" ".join(["addprinc", "-randkey", *options, name]))
        return f"{name}@{NAME}"

    def keytab(self, *names, file=None):
        """A keytab with the keys of these principals, which are made where they are missing."""
        path = os.path.join(self.dir, file or names[0].replace("/", "-") + ".keytab")
        for name in names:
            if name not in self.admin("listprincs"):
                self.principal(name)
            self.admin(f"ktadd -norandkey -k {path} {name}")
        return path

    def jaas(self, entry, keytab, principal):
        """A JAAS file with this entry."""
        name = f"{entry}-{principal.split('@')[0].replace('/', '-')}.jaas"
        return self.write(name, LOGIN.format(entry=entry, keytab=keytab, principal=principal))

    def java(self, jaas=None):
        """Properties of a JVM in this realm."""
        login = {"java.security.auth.login.config": jaas} if jaas else {}
        return {"java.security.krb5.conf": self.conf, "zookeeper.server.principal": SERVER, **login}

    def zookeeper(self):
        """A ZooKeeper that does SASL; its principal is SERVER."""
        jaas = self.jaas("Server", self.keytab(SERVER.split("@")[0]), SERVER)
        return zookeeper.Server(config=PROVIDER, properties=self.java(jaas))

    def start_kdc(self, clock=None):
        """clock: how far its clock is ahead, as "+1h"."""
        command = [program("krb5kdc"), "-n", "-r", NAME, "-P", os.path.join(self.dir, "pid")]
        other_clock = {"LD_PRELOAD": faketime(), "FAKETIME": clock} if clock else {}
        with open(os.path.join(self.dir, "kdc.out"), "ab") as out:
            self.kdc = subprocess.Popen(command, env={**os.environ, **self.env, **other_clock}, stdin=subprocess.DEVNULL, stdout=out,
                                        stderr=out, preexec_fn=die_with_parent)
        wait_for("the KDC listens", self._listens, 20)

    def _listens(self):
        assert self.kdc.poll() is None, self.log()
        return "commencing operation" in self.log()

    def log(self):
        text = ""
        for name in ("kdc.out", "kdc.log"):
            path = os.path.join(self.dir, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as f:
                    text += f.read()[-3000:]
        return text

    def stop_kdc(self):
        if self.kdc and self.kdc.poll() is None:
            self.kdc.send_signal(signal.SIGTERM)
            self.kdc.wait(20)
        self.kdc = None
        log = os.path.join(self.dir, "kdc.log")
        if os.path.exists(log):
            os.remove(log)

    def __enter__(self):
        try:
            self.run("kdb5_util", "-r", NAME, "create", "-s", "-P", "secret")
            self.start_kdc()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop_kdc()
        shutil.rmtree(self.dir, ignore_errors=True)


# Fixtures: a module that imports them has a realm and a ZooKeeper in it of its own.
@pytest.fixture(scope="module")
def realm():
    with Realm() as r:
        yield r


@pytest.fixture(scope="module")
def zk(realm):
    with realm.zookeeper() as server:
        yield server
