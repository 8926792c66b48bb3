#!/usr/bin/env python3
"""Exports whole architectures with seeded random weights, runs them on Kelvin, and compares the results with those
of their frameworks.

    dev/architectures [--write] [--timeout SECONDS] [--routes ROUTE,…] [--others FILE] [NAME…]
    dev/architectures --page [--check]  writes the counts into docs/conformance.md, or fails where they are not in it

NAME is an architecture's name or part of several; the default is all. Each runs through each of its routes in a separate process,
which is ended after `--timeout`. Exports are in a scratch folder that is removed afterwards. The outcomes are:

- *passed*: the largest difference, relative to the output's range, is within the route's tolerance
- *refused*: Kelvin reports that it lacks a feature
- *failed*: any other difference or error of Kelvin
- *not exported*: the exporter cannot write the model, or ONNX Runtime differs from the model too

Passes may only rise: Tests/Python/architectures.json has the recorded outcomes.

The package is this checkout's; the library is $KELVIN_LIBRARY, and .build/release/libKelvinC.so unless set. The Python is
the one that runs this script, and needs the packages of dev/architectures/requirements.txt.
"""
import argparse
import collections
import contextlib
import json
import multiprocessing
import os
import pathlib
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BASELINE = ROOT / "Tests/Python/architectures.json"
PAGE = ROOT / "docs/conformance.md"
MARKS = "<!-- architectures -->\n", "<!-- end of architectures -->\n"
KINDS = ("passed", "failed", "refused", "not exported")


def attempt(case, route, send):
    """Returns the result of one architecture by one route: the outcome, the difference, the message."""
    import routes
    try:
        # Exporters print while they run.
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
                found, expected = case.run(route)
        apart = routes.difference(found, expected)
        bound = routes.TOLERANCE[route]
        shapes = "" if apart < float("inf") else f"{[item.shape for item in found]} for {[item.shape for item in expected]}"
        send.send(("passed" if apart <= bound else "failed", apart, shapes))
    except routes.NotExported as error:
        send.send(("not exported", None, str(error)))
    except Exception as error:
        refused = any(kind.__name__ == "UnsupportedError" for kind in type(error).__mro__)
        send.send(("refused" if refused else "failed", None, f"{type(error).__name__}: {error}"))


def ended(case, route, timeout):
    """The same as `attempt`, in a separate process."""
    receive, send = multiprocessing.Pipe(False)
    process = multiprocessing.Process(target=attempt, args=(case, route, send))
    process.start()
    send.close()
    answer = ("failed", None, f"did not end within {timeout} s")
    if receive.poll(timeout):
        try:
            answer = receive.recv()
        except EOFError:
            process.join()
            code = process.exitcode
            answer = ("failed", None, f"ended by {signal.Signals(-code).name}" if code and code < 0 else f"ended with {code}")
    else:
        process.kill()
    process.join()
    return answer


def counted():
    return json.loads(BASELINE.read_text()) if BASELINE.exists() else {}


def measure(cases, arguments):
    """Runs cases, prints their results, and returns those that passed before and no longer do."""
    known, fallen = counted(), []
    totals = collections.defaultdict(collections.Counter)
    for case in cases:
        for route in case.routes:
            if arguments.routes and route not in arguments.routes:
                continue
            began = time.monotonic()
            outcome, apart, said = ended(case, route, arguments.timeout)
            totals[route][outcome] += 1
            shown = f"{outcome} {'' if apart is None else f'{apart:.1e}'} {' '.join(said.split())[:arguments.width]}".rstrip()
            print(f"{case.name:32} {route:12} {time.monotonic() - began:5.1f} s  {shown}", flush=True)
            if arguments.others and outcome != "passed":
                with open(arguments.others, "a", encoding="utf-8") as file:
                    print(json.dumps({
                        "name": case.name, "route": route, "outcome": outcome, "difference": apart, "said": said}), file=file)
            before = known.get(case.name, {}).get(route)
            if before == "passed" and outcome != "passed":
                fallen.append(f"{case.name} by {route}: {outcome}, and passed before")
            if arguments.write:
                known.setdefault(case.name, {})[route] = outcome
    if arguments.write:
        BASELINE.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    for route, counts in totals.items():
        print(f"{route}: " + ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind]))
    return fallen


def table(known):
    """Returns the counts by route, and the cases that do not pass."""
    totals = {}
    for name in known:
        for route, outcome in known[name].items():
            totals.setdefault(route, collections.Counter())[outcome] += 1
    lines = ["| route | " + " | ".join(KINDS) + " |", "|---|" + "--:|" * len(KINDS)]
    lines += [f"| `{route}` | " + " | ".join(f"{totals[route][kind]:,}" for kind in KINDS) + " |" for route in sorted(totals)]
    lines += ["", f"{len(known)} architectures: " + ", ".join(f"`{name}`" for name in sorted(known)) + "."]
    for kind in KINDS[1:-1]:
        rest = [f"`{name}` by `{route}`" for name in sorted(known) for route in sorted(known[name]) if known[name][route] == kind]
        if rest:
            lines += ["", f"{kind.capitalize()}: " + ", ".join(rest) + "."]
    return "\n".join(lines) + "\n"


def write_page(checks):
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    made = f"{before}{MARKS[0]}{table(counted())}{MARKS[1]}{after}"
    if checks and made != text:
        sys.exit(f"{PAGE.relative_to(ROOT)} has other counts than {BASELINE.relative_to(ROOT)}: run dev/architectures --page")
    PAGE.write_text(made, encoding="utf-8")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("--timeout", type=float, default=180)
    arguments.add_argument("--routes", type=lambda text: text.split(","))
    arguments.add_argument("--others", type=pathlib.Path)
    arguments.add_argument("--width", type=int, default=160)
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--page", action="store_true")
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("names", nargs="*")
    arguments = arguments.parse_args()
    if arguments.page:
        return write_page(arguments.check)
    os.environ.setdefault("KELVIN_LIBRARY", str(ROOT / ".build/release/libKelvinC.so"))
    sys.path[:0] = [str(ROOT / "Python"), str(HERE)]
    import catalog
    catalog.load()
    chosen = lambda name: any(part == name or part not in catalog.CASES and part in name for part in arguments.names)
    cases = [case for name, case in catalog.CASES.items() if not arguments.names or chosen(name)]
    if arguments.list:
        return print("\n".join(f"{case.name}: {', '.join(case.routes)}" for case in cases))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KELVIN_SCRATCH"] = os.environ["TMPDIR"] = tempfile.tempdir = folder
        fallen = measure(cases, arguments)
    if fallen and not arguments.write:
        sys.exit("\n".join(fallen))


if __name__ == "__main__":
    main()
