"""Whether the answers that clients got about one node of a registry can have happened in some order: a linearizability checker.

    linear.check(history) -> None, or a text that says where no order goes on

A history is a list of Op: what was asked, when the asking began and ended (by one clock) and what the answer was. Of an operation
whose outcome is unknown nobody knows whether it took effect, or when: at any time after it began, or never.
An operation that was refused as not done has no place in a history: if it took effect after all, no order explains that.

The node is a register that can be absent: (value, tag), where the tag is the entity tag's number of the data, given by the
store to each change. After a change of unknown outcome the tag is None until somebody reads it. The search is Wing and Gong's with
Lowe's memory of what was tried: operations one after the other, each of which must have begun before the first one left ends.
"""
import collections

Op = collections.namedtuple("Op", "kind value tag begin end answer")
"""kind: a key of KINDS. value: what is written (put…, mknode) or selected (purge). tag: of the condition.
answer: UNKNOWN, or what KINDS's function gives back. end: None with UNKNOWN."""

UNKNOWN = "unknown"
ABSENT = None
FOREVER = float("inf")


def _read(state, op):
    if op.answer == "absent":
        return [state] if state is ABSENT else []
    value, tag = op.answer
    fits = state is not ABSENT and state[0] == value and state[1] in (None, tag)
    return [(value, tag)] if fits else []


def _written(op):
    return (op.value, None if op.answer == UNKNOWN else op.answer[1])


def _create(state, op):
    """PUT that makes a node: ("made", tag) or "exists"."""
    if op.answer == UNKNOWN:
        return [_written(op)] if state is ABSENT else []
    if op.answer == "exists":
        return [state] if state is not ABSENT else []
    return [_written(op)] if state is ABSENT else []


def _put(state, op):
    """PUT that makes or overwrites: ("made", tag) or ("replaced", tag)."""
    if op.answer != UNKNOWN and (op.answer[0] == "made") != (state is ABSENT):
        return []
    return [_written(op)]


def _put_if(state, op):
    """PUT on condition of a tag: ("replaced", tag) or "conflict"."""
    holds = state is not ABSENT and state[1] == op.tag
    if op.answer == "conflict":
        return [] if holds else [state]
    return [_written(op)] if holds else []


def _delete(state, op):
    """"deleted" or "absent"."""
    if op.answer == UNKNOWN:
        return [ABSENT] if state is not ABSENT else []
    return [ABSENT] if (op.answer == "deleted") == (state is not ABSENT) else []


def _delete_if(state, op):
    """"deleted" or "conflict"."""
    holds = state is not ABSENT and state[1] == op.tag
    if op.answer == "conflict":
        return [] if holds else [state]
    return [ABSENT] if holds else []


def _purge(state, op):
    """"deleted"; or "none": it looks where its own mirror is, so not to have found it says nothing."""
    if op.answer == "none":
        return [state]
    return [ABSENT] if state is not ABSENT and state[0] == op.value else []


def _mknode(state, op):
    """"made" or "exists"."""
    if op.answer == "exists":
        return [state] if state is not ABSENT else []
    return [(op.value, None)] if state is ABSENT else []


KINDS = {"read": _read, "create": _create, "put": _put, "put-if": _put_if, "delete": _delete, "delete-if": _delete_if,
         "purge": _purge, "mknode": _mknode}


class _Search:
    """Depth first. A place is the set of operations that have had their turn, as bits, and the register's state."""

    def __init__(self, history):
        order = sorted(history, key=lambda op: op.begin)
        certain = [op for op in order if op.answer != UNKNOWN]
        self.ops = certain + [op for op in order if op.answer == UNKNOWN]
        self.n_certain = len(certain)
        self.certain = (1 << self.n_certain) - 1
        self.best = (0, ABSENT, 0)

    def _candidates(self, done, low):
        """Operations that may come next, certain ones first; low: all certain ones before it are done."""
        first_end, found = FOREVER, []
        for i in range(low, self.n_certain):
            if self.ops[i].begin > first_end:
                break
            if not done >> i & 1:
                first_end = min(first_end, self.ops[i].end)
                found.append(i)
        for i in range(self.n_certain, len(self.ops)):
            if self.ops[i].begin > first_end:
                break
            if not done >> i & 1:
                found.append(i)
        return [i for i in found if self.ops[i].begin <= first_end]

    def _moves(self, done, state, low):
        for i in self._candidates(done, low):
            op = self.ops[i]
            for after in KINDS[op.kind](state, op):
                yield done | 1 << i, after

    def run(self):
        """True when every certain operation finds its turn."""
        seen = {(0, ABSENT)}
        stack = [(0, self._moves(0, ABSENT, 0), 0)]
        while stack:
            done, moves, low = stack[-1]
            if done & self.certain == self.certain:
                return True
            for after, state in moves:
                if (after, state) not in seen:
                    seen.add((after, state))
                    n = bin(after & self.certain).count("1")
                    if n > self.best[0]:
                        self.best = (n, state, after)
                    while after >> low & 1:
                        low += 1
                    stack.append((after, self._moves(after, state, low), low))
                    break
            else:
                stack.pop()
        return False

    def where(self):
        n, state, done = self.best
        left = [self.ops[i] for i in range(self.n_certain) if not done >> i & 1][:12]
        return (f"no order explains it beyond {n} operations; the node is then {state}, and none of these can be next:\n"
                + "\n".join(f"  {op}" for op in left))


def check(history):
    """None: there is an order. Else where the longest one found ends."""
    search = _Search(history)
    return None if search.run() else search.where()
