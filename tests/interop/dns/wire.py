"""DNS messages as bytes, for what dig cannot send or does not show."""
import socket
import struct

A, NS, CNAME, SOA, TXT, OPT, AAAA, ANY = 1, 2, 5, 6, 16, 41, 28, 255
NSID, COOKIE, KEEPALIVE, PADDING, EDE = 3, 10, 11, 12, 15
FORMERR, NOTIMP, REFUSED, BADCOOKIE = 1, 4, 5, 23


def name(text):
    labels = [label.encode() for label in text.rstrip(".").split(".") if label]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def header(id=0x1234, flags=0, qd=1, an=0, ns=0, ar=0):
    return struct.pack(">HHHHHH", id, flags, qd, an, ns, ar)


def question(text, qtype=A, qclass=1):
    return name(text) + struct.pack(">HH", qtype, qclass)


def opt(options=b"", size=1232, version=0, flags=0):
    return b"\0" + struct.pack(">HHBBHH", OPT, size, 0, version, flags, len(options)) + options


def option(code, value=b""):
    return struct.pack(">HH", code, len(value)) + value


def query(text, qtype=A, qclass=1, options=None, id=0x1234, flags=0, size=1232):
    """One question; with options (b"" is none of them) an OPT record."""
    extra = b"" if options is None else opt(options, size)
    return header(id, flags, ar=1 if extra else 0) + question(text, qtype, qclass) + extra


def read_name(message, at):
    """Labels and where the next field begins."""
    labels, end = [], None
    while True:
        length = message[at]
        if length >= 0xC0:
            end = end or at + 2
            to = struct.unpack_from(">H", message, at)[0] & 0x3FFF
            assert to < at, "a compression pointer leads forward"
            at = to
            continue
        if not length:
            return ".".join(labels) + ".", end or at + 1
        labels.append(message[at + 1:at + 1 + length].decode("latin-1"))
        at += 1 + length


class Answer:
    """A response, read strictly: every octet belongs to something."""

    def __init__(self, message):
        self.size, self.bytes = len(message), message
        self.id, self.flags, *counts = struct.unpack_from(">HHHHHH", message)
        self.counts, self.options, self.edns, self.question = counts, {}, None, None
        self.rdata_at = []  # of all records, in order
        self.rcode, at = self.flags & 15, 12
        for _ in range(counts[0]):
            self.question, at = read_name(message, at)
            at += 4
        self.records = [[], [], []]
        for section in range(3):
            for _ in range(counts[1 + section]):
                at = self._record(message, at, section)
        assert at == len(message), f"{len(message) - at} octets after the end"

    def _record(self, message, at, section):
        owner, at = read_name(message, at)
        kind, klass, ttl, length = struct.unpack_from(">HHIH", message, at)
        data = message[at + 10:at + 10 + length]
        assert len(data) == length
        self.rdata_at.append(at + 10)
        if kind == OPT:
            assert self.edns is None and owner == "." and section == 2
            self.edns = {"size": klass, "version": ttl >> 16 & 255, "flags": ttl & 0xFFFF}
            self.rcode |= ttl >> 24 << 4
            self._options(data)
        else:
            self.records[section].append((owner, kind, ttl, data))
        return at + 10 + length

    def _options(self, data):
        while data:
            code, length = struct.unpack_from(">HH", data)
            self.options[code] = data[4:4 + length]
            data = data[4 + length:]

    @property
    def is_response(self):
        return bool(self.flags & 0x8000)

    @property
    def is_truncated(self):
        return bool(self.flags & 0x0200)

    @property
    def is_authoritative(self):
        return bool(self.flags & 0x0400)

    @property
    def opcode(self):
        return self.flags >> 11 & 15


class Udp:
    def __init__(self, port, address="127.0.0.1", source=None, timeout=5):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect((address, port))
        self.socket.settimeout(timeout)

    def send(self, message):
        self.socket.send(message)

    def receive(self):
        return Answer(self.socket.recv(65535))

    def ask(self, message):
        self.send(message)
        return self.receive()

    def is_silent(self, seconds=0.3):
        """Nothing came within that time."""
        self.socket.settimeout(seconds)
        try:
            self.socket.recv(65535)
            return False
        except socket.timeout:
            return True
        finally:
            self.socket.settimeout(5)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class Tcp:
    """Messages over a stream socket; one over TLS may be given."""

    def __init__(self, port, sock=None):
        self.socket = sock or socket.create_connection(("127.0.0.1", port), timeout=10)

    @staticmethod
    def framed(message):
        return struct.pack(">H", len(message)) + message

    def send(self, message):
        self.socket.sendall(self.framed(message))

    def read(self, n):
        data = b""
        while len(data) < n:
            part = self.socket.recv(n - len(data))
            if not part:
                raise EOFError(f"closed after {len(data)} of {n} octets")
            data += part
        return data

    def receive(self):
        return Answer(self.read(struct.unpack(">H", self.read(2))[0]))

    def ask(self, message):
        self.send(message)
        return self.receive()

    def is_closed(self):
        """The server closes; waits for it."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
