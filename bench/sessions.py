"""Compares Kelvin's rate with two sessions of a model at a time, with a thread each, with that of one session of two
threads."""

import comparing
import report

SETTINGS = {"1 session of 2 threads": (1, 2), "2 sessions of 1 thread": (2, 1)}


def compare(title, kelvin_of, rounds, seconds):
    """`kelvin_of` returns the contender with a number of threads. Rates are in inferences a second; the ratio is two
    sessions to one."""
    turns = [lambda count=count, kelvin=kelvin_of(threads): kelvin.rate(count, seconds)
             for count, threads in SETTINGS.values()]
    rates, disturbed = comparing.interleaved(turns, rounds)
    ratios = [two / one for one, two in zip(*rates)]
    return {"title": title, "disturbedRounds": disturbed, "ratio": comparing.summary(ratios),
            "rates": {name: list(each) for name, each in zip(SETTINGS, rates)}}


def cells(entry):
    rates = [f"{comparing.summary(each)['median']:.1f}/s" for each in entry["rates"].values()]
    return [entry["title"], *rates, report.spread(entry["ratio"])]


def line(entry):
    return "; ".join(f"{name} {cell}" for name, cell in zip(["", *SETTINGS, "ratio"], cells(entry))).strip()


def markdown(result):
    rows = [report.heading(result, f"{result['rounds']} rounds of {result['seconds']:g} s, interleaved"), "",
            f"| Model | {' | '.join(SETTINGS)} | Two sessions / one, median (min to max) |", "|---|---|---|---|"]
    rows += [f"| {' | '.join(cells(entry))} |" for entry in result["comparisons"]]
    return "\n".join(rows + report.disturbed(result)) + "\n"
