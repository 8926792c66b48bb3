"""A journal of `kelvin bench` or `kelvin advise`, and the results computed from its raw seconds: valid rounds,
percentiles, rates, energies and ratios. It shares no code with Kelvin."""
import json
import math
import statistics

FEWEST = 6


def rank(values, per_mille):
    """The nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[max((len(ordered) * per_mille + 999) // 1000, 1) - 1] if ordered else None


def student(degrees):
    """Returns the 0.975 quantile of Student's t, from the integral of its density."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)

    def beyond(t, steps=2000):
        # With x = t / u the tail has the finite range 0 < u < 1; Simpson's rule.
        def density(u):
            return 0 if u == 0 else scale * (1 + (t / u) ** 2 / degrees) ** (-(degrees + 1) / 2) * t / u ** 2
        odd, even = (sum(density(i / steps) for i in range(first, steps, 2)) for first in (1, 2))
        limit = scale * math.sqrt(degrees) ** 2 / t if degrees == 1 else 0
        return (limit + 4 * odd + 2 * even + density(1)) / (3 * steps)

    low, high = 1.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > 0.025 else (low, middle)
    return low


def correlate(values):
    """Returns whether neighbours correlate more than in nine of ten series of independent values."""
    count, mean = len(values), sum(values) / len(values)
    deviations = [value - mean for value in values]
    power = sum(d * d for d in deviations)
    correlation = sum(a * b for a, b in zip(deviations, deviations[1:])) / power if power else 0
    return correlation > (1.28 * math.sqrt(count) - 1) / count


