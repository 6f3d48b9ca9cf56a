"""A command group of bobbin against the svcmgr of a Stack, as user alice."""
import os
import subprocess

from harness import BIN, PATIENCE


def words_of(group, stack, verb, *words):
    return [os.path.join(BIN, "bobbin"), group, verb, "--url", f"http://127.0.0.1:{stack.services_port}", "--user", "alice", *words]


def commands(group):
    """bobbin runs `bobbin GROUP VERB …`; ok returns what it prints; refused asserts its exit code and returns its error."""
    def bobbin(stack, *words, stdin=None):
        return subprocess.run(words_of(group, stack, *words), input=stdin, capture_output=True, text=True, timeout=2 * PATIENCE,
                              check=False)

    def ok(stack, *words, stdin=None):
        done = bobbin(stack, *words, stdin=stdin)
        assert done.returncode == 0, done
        return done.stdout

    def refused(stack, code, *words, stdin=None):
        done = bobbin(stack, *words, stdin=stdin)
        assert done.returncode == code, done
        assert done.stdout == "" and done.stderr.startswith("bobbin: "), done
        return done.stderr
    return bobbin, ok, refused
