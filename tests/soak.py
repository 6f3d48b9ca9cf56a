"""Long runs that look for what a single test cannot show: `./dev soak [NAME] [AMOUNT]`.

NAME is a row of SOAKS; AMOUNT a time (90s, 10m, 2h) or a number of operations. What a run did and the seed of its random choices
are printed; the exit code is 1 when it found something.
"""
import re
import sys
import time

import soak_registry
import soak_yarn

DEFAULT = "10m"
SOAKS = {
    "registry": (soak_registry.run, "clients of two registryd on the same nodes over a faulty network; linearizable per node"),
    "ensemble": (lambda *limit: soak_registry.run(*limit, is_ensemble=True), "the same on three ZooKeeper servers, one of which lags"),
    "yarn": (soak_yarn.run, f"survival of services on a real YARN cluster; AMOUNT: how often (default {soak_yarn.TIMES})"),
}


def amount(text):
    """(seconds, operations): one of them None."""
    found = re.fullmatch(r"(\d+)(s|m|h)?", text)
    if not found:
        return None
    n, unit = int(found.group(1)), found.group(2)
    return (n * {"s": 1, "m": 60, "h": 3600}[unit], None) if unit else (None, n)


def main(argv):
    name = argv.pop(0) if argv and argv[0] in SOAKS else "registry"
    limit = amount(argv[0] if argv else DEFAULT)
    if len(argv) > 1 or not limit:
        print("usage: ./dev soak [NAME] [AMOUNT]\n  AMOUNT  90s, 10m, 2h, or a number of operations; default " + DEFAULT, file=sys.stderr)
        for row, (_, what) in SOAKS.items():
            print(f"  {row}  {what}", file=sys.stderr)
        return 2
    began = time.monotonic()
    found = SOAKS[name][0](*limit)
    print(f"soak {name}: {time.monotonic() - began:.0f} s, {'nothing found' if not found else 'FAILED'}")
    for text in found:
        print(text)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