def middle_of_means(values):
    """Returns the median of the means of all pairs of values, each also with itself (Hodges and Lehmann)."""
    groups = min(len(values), 100)
    edges = [group * len(values) // groups for group in range(groups + 1)]
    values = [sum(values[a:b]) / (b - a) for a, b in zip(edges, edges[1:])]
    means = sorted((a + b) / 2 for i, a in enumerate(values) for b in values[i:])
    return (means[(len(means) - 1) // 2] + means[len(means) // 2]) / 2


def as_slice(run):
    """Returns the tokens of a sequence after the first, as frames that arrive when the previous frame is done."""
    at, frames = run["first"], []
    for seconds in run["seconds"]:
        frames.append({"arrival": at, "start": at, "end": at + seconds})
        at += seconds
    return {"frames": frames, "dropped": 0, "elapsed": at, "secondsPerFrame": (at - run["first"]) / len(frames)}


def tempo(runs):
    """Returns the time to the first token, and tokens a second after it; empty without sequences."""
    if not runs:
        return {}
    seconds = [one for run in runs for one in run["seconds"]]
    return {"sequences": len(runs), "firstToken": rank([run["first"] for run in runs], 500),
            "rate": len(seconds) / math.fsum(seconds)}


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
                                            "runs": [], "energy": [], "windows": 0, "disturbed": 0, "failed": False})
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
        elif kind == "tokens":
            to["runs"].append(body["run"])
            # The first sequence is not part of the sustained load.
            if "energy" in body:
                to["slices"].append(as_slice(body["run"]))
                to["energy"].append(body["energy"])
        elif kind == "contention":
            to["windows"] += 1
        elif kind == "failure":
            to["failed"] = True

    def kept(self, phase, rounds):
        """Returns the valid rounds."""
        known = self.phases.get(phase)
        if not known:
            return rounds
        quiet = [i for i, busy in enumerate(known["disturbed"]) if not busy]
        counted = quiet if len(quiet) >= min(known["planned"], FEWEST) else range(len(known["disturbed"]))
        return [rounds[i] for i in counted if i < len(rounds)]

    @property
    def is_paced(self):
        return self.head["workload"]["kind"] == "stream"

    def numbers(self, configuration):
        """Returns the report's numbers for a configuration, by their keys."""
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
            found["throughput"] = len(latencies) / elapsed if self.is_paced else 1 / statistics.fmean(pace)
            if all(use["isMeasured"] for use in configuration["energy"]):
                found["energy.joulesPerInference"] = self.told_joules(configuration)
        elif warm:
            found["throughput"] = 1 / statistics.fmean(warm)
        for name, runs in [("oneShot", configuration["runs"][:1]), ("sustained", configuration["runs"][1:])]:
            found.update({f"tokens.{name}.{key}": value for key, value in tempo(runs).items()})
        found["windows"] = configuration["windows"]
        return found

    @staticmethod
    def joules(configuration):
        """Returns the energy of a frame, measured or estimated; None if a part is not known."""
        uses, frames = configuration["energy"], sum(len(part["frames"]) for part in configuration["slices"])
        if not uses or any(use.get("joules") is None for use in uses):
            return None
        return sum(use["joules"] for use in uses) / frames

    @classmethod
    def doubt(cls, configuration):
        """Returns half the width of the 95 % interval of a frame's measured energy: of the idle power, which all slices
        share, and of the slices. None for an estimate and for fewer than two slices."""
        uses = configuration["energy"]
        parts = [(part["frames"], use) for part, use in zip(configuration["slices"], uses) if part["frames"]]
        if cls.joules(configuration) is None or len(parts) < 2 or not all(use["isMeasured"] for use in uses):
            return None
        each = [use["joules"] / len(frames) for frames, use in parts]
        idle = sum(use.get("doubt") or 0 for use in uses) / sum(len(frames) for frames, _ in parts)
        return math.hypot(idle, student(len(each) - 1) * statistics.stdev(each) / math.sqrt(len(each)))

    @classmethod
    def told_joules(cls, configuration):
        """Returns the energy of a frame; None if it is not known, or not told from that of rest."""
        joules, doubt = cls.joules(configuration), cls.doubt(configuration)
        return joules if joules is None or doubt is None or joules > doubt else None

    @classmethod
    def most_joules(cls, configuration):
        """Returns the energy of a frame, or the most that it can be where it is not told from that of rest."""
        joules, told = cls.joules(configuration), cls.told_joules(configuration)
        return told if joules is None or told is not None else max(joules + cls.doubt(configuration), 0)

    def seconds(self, configuration, question):
        """Returns the compared seconds of a configuration, round by round."""
        if question == "start":
            return [start["total"] for start in configuration["starts"]], "start"
        if question == "warm":
            return [rank(burst, 500) for burst in configuration["warm"]], "warm"
        if question == "served":
            return [part["secondsPerFrame"] for part in configuration["slices"]], "sustained"
        return [rank([f["end"] - f["arrival"] for f in part["frames"]], 500) for part in configuration["slices"]], "sustained"

    def configuration(self, label):
        return next((each for each in self.configurations if each["setup"]["label"] == label), None)

    def ratio(self, candidate, baseline, question, level):
        """Returns the typical ratio of two configurations, by their labels, and the number of pairs. It is that of
        signed ranks where these can reach the level and neighbours do not correlate, else the median."""
        candidate, phase = self.seconds(self.configuration(candidate), question)
        baseline, _ = self.seconds(self.configuration(baseline), question)
        count = min(len(candidate), len(baseline))
        busy = (self.phases.get(phase) or {"disturbed": []})["disturbed"]
        quiet = [i for i in range(count) if i >= len(busy) or not busy[i]]
        counted = quiet if len(quiet) >= FEWEST else range(count)
        ratios = [candidate[i] / baseline[i] for i in counted]
        logarithms = [math.log(ratio) for ratio in ratios]
        if level > 0 and 2 ** -len(ratios) <= level / 2 and not correlate(logarithms):
            return math.exp(middle_of_means(logarithms)), len(ratios)
        return rank(ratios, 500), len(ratios)


class Checker:
    """Numbers that were printed beside those that follow from a journal."""

    def __init__(self):
        self.wrong, self.checked = [], 0

    def compare(self, where, expected, got):
        self.checked += 1
        same = expected == got if expected is None or got is None else math.isclose(expected, got, rel_tol=1e-9)
        if not same:
            self.wrong.append(f"{where}: {got} was printed, {expected} follows from the journal")

    def expect(self, where, holds, reason):
        self.checked += 1
        if not holds:
            self.wrong.append(f"{where}: {reason}")

    def status(self):
        """Prints the findings; returns 1 if a number differs or none was checked."""
        print("\n".join(self.wrong + [f"{self.checked} numbers recomputed, {len(self.wrong)} differ"]))
        return 1 if self.wrong or not self.checked else 0
