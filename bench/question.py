"""Ask one question over UDP and read the answer, just enough to compare what two servers say."""
import socket
import struct

TYPES = {"A": 1, "PTR": 12, "TXT": 16, "SOA": 6, "SRV": 33}
OPT = b"\0\0\x29\x04\xd0\0\0\x80\0\0\0"  # 1232 octets, DO


class Reply:
    def __init__(self, message):
        self.size = len(message)
        flags, n_questions, n_answers, _, self.n_additional = struct.unpack("!HHHHH", message[2:12])
        self.rcode = flags & 15
        at = 12
        for _ in range(n_questions):
            at = _name(message, at)[1] + 4
        self.answers = set()
        for _ in range(n_answers):
            owner, at = _name(message, at)
            kind, _, ttl, size = struct.unpack("!HHIH", message[at:at + 10])
            at += 10
            value = _name(message, at)[0] if kind == 12 else message[at:at + size]
            self.answers.add((owner.lower(), kind, ttl, value))
            at += size

    @property
    def meaning(self):
        return self.rcode, frozenset(self.answers)


def _name(message, at):
    """(name, where it ends)."""
    labels, end = [], None
    while message[at]:
        if message[at] >= 0xc0:
            end = end or at + 2
            at = (message[at] & 0x3f) << 8 | message[at + 1]
        else:
            labels.append(message[at + 1:at + 1 + message[at]])
            at += 1 + message[at]
    return b".".join(labels), end or at + 1


def encode(line):
    name, kind, *more = line.split()
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.rstrip(".").split("."))
    return (struct.pack("!HHHHHH", 4711, 0, 1, 0, 0, len(more)) + labels + struct.pack("!BHH", 0, TYPES[kind], 1) +
            (OPT if more else b""))


def ask(port, line, timeout=2):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(timeout)
        s.connect(("127.0.0.1", port))
        s.send(encode(line))
        return Reply(s.recv(4096))
