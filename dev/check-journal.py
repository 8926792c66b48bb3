"""Recomputes the numbers of a bench's report from the journal that it kept, and compares.

    kelvin bench MODEL --journal RUN.jsonl --json > RUN.json
    python3 dev/check-journal.py RUN.jsonl RUN.json

Nothing of Kelvin's is used: what counts, percentiles, rates, energies and ratios are worked out here from the raw
seconds. Exits 1 and names each number that differs.
"""
import json
import math
import statistics
import sys

FEWEST = 6


def rank(values, per_mille):
    """The nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[max((len(ordered) * per_mille + 999) // 1000, 1) - 1] if ordered else None


class Run:
    """A journal's entries, by configuration and phase."""

    def __init__(self, path):
        self.head, self.configurations, self.phases = None, [], {}
        for line in open(path, encoding="utf-8"):
            (kind, body), = json.loads(line).items()
            if kind == "benchmark":
                self.head = body["_0"]
            elif kind == "configuration":
                self.configurations.append({"setup": body["_0"], "starts": [], "cold": [], "warm": [], "slices": [],
                                            "energy": [], "windows": 0, "disturbed": 0, "failed": False})
            elif kind == "rounds":
                phase = self.phases.setdefault(body["phase"], {"disturbed": []})
                phase["planned"] = body["planned"]
                phase["disturbed"][body["from"]:] = body["disturbed"]
            elif "configuration" in body:
                self.add(kind, body, self.configurations[body["configuration"]])

    @staticmethod
    def add(kind, body, to):
        if kind == "start":
            to["cold" if body["isCold"] else "starts"].append(body["seconds"])
        elif kind == "warm":
            to["warm"].append(body["seconds"])
        elif kind == "slice":
            to["slices"].append(body["slice"])
            to["energy"].append(body["energy"])
        elif kind == "contention":
            to["windows"] += 1
        elif kind == "failure":
            to["failed"] = True

    def kept(self, phase, rounds):
        """The rounds that count."""
        known = self.phases.get(phase)
        if not known:
            return rounds
        quiet = [i for i, busy in enumerate(known["disturbed"]) if not busy]
        counted = quiet if len(quiet) >= min(known["planned"], FEWEST) else range(len(known["disturbed"]))
        return [rounds[i] for i in counted if i < len(rounds)]

    def numbers(self, configuration, is_paced):
        """What the report says of a configuration, by its keys."""
        starts, cold = self.kept("start", configuration["starts"]), self.kept("cold start", configuration["cold"])
        found = {key: rank([start[part] for start in starts], 500) for key, part in
                 [("launch", "launch"), ("load", "load"), ("compile", "compile"), ("first", "total"),
                  ("firstInference", "first"), ("total", "total")]}
        found["coldTotal"] = rank([start["total"] for start in cold], 500)
        found["compileUncached"] = rank([start["compile"] for start in cold], 500)
        warm = [seconds for burst in self.kept("warm", configuration["warm"]) for seconds in burst]
        if warm:
            found.update({f"warm.p{name}": rank(warm, mille) for name, mille in [(50, 500), (90, 900), (99, 990)]})
            found["warm.samples"], found["warm.minimum"] = len(warm), min(warm)
        slices = configuration["slices"]
        latencies = [frame["end"] - frame["arrival"] for part in slices for frame in part["frames"]]
        counted = latencies or warm
        found.update({f"p{name}": rank(counted, mille) for name, mille in [(50, 500), (90, 900), (99, 990)]})
        found["samples"] = len(counted)
        if latencies:
            found["served"], found["dropped"] = len(latencies), sum(part["dropped"] for part in slices)
            elapsed = sum(part["elapsed"] for part in slices)
            pace = [part["secondsPerFrame"] for part in slices if part["frames"]]
            found["throughput"] = len(latencies) / elapsed if is_paced else 1 / statistics.fmean(pace)
            if all(use["isMeasured"] for use in configuration["energy"]):
                found["energy.joulesPerInference"] = sum(use["joules"] for use in configuration["energy"]) / len(latencies)
        elif warm:
            found["throughput"] = 1 / statistics.fmean(warm)
        found["windows"] = configuration["windows"]
        return found

    def seconds(self, configuration, question):
        """What is compared of a configuration, round by round."""
        if question == "start":
            return [start["total"] for start in configuration["starts"]], "start"
        if question == "warm":
            return [rank(burst, 500) for burst in configuration["warm"]], "warm"
        if question == "served":
            return [part["secondsPerFrame"] for part in configuration["slices"]], "sustained"
        return [rank([f["end"] - f["arrival"] for f in part["frames"]], 500) for part in configuration["slices"]], "sustained"

    def ratio(self, comparison):
        """The median of a comparison's ratios, and how many pairs there are."""
        by_label = {configuration["setup"]["label"]: configuration for configuration in self.configurations}
        candidate, phase = self.seconds(by_label[comparison["candidate"]], comparison["question"])
        baseline, _ = self.seconds(by_label[comparison["baseline"]], comparison["question"])
        count = min(len(candidate), len(baseline))
        busy = (self.phases.get(phase) or {"disturbed": []})["disturbed"]
        quiet = [i for i in range(count) if i >= len(busy) or not busy[i]]
        counted = quiet if len(quiet) >= FEWEST else range(count)
        ratios = [candidate[i] / baseline[i] for i in counted]
        return rank(ratios, 500), len(ratios)


def main(journal, report):
    run, document = Run(journal), json.load(open(report, encoding="utf-8"))
    wrong, checked = [], 0

    def compare(where, expected, got):
        nonlocal checked
        checked += 1
        same = expected == got if expected is None or got is None else math.isclose(expected, got, rel_tol=1e-9)
        if not same:
            wrong.append(f"{where}: {got} in the report, {expected} from the journal")

    is_paced = run.head["workload"]["kind"] == "stream"
    for configuration, shown in zip(run.configurations, document["configurations"], strict=True):
        for key, expected in run.numbers(configuration, is_paced).items():
            got = shown
            for part in key.split("."):
                got = (got or {}).get(part)
            compare(f"{shown['units']} {key}", expected, got)
    for comparison in document["comparisons"]:
        ratio, pairs = run.ratio(comparison)
        where = f"{comparison['question']} {comparison['candidate']} against {comparison['baseline']}"
        compare(f"{where}, ratio", ratio, comparison["ratio"])
        compare(f"{where}, pairs", pairs, comparison["pairs"])
    print("\n".join(wrong + [f"{checked} numbers recomputed, {len(wrong)} differ"]))
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
