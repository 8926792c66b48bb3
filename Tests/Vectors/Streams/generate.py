#!/usr/bin/env python3
"""Writes expected.json: when a stream on a thermal envelope slows down, where it settles, and when a leaner plan
overtakes it.

Each number is computed twice, in continuous time: from the closed form below, and by integrating the two differential
equations in small steps with the clock looked up by bisection. The two must agree before anything is written.

    p = P/P_sus,  dh_i/dt = (p - h_i)/tau_i,  h = w1 h1 + w2 h2

Before the limit p is constant, p0, and h(t) = p0 + (idle/P_sus - p0)(w1 e^(-t/tau1) + w2 e^(-t/tau2)). At the limit the
clock holds h = 1, so dh/dt = 0, which gives p = (w1 h1/tau1 + w2 h2/tau2)/(w1/tau1 + w2/tau2) with w1 h1 = 1 - w2 h2.
Then h2 relaxes to 1 at the rate lam and p = 1 + s (1 - h2), with k = w1/tau1 + w2/tau2,
s = w2 (1/tau1 - 1/tau2)/k and lam = (1 + s)/tau2.

Power of a plan of T seconds and E joules at clock f, arrivals r a second: idle + r E f^(g-1) while r T/f < 1, and
idle + (E/T) f^g where frames follow one another. A plan of T' seconds that is never slowed down overtakes at f = T/T'.
"""
import json
import math
import pathlib

here = pathlib.Path(__file__).resolve().parent
envelopes = {path.stem: json.loads(path.read_text())
             for path in sorted((here / "../../../Profiles/thermal").glob("*.json"))}
NOISE = 0.04  # standard deviation of the logarithm, mean 1


def watts(case, plan, f):
    """Mean power at clock f."""
    e, g = case["envelope"], case["exponent"]
    seconds, joules, rate = plan["seconds"], plan["joules"], case["rate"]
    if rate is None or rate * seconds / f >= 1:
        return e["idleWatts"] + joules / seconds * f**g
    return e["idleWatts"] + rate * joules * f ** (g - 1)


def clock_for(case, plan, power):
    low, high = 1e-3, 1.0
    if watts(case, plan, 1.0) <= power:
        return 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if watts(case, plan, middle) <= power else (low, middle)
    return low


def bisect(function, low, high):
    """Returns the argument at which a falling or rising function changes sign."""
    sign = function(low) > 0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if (function(middle) > 0) == sign else (low, middle)
    return low


def closed_form(case):
    e, hot, lean = case["envelope"], case["hot"], case["lean"]
    sustainable = e["sustainableWatts"]
    (w1, t1), (w2, t2) = [(e[k]["weight"], e[k]["tau"]) for k in ("fast", "slow")]
    rest, p0 = e["idleWatts"] / sustainable, watts(case, hot, 1.0) / sustainable
    headroom = lambda t: p0 + (rest - p0) * (w1 * math.exp(-t / t1) + w2 * math.exp(-t / t2))
    limit = bisect(lambda t: 1 - headroom(t), 0, 1e6)
    h2 = p0 + (rest - p0) * math.exp(-limit / t2)
    k = w1 / t1 + w2 / t2
    s = w2 * (1 / t1 - 1 / t2) / k
    rate = (1 + s) / t2
    load = lambda t: 1 + s * (1 - h2) * math.exp(-rate * (t - limit))
    target = watts(case, hot, hot["seconds"] / lean["seconds"]) / sustainable
    if target >= load(limit):
        raise SystemExit("the lean plan is ahead before or as soon as the clock falls: choose other numbers")
    crossover = limit + math.log(s * (1 - h2) / (target - 1)) / rate if target > 1 else None
    return limit, crossover


def integrated(case, step=0.002):
    e, hot, lean = case["envelope"], case["hot"], case["lean"]
    sustainable = e["sustainableWatts"]
    (w1, t1), (w2, t2) = [(e[k]["weight"], e[k]["tau"]) for k in ("fast", "slow")]
    h1 = h2 = e["idleWatts"] / sustainable
    full = watts(case, hot, 1.0) / sustainable
    target = watts(case, hot, hot["seconds"] / lean["seconds"]) / sustainable
    time, limit = 0.0, None
    while time < 36000:
        load = full
        if w1 * h1 + w2 * h2 >= 1:
            if limit is None:
                limit = time
            load = min(full, (w1 * h1 / t1 + w2 * h2 / t2) / (w1 / t1 + w2 / t2))
            if load <= target:
                return limit, time
        h1 += step * (load - h1) / t1
        h2 += step * (load - h2) / t2
        time += step
    raise SystemExit("no crossover within ten hours: choose other numbers")


def case(name, envelope, rate, hot, lean, exponent=2.5, hours=1.0):
    plan = lambda label, numbers: {"label": label, "seconds": numbers[0], "joules": numbers[1]}
    e = {k: v for k, v in envelopes[envelope].items() if k not in ("format", "version", "summary", "sources")}
    case = {"name": name, "envelope": e, "rate": rate, "exponent": exponent, "duration": 3600 * hours, "noise": NOISE,
            "hot": plan("all", hot), "lean": plan("cpu-only", lean)}
    if watts(case, case["lean"], 1.0) > e["sustainableWatts"]:
        raise SystemExit(f"{name}: the lean plan cannot be held for ever either")
    limit, crossover = closed_form(case)
    again = integrated(case)
    if abs(again[0] - limit) > 0.05 or abs(again[1] - crossover) > 0.2:
        raise SystemExit(f"{name}: closed form {limit} {crossover}, integrated {again}")
    settled = clock_for(case, case["hot"], e["sustainableWatts"])
    median = math.exp(-NOISE * NOISE / 2)
    case["expected"] = {
        "limit": limit, "crossover": crossover, "settledClock": settled,
        "settledHotP50": case["hot"]["seconds"] / settled * median,
        "leanP50": case["lean"]["seconds"] * median,
        "leanP90": case["lean"]["seconds"] * median * math.exp(1.2815515655446004 * NOISE),
        "leanWatts": watts(case, case["lean"], 1.0),
    }
    print(f"{name}: limit {limit:.2f} s, crossover {crossover:.2f} s = minute {crossover / 60:.2f}, clock {settled:.4f}")
    return case


cases = [
    # seconds and joules per frame: `all` is fast and draws 6.5 W, the CPU alone is slower and draws 2.3 W
    case("phone, 30 frames/s", "phone", 30, (0.0150, 0.2000), (0.0260, 0.0600)),
    case("phone, back to back", "phone", None, (0.0150, 0.0900), (0.0210, 0.0500)),
    case("fanless laptop, 60 frames/s", "fanless-laptop", 60, (0.0060, 0.3800), (0.0120, 0.1200), exponent=2.0),
    case("laptop, 15 frames/s", "laptop", 15, (0.0300, 3.2000), (0.0360, 1.6000), exponent=3.0),
    case("desktop, back to back", "desktop", None, (0.0040, 0.4200), (0.0048, 0.2500), hours=0.5),
]
(here / "expected.json").write_text(json.dumps({"cases": cases}, indent=1) + "\n")
