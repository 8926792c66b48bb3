"""Recomputes an advice from the journals that it kept, and compares: the figures of its table, the differences
between each pick and the second best, the choice among equal configurations, the number of photos from which another
configuration is faster, and the configuration for lasting streams.

    kelvin advise MODEL --json > ADVICE.json
    python3 dev/check-advice.py ADVICE.json

The script shares no code with Kelvin (`dev/journal.py`). Lasting streams are simulated by another method: `dev/lasting.py`
integrates the envelope's equations with mean frames, while Kelvin runs single frames with noise. Exits 1 and names each
number that differs.
"""
import json
import math
import sys

from journal import Checker, Run
from lasting import Lasting

# The series that decide, in order of precedence.
SERIES = {"photo": ["start", "warm"], "stream": ["served", "latency"], "throughput": ["served"]}
# Smaller relative differences count as equal.
SMALLEST = 0.02
# The same for energies.
SAME_ENERGY = 0.05
EXACTNESS = ["full", "automatic", "high", "low"]


def figures(run, part, label):
    """Returns the figures of a configuration from one journal, by their keys in a row; empty if it was not measured."""
    configuration = run.configuration(label)
    if configuration is None or configuration["failed"]:
        return {}
    numbers = run.numbers(configuration)
    if part == "photo":
        return {"first": numbers["first"], "firstCold": numbers["coldTotal"], "warm": numbers.get("warm.p50")}
    if part == "throughput":
        return {"throughput.rate": numbers["throughput"]}
    return {f"stream.{key}": numbers[key] for key in ["p50", "p99", "served"]}


def rank(row):
    """Orders configurations; among those without a significant difference, the lowest key comes first."""
    energy = (row.get("energy") or {}).get("ratio")
    return (max(0, EXACTNESS.index(row["precision"]) - 1), math.inf if energy is None else energy,
            len(row["devices"]), row["threads"])


def check_equals(checker, pick, rows):
    own = next(row for row in rows if row["configuration"] == pick["configuration"])
    better = [row["configuration"] for row in rows if row["configuration"] in pick["equals"] and rank(row) < rank(own)]
    checker.expect(pick["question"], not better,
                   f"{pick['configuration']} was picked among equals, and {', '.join(better)} comes before it")


def in_time(row):
    """Whether 99 of 100 frames of the stream are answered before the next arrives."""
    stream = row.get("stream")
    return bool(stream) and stream["p99"] <= stream["deadline"] and stream["lost"] <= 0.01 * (stream["lost"] + stream["served"])


def check_pick(checker, run, pick, rows):
    question, own = pick["question"], pick["configuration"]
    if question == "stream":
        late = [row["configuration"] for row in rows if row["configuration"] == own and not in_time(row)]
        checker.expect("stream", not late or not any(map(in_time, rows)),
                       f"{own} is late for the next frame, and another configuration is not")
    equals = set(pick["equals"])
    measured = [row["configuration"] for row in rows if figures(run, question, row["configuration"])]
    others = [label for label in measured if label != own and label not in equals]
    if equals:
        check_equals(checker, pick, rows)
        return
    if not pick["isBeyondNoise"] or not others:
        return
    # The document does not name the level of a comparison, which decides whether it has enough rounds for ranks.
    found = [{label: run.ratio(label, own, series, level)[0] for label in others} for level in [0, 1]
             for series in SERIES[question] if all(run.seconds(run.configuration(each), series)[0] for each in measured)]
    where = f"{question}: {pick['secondBest']} against {own}"
    checker.expect(where, any(min(ratios.values()) == ratios[pick["secondBest"]] for ratios in found), "is not the second best")
    checker.expect(where, any(abs(ratios[pick["secondBest"]] / pick["secondBestRatio"] - 1) < 1e-9 for ratios in found),
                   f"{pick['secondBestRatio']} was printed, the journal has {found}")
    checker.expect(where, any(min(ratios.values()) >= 1 + SMALLEST for ratios in found), "is within what is no difference")


def check_break_even(checker, rows, crossing):
    """Checks the number of photos from which one configuration is done sooner than another, by their first and their
    warm answers."""
    before, after = (next(row for row in rows if row["configuration"] == crossing[key]) for key in ["overtaken", "overtaking"])
    count = 1 + math.ceil((after["first"] - before["first"]) / (before["warm"] - after["warm"]))
    checker.compare(f"photos until {after['configuration']} is ahead of {before['configuration']}", count, crossing["at"])


