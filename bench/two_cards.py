#!/usr/bin/env python3
"""Measures the inferences per second of a mixture of plans on two equal cards against one of them and the planner's bound.

The cards are imitated: two PoCL devices of the driver `basic`, each of which computes an inference in one thread. A plan file
gives each card half of the inferences, and `kelvin bench` runs it with one in flight for each card: such a card computes in the
thread that calls it, so more callers take the processors from one another. One card runs one inference at a time, since a second
one would take the other processor. Two processes with one card each, on a processor each, show what the machine itself gives two
cards that know nothing of each other. Rounds of the three alternate.

Usage: two_cards.py [--kelvin PATH] [--model FILE] [--rounds N] [--seconds N] [--in-flight N] [--name NAME]; on a machine with two
processors that does nothing else. The exit status is 1 if a bar is missed.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from datetime import date

import quiet
import report
from catalog import ROOT

SHARED = pathlib.Path(os.environ.get("KELVIN_SHARED", ROOT.parent / "shared"))
CARDS = ("opencl:0", "opencl:1")
# The least share of the planner's bound, and the least ratio to one card.
BOUND_BAR, CARD_BAR = 0.95, 1.9
# The most attempts at a round in which others take little of the processors.
ATTEMPTS = 3


class Machine:
    """The two cards, with caches of their own."""

    def __init__(self, kelvin, model, folder):
        self.kelvin, self.model, self.folder = str(kelvin), str(model), pathlib.Path(folder)
        self.environment = dict(os.environ, POCL_DEVICES="basic basic", XDG_CACHE_HOME=str(self.folder))

    def run(self, command, *options, processor=None):
        """Standard output of the program, on one processor or on all."""
        pinned = [] if processor is None else ["taskset", "-c", str(processor)]
        done = subprocess.run([*pinned, self.kelvin, command, self.model, *map(str, options)], env=self.environment, text=True,
                              capture_output=True)
        if done.returncode:
            sys.exit(f"kelvin {command} failed: {done.stderr.strip()[-600:]}")
        return done.stdout

    def plan(self, units, *options):
        return self.run("plan", "--units", units, "--goal", "throughput", *options)

    def plans(self):
        """Plan files for one card and for both, and the predicted rates of one card and of the bound."""
        one, both = self.folder / "one.json", self.folder / "both.json"
        self.plan(CARDS[0], "--no-trial", "--save", one)
        plan = json.loads(one.read_text())
        alone = json.loads(self.plan(CARDS[0], "--json"))
        bound = json.loads(self.plan(",".join(CARDS), "--json"))
        # The file of one card lists the devices that it may use, and the mixture needs the other card too.
        plan["devices"] += [device for device in bound["devices"] if device["id"] == CARDS[1]]
        placements = [{node["name"]: card if node["device"] == CARDS[0] else node["device"] for node in plan["nodes"]}
                      for card in CARDS]
        plan["mixture"] = {"plans": [{"share": 0.5, "placement": placement} for placement in placements]}
        both.write_text(json.dumps(plan))
        return one, both, alone["framesPerSecond"], 1 / bound["lowerBound"]

    def throughput(self, plan, in_flight, seconds, processor=None):
        """Inferences per second of a process that runs a plan file."""
        answer = json.loads(self.run(
            "bench", "--workload", ROOT / "bench" / "workloads" / "rate.json", "--duration", seconds, "--in-flight", in_flight,
            "--plan", plan, "--no-agreement", "--json", processor=processor))
        configuration = answer["configurations"][0]
        shares = configuration["pipeline"].get("shares")
        if (shares is not None) != (plan.name == "both.json"):
            sys.exit(f"{plan.name}: the benchmark ran {shares or 'one plan'}; is the program older than mixtures in plan files?")
        return configuration["throughput"]

    def rate(self, plan, in_flight, seconds, processors):
        """Inferences per second of one process for each of the given processors together, and the share of the processors that
        others took meanwhile."""
        with quiet.Window() as window, concurrent.futures.ThreadPoolExecutor() as pool:
            rates = pool.map(lambda processor: self.throughput(plan, in_flight, seconds, processor), processors)
            total = sum(rates)
        return total, window.others

    def quiet_rate(self, *options):
        """The rate of the quietest of some rounds, the first that is quiet."""
        tries = []
        while not tries or tries[-1][1] > quiet.LIMIT and len(tries) < ATTEMPTS:
            tries.append(self.rate(*options))
        return min(tries, key=lambda each: each[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kelvin", type=pathlib.Path, default=ROOT / ".build" / "release" / "kelvin")
    parser.add_argument("--model", type=pathlib.Path, default=SHARED / "models" / "MobileNetV2_f32.onnx")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--in-flight", type=int, default=2)
    parser.add_argument("--budget", type=float, default=20, help="seconds of the profile for each card")
    parser.add_argument("--name", default="two-cards")
    options = parser.parse_args()
    processors = sorted(os.sched_getaffinity(0))
    load = quiet.warn()
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(options.kelvin, options.model, folder)
        machine.run("profile", "--units", ",".join(CARDS), "--budget", options.budget)
        one, both, alone, bound = machine.plans()
        if bound < 1.25 * alone:
            sys.exit(f"the profile saw no gain from two cards: at most {bound:.1f} /s, one card {alone:.1f} /s; is the machine busy?")
        rounds = []
        for number in range(options.rounds):
            turns = [("one", one, 1, [None]), ("both", both, options.in_flight, [None]), ("separate", one, 1, processors[:2])]
            measured = {name: machine.quiet_rate(plan, count, options.seconds, pinned)
                        for name, plan, count, pinned in (turns if number % 2 == 0 else turns[::-1])}
            rounds.append({name: {"rate": rate, "others": others} for name, (rate, others) in measured.items()})
            print("  ".join(f"{name} {each['rate']:.1f} /s" for name, each in sorted(rounds[-1].items())), file=sys.stderr)
    ratios = [each["both"]["rate"] / each["one"]["rate"] for each in rounds]
    one, both, separate = (statistics.median(each[name]["rate"] for each in rounds) for name in ("one", "both", "separate"))
    of_machine = statistics.median(each["both"]["rate"] / each["separate"]["rate"] for each in rounds)
    result = {
        "date": date.today().isoformat(), "machine": report.machine([]), "loadAverageBefore": load, "model": options.model.name,
        "inFlight": options.in_flight, "rounds": rounds, "predictedOneCard": alone, "bound": bound,
        "shareOfBound": both / bound, "timesOneCard": statistics.median(ratios),
        "shareOfSeparateProcesses": of_machine,
    }
    passes = result["shareOfBound"] >= BOUND_BAR and result["timesOneCard"] >= CARD_BAR
    text = "\n".join([
        "# A mixture of plans on two cards", "",
        "`bench/two_cards.py` measures a plan file that gives each of two equal cards half of the inferences.", "",
        report.heading(result, f"{options.rounds} rounds of {options.seconds:g} s, {options.model.name}"), "",
        "| plan | in flight | inferences per second | of the bound | times one card |", "|---|--:|--:|--:|--:|",
        f"| one card | 1 | {one:.1f} (predicted {alone:.1f}) | | 1 |",
        f"| both cards | {options.in_flight} | {both:.1f} (bound {bound:.1f}) | {result['shareOfBound']:.3f} "
        f"| {result['timesOneCard']:.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |",
        f"| two processes, a card and a processor each | 1 | {separate:.1f} | {separate / bound:.3f} | {separate / one:.2f} |", "",
        f"The bars are {BOUND_BAR} of the bound and {CARD_BAR} times one card: {'kept' if passes else 'missed'}. The mixture has "
        f"{of_machine:.2f} of the rate of two separate processes, which share nothing but the machine.", ""])
    report.save(options.name, result, text)
    print(text)
    sys.exit(0 if passes else 1)


if __name__ == "__main__":
    main()
