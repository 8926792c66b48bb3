"""The results as text, and their files."""

import json
import os
import pathlib

RESULTS = pathlib.Path(__file__).parent / "results"


def save(name, result, text):
    """Writes results/NAME.json and results/NAME.md."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    (RESULTS / f"{name}.md").write_text(text)


def machine(entries):
    """The processor and the drivers that were measured, and nothing else about the machine."""
    with open("/proc/cpuinfo") as file:
        lines = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    drivers = sorted({c["driver"] for e in entries for c in e["contenders"] if "driver" in c})
    return {"processor": lines[0] if lines else "unknown", "processors": len(os.sched_getaffinity(0)),
            "drivers": drivers}


def milliseconds(seconds):
    return "–" if seconds is None else f"{1000 * seconds:.2f} ms"


def demand(entry):
    first = f", first under {entry['firstBar']:.0f} s" if entry["firstBar"] is not None else ""
    return "–" if entry["bar"] is None else f"at most {entry['bar']:.1f} ×{first}"


def line(entry):
    ratio = entry["ratio"]
    times = ", ".join(f"{c['name']} {milliseconds(c['p50'])}" for c in entry["contenders"])
    return (f"{entry['title']}: {times}; "
            f"ratio {ratio['median']:.2f} ({ratio['min']:.2f} to {ratio['max']:.2f}); {entry['verdict']}")


def markdown(result):
    """One row per comparison, then one per contender with its first inference and its agreement."""
    about = result["machine"]
    drivers = f"; {', '.join(about['drivers'])}" if about["drivers"] else ""
    rows = [
        f"Measured {result['date']} on {about['processors']} processors of {about['processor']}{drivers}; "
        f"{result['rounds']} rounds of {result['iterations']} inferences, interleaved; load average before: "
        f"{result['loadAverageBefore']:.2f}.",
        "",
        "| Comparison | Kelvin | Peers | Kelvin / best peer, median (min to max) | Held to | Verdict |",
        "|---|---|---|---|---|---|",
    ]
    for entry in result["comparisons"]:
        kelvin, *peers = entry["contenders"]
        others = ", ".join(f"{peer['name']} {milliseconds(peer['p50'])}" for peer in peers)
        ratio = entry["ratio"]
        rows.append(f"| {entry['title']} | {milliseconds(kelvin['p50'])} | {others} | "
                    f"{ratio['median']:.2f} ({ratio['min']:.2f} to {ratio['max']:.2f}) | "
                    f"{demand(entry)} | {entry['verdict']} |")
    if result.get("geometricMean") is not None:
        rows += ["", f"Geometric mean of the ratios on the CPU: {result['geometricMean']:.2f}."]
    disturbed = sum(entry["disturbedRounds"] for entry in result["comparisons"])
    if disturbed:
        rows += ["", f"In {disturbed} rounds that were kept others took more than 2 % of the processors."]
    rows += ["",
             "| Comparison | Contender | Load | First inference | Largest difference from ONNX Runtime | Same top-1 |",
             "|---|---|---|---|---|---|"]
    for entry in result["comparisons"]:
        for contender in entry["contenders"]:
            agrees = contender["againstONNXRuntime"]
            version = f" {contender['version']}" if "version" in contender else ""
            rows.append(f"| {entry['title']} | {contender['name']}{version} | "
                        f"{milliseconds(contender.get('load'))} | "
                        f"{milliseconds(contender.get('first'))} | {agrees['maxAbsolute']:.1e} | "
                        f"{'yes' if agrees['sameTop1'] else 'no'} |")
    return "\n".join(rows) + "\n"
