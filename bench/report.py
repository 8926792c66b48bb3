"""The results as text, and their files."""

import json
import os
import pathlib

RESULTS = pathlib.Path(__file__).parent / "results"
# The largest slowdown in a crowd, relative to that of plain work in as many threads.
SLOWDOWN_BAR = 1.1


def save(name, result, text):
    """Writes results/NAME.json and results/NAME.md."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    (RESULTS / f"{name}.md").write_text(text)


def machine(entries):
    """The processor and the drivers that were measured, and nothing else about the machine."""
    with open("/proc/cpuinfo") as file:
        lines = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    drivers = sorted({c["driver"] for e in entries for c in e.get("contenders", ()) if "driver" in c})
    return {"processor": lines[0] if lines else "unknown", "processors": len(os.sched_getaffinity(0)),
            "drivers": drivers}


def milliseconds(seconds):
    return "–" if seconds is None else f"{1000 * seconds:.2f} ms"


def spread(ratio):
    return f"{ratio['median']:.2f} ({ratio['min']:.2f} to {ratio['max']:.2f})"


def heading(result, rounds):
    """Returns one sentence with the time and the machine of the measurement."""
    about = result["machine"]
    drivers = "".join(f"; {driver}" for driver in about["drivers"])
    kelvin = f"; Kelvin with {about['kelvin']}" if about.get("kelvin") else ""
    kelvin += f", OPENBLAS_CORETYPE={about['openblasCoreType']}" if about.get("openblasCoreType") else ""
    return (f"Measured {result['date']} on {about['processors']} processors of {about['processor']}{drivers}{kelvin}; {rounds}; "
            f"load average before: {result['loadAverageBefore']:.2f}.")


def disturbed(result):
    """Returns a line on the rounds that other processes disturbed, if any."""
    count = sum(entry["disturbedRounds"] for entry in result["comparisons"])
    return ["", f"In {count} rounds that were kept others took more than 2 % of the processors."] if count else []


def demand(entry):
    first = f", first under {entry['firstBar']:.0f} s" if entry["firstBar"] is not None else ""
    return "–" if entry["bar"] is None else f"at most {factor(entry['bar'])} ×{first}"


def factor(bar):
    """`1.0`, `0.85`."""
    return f"{bar:.2f}".rstrip("0").ljust(3, "0")


def mean(result):
    bar = result["geometricMeanBar"]
    verdict = "met" if result["geometricMean"] <= bar else "missed"
    return f"Geometric mean of the ratios on the CPU: {result['geometricMean']:.3f}, held to {factor(bar)}: {verdict}."


def line(entry):
    times = ", ".join(f"{c['name']} {milliseconds(c['p50'])}" for c in entry["contenders"])
    slower = ", ".join(f"{c['name']} {c['slowdown']['median']:.2f}" for c in entry["contenders"] if "slowdown" in c)
    return (f"{entry['title']}: {times}; ratio {spread(entry['ratio'])}; "
            + (f"slower than alone by {slower}; " if slower else "") + entry["verdict"])


def markdown(result):
    """One row per comparison, then one per contender with its first inference and its agreement."""
    rows = [
        heading(result, f"{result['rounds']} rounds of at least {result['iterations']} inferences and {result['seconds']:g} s, "
                "interleaved"),
        "",
        "| Comparison | Kelvin | Peers | Kelvin / best peer, median (min to max) | Held to | Verdict |",
        "|---|---|---|---|---|---|",
    ]
    for entry in result["comparisons"]:
        kelvin, *peers = entry["contenders"]
        others = ", ".join(f"{peer['name']} {milliseconds(peer['p50'])}" for peer in peers)
        rows.append(f"| {entry['title']} | {milliseconds(kelvin['p50'])} | {others} | {spread(entry['ratio'])} | "
                    f"{demand(entry)} | {entry['verdict']} |")
    if result.get("geometricMean") is not None:
        rows += ["", mean(result)]
    rows += disturbed(result) + left_to_cpu(result) + slowdowns(result) + kernels(result) + [
        "",
        "| Comparison | Contender | Load | First inference | Largest difference from ONNX Runtime | Same top-1 |",
        "|---|---|---|---|---|---|"]
    for entry in result["comparisons"]:
        for contender in entry["contenders"]:
            agrees = contender["againstONNXRuntime"]
            version = f" {contender['version']}" if "version" in contender else ""
            same = f"{agrees['maxAbsolute']:.1e} | {'yes' if agrees['sameTop1'] else 'no'}" if agrees else "– | –"
            rows.append(f"| {entry['title']} | {contender['name']}{version} | {milliseconds(contender.get('load'))} | "
                        f"{milliseconds(contender.get('first'))} | {same} |")
    return "\n".join(rows) + "\n"


def left_to_cpu(result):
    """Returns the layers that ncnn does not compute on the device."""
    said = {(entry["title"], tuple(c["leftToCPU"])) for entry in result["comparisons"] for c in entry["contenders"]
            if "leftToCPU" in c}
    if not said:
        return []
    exceptions = [f"{title}: {', '.join(kinds)}" for title, kinds in sorted(said) if kinds]
    return ["", "ncnn computes every layer on the device." if not exceptions else
            f"Layers that ncnn leaves to its CPU: {'; '.join(exceptions)}."]


def slowdowns(result):
    """Returns the slowdown of each contender in a crowd, if it was measured."""
    entries = [entry for entry in result["comparisons"] if "slowdown" in entry["contenders"][0]]
    if not entries:
        return []
    rows = ["", "| Comparison | Contender | Alone | In the crowd | In the crowd / alone, median (min to max) |",
            "|---|---|---|---|---|"]
    rows += [f"| {entry['title']} | {c['name']} | {milliseconds(c['alone'])} | {milliseconds(c['p50'])} | "
             f"{spread(c['slowdown'])} |" for entry in entries for c in entry["contenders"]]
    rows += ["", "| Comparison | Kelvin's slow-down over plain work's | Held to | Verdict |", "|---|---|---|---|"]
    for entry in entries:
        kelvin, plain = (entry["contenders"][place]["slowdown"]["median"] for place in (0, -1))
        verdict = "met" if kelvin / plain <= SLOWDOWN_BAR else f"above {factor(SLOWDOWN_BAR)}"
        rows.append(f"| {entry['title']} | {kelvin / plain:.2f} | at most {factor(SLOWDOWN_BAR)} × | {verdict} |")
    return rows


def kernels(result):
    """Returns the kernels of OpenVINO that ran, if it was limited."""
    entries = [entry for entry in result["comparisons"] if "kernels" in entry]
    if not entries:
        return []
    rows = ["", "| Comparison | The processor, as oneDNN takes it | OpenVINO's kernels | Wider ones | Ones that do not tell |",
            "|---|---|---|---|---|"]
    for entry in entries:
        about = entry["kernels"]
        named = sorted({name.split()[-1] for name in about["nodes"]})
        wider, untold = (", ".join(f"{name} ({about['nodes'][name]})" for name in about[key]) or "none"
                         for key in ("wider", "untold"))
        rows.append(f"| {entry['title']} | {', '.join(about['processor'])} | {', '.join(named)} | {wider} | {untold} |")
    return rows
