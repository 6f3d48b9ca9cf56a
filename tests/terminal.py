"""Programs at a terminal: what they print is read, keys are typed, the terminal is resized."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios

from harness import wait_for


class Terminal:
    """A program at a terminal of its own, of which it is the session's leader; at the end of the `with` block it is killed."""

    def __init__(self, words, rows=31, columns=117):
        self.master, slave = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.seen = b""
        environment = {**os.environ, "TERM": "xterm-256color"}
        self.process = subprocess.Popen(["setsid", "-c", "-w", *words], stdin=slave, stdout=slave, stderr=slave, env=environment)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        if select.select([self.master], [], [], 0.02)[0]:
            self.seen += os.read(self.master, 65536)

    def until(self, pattern):
        """Type nothing, read until the pattern comes; what it matched is consumed."""
        def found():
            self.read()
            return re.search(pattern, self.seen)
        try:
            match = wait_for(found, pattern)
        except AssertionError as error:
            raise AssertionError(f"{pattern} is not in {self.seen}") from error
        self.seen = self.seen[match.end():]
        return match

    def type(self, text):
        os.write(self.master, text)

    def end(self):
        """Its exit code."""
        def ended():
            self.read()
            return self.process.poll() is not None
        wait_for(ended, f"its end; it said {self.seen}")
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)