def check_lasting_pick(checker, pick, rows, joules):
    """Checks the configuration that keeps the rate with the least energy for a frame; among equals, the first by
    `rank`.

    joules: the energy of a frame on the measured machine, by configuration; infinite if unknown.

    joules: of a frame on the machine that was measured, by configuration; infinite where they are not known."""
    own = pick["configuration"]
    rates = {row["configuration"]: row["sustained"]["rate"] for row in rows if row.get("sustained")}
    keeping = [label for label in rates if rates[label] >= 0.99 * max(rates.values())]
    least = min(joules[label] for label in keeping)
    lean = {label for label in keeping if not math.inf > joules[label] > (1 + SAME_ENERGY) * least}
    checker.expect("lasting", own in lean, f"{own} does not keep the rate with least energy, {sorted(lean)} do")
    checker.expect("lasting", set(pick["equals"]) == lean - {own}, f"{pick['equals']} are said to be equal, {sorted(lean)} are")
    check_equals(checker, pick, rows)
    others = sorted((joules[label], label) for label in keeping if label not in lean)
    slower = sorted((-rates[label], label) for label in rates if label not in keeping)
    if not pick["equals"] and (others or slower):
        expected = others[0][0] / joules[own] if others else max(rates.values()) / -slower[0][0]
        checker.compare(f"lasting: {pick['secondBest']} against {own}", expected, pick["secondBestRatio"])


def check_lasting(checker, document, run):
    simulation, rows, joules = document["simulation"], document["rows"], {}
    lasting = Lasting(simulation)
    (to, of) = (simulation[key]["fullLoadWatts"] - simulation[key]["idleWatts"] for key in ["envelope", "machine"])
    for plan in simulation["plans"]:
        label = plan["label"]
        numbers = run.numbers(run.configuration(label))
        checker.compare(f"lasting: seconds of a frame on {label}",
                        max(min(numbers["p50"], 1 / numbers["throughput"]), 1e-7), plan["secondsPerFrame"])
        own, told = (energy(run.configuration(label)) for energy in [run.most_joules, run.told_joules])
        # Energies that were measured on the envelope's own machine are not scaled; estimates of other machines are.
        scale = 1 if "is this machine" in plan["energySource"] else to / of
        expected = to * plan["secondsPerFrame"] if own is None else own * scale
        joules[label] = math.inf if told is None else told
        checker.compare(f"lasting: joules of a frame on {label}", expected, plan["joulesPerFrame"])
        row = next(row for row in rows if row["configuration"] == label)["sustained"]
        for reason in lasting.objections(plan, row["rate"], row.get("throttledAt")):
            checker.expect(f"lasting: {label}", False, reason)
        checker.checked += 2
    for crossing in document["crossovers"]:
        if crossing["measure"] == "seconds":
            where = f"lasting: {crossing['overtaking']} overtakes {crossing['overtaken']}"
            checker.expect(where, lasting.crosses(crossing["overtaken"], crossing["overtaking"], crossing["at"]),
                           f"not about {crossing['at']} s")
    for pick in document["picks"]:
        if pick["question"] == "sustained":
            check_lasting_pick(checker, pick, rows, joules)


def main(path):
    document, checker = json.load(open(path, encoding="utf-8")), Checker()
    runs = {run.head["workload"]["name"].removeprefix("advise-"): run for run in map(Run, document["journals"])}
    for row in document["rows"]:
        for part, run in runs.items():
            for key, expected in figures(run, part, row["configuration"]).items():
                got = row
                for step in key.split("."):
                    got = (got or {}).get(step)
                checker.compare(f"{row['configuration']} {key}", expected, got)
    for pick in document["picks"]:
        if pick["question"] in runs:
            check_pick(checker, runs[pick["question"]], pick, document["rows"])
    for crossing in document["crossovers"]:
        if crossing["measure"] == "predictions":
            check_break_even(checker, document["rows"], crossing)
    if document.get("simulation"):
        check_lasting(checker, document, runs["stream"])
    return checker.status()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
