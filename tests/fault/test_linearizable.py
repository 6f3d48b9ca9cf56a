"""The answers that clients of two registryd on one ZooKeeper get can have happened in some order, whatever breaks meanwhile."""
import pytest

import linear
import soak_registry
from harness import SANITIZED
from linear import UNKNOWN, Op

OPERATIONS = 5000 if SANITIZED else 100_000

A, B = ("made", "10"), ("made", "20")
HISTORIES = {
    "one after the other": (True, [("create", "a", None, 1, 2, A), ("read", None, None, 3, 4, ("a", "10")),
                                   ("delete", None, None, 5, 6, "deleted"), ("read", None, None, 7, 8, "absent")]),
    "a lost delete that was done before": (True, [("create", "a", None, 1, 2, A), ("delete", None, None, 3, None, UNKNOWN),
                                                  ("create", "b", None, 4, 5, B), ("read", None, None, 6, 7, ("b", "20"))]),
    "a lost delete that is done later": (True, [("create", "a", None, 1, 2, A), ("delete", None, None, 3, None, UNKNOWN),
                                                ("read", None, None, 4, 5, ("a", "10")), ("read", None, None, 6, 7, "absent")]),
    "a delete that is done twice": (False, [("create", "a", None, 1, 2, A), ("delete", None, None, 3, 9, "deleted"),
                                            ("create", "b", None, 4, 5, B), ("read", None, None, 10, 11, "absent")]),
    "an old value over a newer one": (False, [("create", "a", None, 1, 2, A), ("put", "b", None, 3, None, UNKNOWN),
                                              ("read", None, None, 4, 5, ("b", "11")), ("put", "c", None, 6, 7, ("replaced", "12")),
                                              ("read", None, None, 8, 9, ("b", "13"))]),
    "two that made it": (False, [("create", "a", None, 1, 4, A), ("create", "a", None, 2, 3, ("made", "11"))]),
    "two steps from one state": (False, [("create", "a", None, 1, 2, A), ("put-if", "b", "10", 3, 6, ("replaced", "11")),
                                         ("put-if", "b", "10", 4, 5, ("replaced", "12"))]),
    "deleted, and not by anybody": (False, [("create", "a", None, 1, 2, A), ("delete", None, None, 3, 4, "absent")]),
    "a condition that was spared": (False, [("create", "a", None, 1, 2, A), ("delete-if", None, "10", 3, 4, "conflict")]),
    "a condition on another node": (False, [("create", "a", None, 1, 2, A), ("delete", None, None, 3, 4, "deleted"),
                                            ("create", "b", None, 5, 6, B), ("delete-if", None, "10", 7, 8, "deleted")]),
    "a read of what was refused": (False, [("read", None, None, 1, 2, ("a", "10"))]),
    "a read of the past": (False, [("create", "a", None, 1, 2, A), ("put", "b", None, 3, 4, ("replaced", "11")),
                                   ("read", None, None, 5, 6, ("a", "10"))]),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_the_checker_judges_each_history(name):
    is_possible, rows = HISTORIES[name]
    where = linear.check([Op(*row) for row in rows])
    assert (where is None) == is_possible, where


@pytest.mark.sanitize
def test_two_registries_over_a_faulty_network():
    found = soak_registry.run(None, OPERATIONS)
    assert not found, "\n".join(found)
