"""`bench.py engine`, the engine alone: what its steps cost as services grow, and what they hand to the store (bench/engine/steps.c).

Sizes take turns. The world around the engine answers at once, so CPU is the engine's own.
"""
import json
import os
import statistics
import subprocess

from harness import BIN

# services, components of each, instances of each component
SHAPES = {"1 of 10³": (1, 1, 1000), "1000 of 10": (1000, 1, 10), "1 of 10⁴": (1, 10, 1000), "1 of 10⁵": (1, 10, 10000)}
PHASES = ["create", "storm", "flex down", "flex up", "destroy", "restart"]


def _one(shape):
    """Results of the phases of a run, by phase."""
    out = subprocess.run([os.path.join(BIN, "bench_engine_steps"), *map(str, SHAPES[shape])], check=True, capture_output=True, text=True)
    return {line["phase"]: line for line in map(json.loads, out.stdout.splitlines())}


def _median(runs):
    return {phase: {key: statistics.median(run[phase][key] for run in runs) for key in runs[0][phase] if key != "phase"} for phase in PHASES}


def run(say, rounds=3):
    """Returns the results, ready for JSON."""
    found = {shape: [] for shape in SHAPES}
    for _ in range(rounds):
        for shape in SHAPES:
            found[shape].append(_one(shape))
    result = {shape: _median(runs) for shape, runs in found.items()}
    ratios = [sum(large[p]["engine_s"] for p in PHASES) / sum(small[p]["engine_s"] for p in PHASES)
              for small, large in zip(found["1 of 10⁴"], found["1 of 10⁵"])]
    result["ratio_10"] = statistics.median(ratios)
    say(f"\nthe engine alone; medians of {rounds} rounds that took turns; µs of CPU an instance that changed")
    say("  " + f"{'':12}" + "".join(f"{phase:>11}" for phase in PHASES) + f"{'longest step':>15}{'memory':>10}{'stored':>10}")
    for shape in SHAPES:
        of = result[shape]
        stored = of["create"]["stored_bytes_each"] + of["destroy"]["stored_bytes_each"]
        say(f"  {shape:12}" + "".join(f"{of[phase]['us_each']:11.1f}" for phase in PHASES)
            + f"{max(of[phase]['longest_ms'] for phase in PHASES):12.2f} ms{of['create']['memory_bytes_each']:8.0f} B{stored:8.0f} B")
    say(f"  ten times as many instances cost {result['ratio_10']:.1f} times as much; memory, and bytes stored from create to destroy, an instance")
    return result
