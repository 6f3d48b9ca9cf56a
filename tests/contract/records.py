"""The rows of registry_records.tsv, as bytes."""
import base64
import os
import re

from operations import HERE

ESCAPES = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"\\": b"\\"}
NAMES = {"!ERR_NORECORD": "NoRecordException", "!ERR_RECORD": "InvalidRecordException"}


def unescape(text):
    return re.sub(rb"\\(x[0-9a-fA-F]{2}|.)", lambda m: bytes([int(m[1][1:], 16)]) if len(m[1]) > 1 else ESCAPES.get(m[1], m[1]),
                  text)


def read_rows(*kinds):
    """(line number, bytes, expected): expected is an exception's name, or the canonical bytes, or None for any record."""
    rows = []
    with open(os.path.join(HERE, "registry_records.tsv"), "rb") as f:
        for number, line in enumerate(f.read().split(b"\n"), 1):
            kind, _, rest = line.partition(b"\t")
            if kind.decode() in kinds:
                given, _, wanted = rest.rpartition(b"\t")
                wanted = unescape(wanted)
                rows.append((number, unescape(given), NAMES.get(wanted.decode(), None if wanted == b"ok" else wanted)))
    return rows


def node(path, data):
    """A line of an import that makes this node with these bytes."""
    made = {"path": path, "base64": base64.b64encode(data).decode()}
    return made if data else {"path": path}
