"""A client of ZooKeeper's own protocol, one request at a time: for nodes that no program of ours makes."""
import base64
import hashlib
import socket
import struct

ALL = 31
CODES = {0: "ok", -101: "no node", -102: "no auth", -110: "node exists"}


def digest_acl(pair, perms=ALL):
    """The ACL entry of who has this id:password."""
    name = pair.split(":")[0]
    return perms, "digest", name + ":" + base64.b64encode(hashlib.sha1(pair.encode()).digest()).decode()


def _bytes(value):
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack(">i", len(raw)) + raw


def session_of(answer):
    """Id and password of a session, from the answer to its connect request."""
    _, timeout, number, length = struct.unpack(">iiqi", answer[:20])
    assert timeout > 0 and number, "there is no such session"
    return number, answer[20:20 + length]


class Client:
    """A session, authenticated with id:password pairs: a new one, or with its id and password somebody else's. When the block
    ends it is closed."""

    def __init__(self, address, *pairs, session=(0, b"\0" * 16)):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        self.xid = 0
        number, password = session
        self._send(struct.pack(">iqiq", 0, 0, 30000, number) + _bytes(password) + b"\0")
        self.session = session_of(self._frame())
        for pair in pairs:
            self._send(struct.pack(">iii", -4, 100, 0) + _bytes("digest") + _bytes(pair))
            assert struct.unpack(">iqi", self._frame()[:16])[2] == 0, "the pair was refused"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._send(struct.pack(">ii", 0, -11))
        self.socket.close()

    def _send(self, body):
        self.socket.sendall(struct.pack(">i", len(body)) + body)

    def _read(self, n):
        data = b""
        while len(data) < n:
            piece = self.socket.recv(n - len(data))
            assert piece, "ZooKeeper closed the connection"
            data += piece
        return data

    def _frame(self):
        return self._read(struct.unpack(">i", self._read(4))[0])

    def _ask(self, kind, body):
        self.xid += 1
        self._send(struct.pack(">ii", self.xid, kind) + body)
        reply = self._frame()
        code = struct.unpack(">iqi", reply[:16])[2]
        return CODES.get(code, code), reply[16:]

    def create(self, path, data, *acl):
        entries = b"".join(struct.pack(">i", perms) + _bytes(scheme) + _bytes(name) for perms, scheme, name in acl)
        said = self._ask(1, _bytes(path) + _bytes(data) + struct.pack(">i", len(acl)) + entries + struct.pack(">i", 0))
        assert said[0] == "ok", (path, said[0])

    def set(self, path, data):
        said = self._ask(5, _bytes(path) + _bytes(data) + struct.pack(">i", -1))
        assert said[0] == "ok", (path, said[0])

    def delete(self, path):
        said = self._ask(2, _bytes(path) + struct.pack(">i", -1))
        assert said[0] == "ok", (path, said[0])

    def get(self, path):
        """The data, or what is wrong."""
        said, body = self._ask(4, _bytes(path) + b"\0")
        return body[4:4 + struct.unpack(">i", body[:4])[0]].decode() if said == "ok" else said

    def children(self, path):
        """Names of what is below."""
        said, body = self._ask(8, _bytes(path) + b"\0")
        assert said == "ok", (path, said)
        names, at = [], 4
        for _ in range(struct.unpack(">i", body[:4])[0]):
            n = struct.unpack(">i", body[at:at + 4])[0]
            names.append(body[at + 4:at + 4 + n].decode())
            at += 4 + n
        return names
