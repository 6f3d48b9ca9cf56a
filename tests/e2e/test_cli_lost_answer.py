"""A registry that takes a write and ends the connection instead of answering: `bobbin` says so, and does not send it again."""
import os
import socket
import subprocess
import threading

import pytest

from harness import BIN, PATIENCE

pytestmark = pytest.mark.sanitize


class Deaf:
    """Reads each request whole and hangs up; `requests` are their first lines."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.requests = []
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self):
        while True:
            connection, _ = self.listener.accept()
            with connection:
                text = b""
                while part := connection.recv(65536):
                    text += part
                    head, _, body = text.partition(b"\r\n\r\n")
                    length = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
                    if b"\r\n\r\n" in text and len(body) >= (length or [0])[0]:
                        break
                if not text:
                    return
                self.requests.append(text.split(b"\r\n")[0].decode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        socket.create_connection(("127.0.0.1", self.port)).close()
        self.thread.join(PATIENCE)
        self.listener.close()


PATH = "/users/alice/x"
OWN = {"mknode": ("POST", ["mknode", PATH]), "bind": ("PUT", ["bind", "--overwrite", PATH, "--description", "x"]),
       "rm": ("DELETE", ["rm", "--recursive", PATH]), "purge": ("POST", ["purge", "container_1_1_1_1"])}
HADOOP = {"mknode": ("POST", ["mknode", PATH]), "bind": ("PUT", ["bind", "-webui", "http://h/", "-api", "a", PATH]),
          "rm": ("DELETE", ["rm", PATH])}


def lose_answer(method, words, before=()):
    with Deaf() as deaf:
        at = ["-D", f"hadoop.registry.url=http://127.0.0.1:{deaf.port}"]
        words = [*at, *before, *words] if before else [*words, *at]
        done = subprocess.run([os.path.join(BIN, "bobbin"), "registry", *words], capture_output=True, text=True, timeout=PATIENCE,
                              check=False)
        writes = [line.split()[0] for line in deaf.requests if not line.startswith("GET")]
        assert writes == [method], (done, deaf.requests)
    assert "whether this was done is not known" in done.stderr, done
    return done


@pytest.mark.parametrize("name", OWN)
def test_a_lost_answer_is_said_and_the_write_is_sent_once(name):
    method, words = OWN[name]
    done = lose_answer(method, words)
    assert done.returncode == 33, done
    assert done.stderr.startswith("bobbin: ") and done.stderr.count("\n") == 1, done


@pytest.mark.parametrize("name", HADOOP)
def test_hadoops_words_stay(name):
    method, words = HADOOP[name]
    done = lose_answer(method, words, ["-o", "hadoop"])
    assert done.stderr.startswith(f"IO Exception when accessing path :{PATH}: "), done
    assert "RegistryIOException" in done.stderr, done
