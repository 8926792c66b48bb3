"""Compares contenders: rounds in turn, paired ratios, and the name of the outcome."""

import statistics

import numpy as np

import crowd
import quiet
import report
from contenders import ContenderFailed


def difference(outputs, reference):
    """Returns the largest absolute difference over the outputs both have, and whether the best class of every item
    agrees."""
    common = [name for name in reference if name in outputs]
    if not common:
        raise ContenderFailed(f"outputs {sorted(outputs)} share no name with {sorted(reference)}")
    pairs = [(outputs[n].reshape(reference[n].shape).astype(np.float64), reference[n]) for n in common]
    return {"maxAbsolute": float(max(abs(a - b).max() for a, b in pairs)),
            "sameTop1": all(bool((a.argmax(axis=-1) == b.argmax(axis=-1)).all()) for a, b in pairs)}


def summary(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def interleaved(turns, rounds):
    """Returns the answers of the functions `turns` in each round, and the number of rounds that other processes
    disturbed.

    The order is reversed every other round. A round in which others took more than 2 % of the processors is
    repeated, up to twice the requested number.
    """
    kept, disturbed = [], []
    for index in range(2 * rounds):
        if len(kept) == rounds:
            break
        measured = [None] * len(turns)
        with quiet.Window() as window:
            for which in range(len(turns)) if index % 2 == 0 else reversed(range(len(turns))):
                measured[which] = turns[which]()
        (kept if window.others <= quiet.LIMIT else disturbed).append(measured)
    missing = rounds - len(kept)
    return list(zip(*kept, *disturbed[:missing])), missing


def crowded(turn, others):
    """The turn with the processors shared."""
    def shared():
        with crowd.Crowd(others):
            return turn()
    return shared


def compare(comparison, rounds, iterations, seconds, others=0):
    """Runs the contenders in turn and condenses their rounds; each also has a round beside `others` processes that
    only compute, if there are any."""
    contenders = [comparison["kelvin"], *comparison["peers"]]
    reference = comparison["reference"].outputs()
    agreement = [difference(c.outputs(), reference) if c.competes else None for c in contenders]
    turns = [lambda contender=contender: contender.round(iterations, seconds) for contender in contenders]
    results, missing = interleaved(turns + [crowded(turn, others) for turn in turns] if others else turns, rounds)
    alone, results = results[:len(contenders)], results[-len(contenders):]
    peers = [which for which, contender in enumerate(contenders) if which > 0 and contender.competes]
    best = min(peers, key=lambda which: statistics.median(m["p50"] for m in results[which]))
    entry = {**{key: comparison[key] for key in ("title", "weights", "bar", "firstBar", "limit")},
             "best": best, "disturbedRounds": missing,
             "ratio": summary([k["p50"] / p["p50"] for k, p in zip(results[0], results[best])]), "contenders": []}
    for contender, measured, quietly, agrees in zip(contenders, results, alone, agreement):
        medians = {key: statistics.median(m[key] for m in measured) for key in ("load", "first", "p50")
                   if all(m.get(key) is not None for m in measured)}
        about = {key: measured[0][key] for key in ("version", "driver", "leftToCPU") if key in measured[0]}
        entry["contenders"].append({"name": contender.name, **about, **medians, "againstONNXRuntime": agrees,
                                    "rounds": [m["p50"] for m in measured]})
        if others:
            entry["contenders"][-1] |= {
                "alone": statistics.median(m["p50"] for m in quietly), "roundsAlone": [m["p50"] for m in quietly],
                "slowdown": summary([m["p50"] / q["p50"] for m, q in zip(measured, quietly)])}
    entry["verdict"] = verdict(entry)
    return entry


def verdict(entry):
    """Returns "met", or the missed limits; "compared" if only the right answer is required."""
    kelvin = entry["contenders"][0]
    agrees = kelvin["againstONNXRuntime"]
    if (entry.get("hasClasses", True) and not agrees["sameTop1"]) or (entry["limit"] is not None and not agrees["maxAbsolute"] <= entry["limit"]):
        return "wrong output"
    if entry["bar"] is None:
        return "compared"
    missed = []
    if entry["ratio"]["median"] > entry["bar"]:
        missed.append(f"ratio above {report.factor(entry['bar'])}")
    if entry["firstBar"] is not None and kelvin.get("first", float("inf")) > entry["firstBar"]:
        missed.append(f"first inference above {entry['firstBar']:.1f} s")
    return "; ".join(missed) or "met"
