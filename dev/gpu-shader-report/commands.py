"""The commands that a driver was given, from the log of layer.c, and the part of them that is one inference.

    commands.py LOG…    dispatches, barriers, submissions, waits and bytes copied by an inference, a line for each log
"""

import collections
import dataclasses
import json
import pathlib
import struct
import sys

OP_FUNCTION = 54


@dataclasses.dataclass(frozen=True)
class Pipeline:
    """A kernel with its specialization constants by number."""

    name: str
    constants: dict
    entry: dict


@dataclasses.dataclass(frozen=True)
class Dispatch:
    pipeline: Pipeline
    grid: tuple
    push: tuple

    @property
    def groups(self):
        return self.grid[0] * self.grid[1] * self.grid[2]


def function_hash(path):
    """FNV-1a of a module's words from its first function on, as layer.c has it."""
    words = struct.unpack(f"<{path.stat().st_size // 4}I", path.read_bytes())
    at = 5
    while at < len(words) and words[at] & 0xFFFF != OP_FUNCTION:
        at += words[at] >> 16
    value = 0xCBF29CE484222325
    for byte in struct.pack(f"<{len(words) - at}I", *words[at:]):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def kernel_names(spirv):
    """Returns the names of the modules of a folder by their hash."""
    return {function_hash(path): path.stem for path in pathlib.Path(spirv).glob("*.spv")}


class Log:
    """The pipelines of a log by number, its entries, and whether the program asked for checked bounds of buffers."""

    def __init__(self, lines, names):
        self.pipelines, self.entries, self.is_robust = {}, [], False
        for entry in map(json.loads, lines):
            if "device" in entry:
                self.is_robust |= entry["robustBufferAccess"]
            elif "pipeline" in entry:
                self.pipelines[entry["pipeline"]] = Pipeline(
                    names.get(entry["function"], entry["function"]),
                    {int(key): value for key, value in entry["constants"].items()}, entry)
            else:
                self.entries.append(entry)

    def dispatch(self, entry):
        return Dispatch(self.pipelines[entry["dispatch"]], tuple(entry["grid"]), tuple(entry["push"]))

    @property
    def recordings(self):
        """The commands of each recording."""
        recordings = collections.defaultdict(list)
        for entry in self.entries:
            if "in" in entry:
                recordings[entry["in"]].append(entry)
        return recordings

    def inference(self):
        """Returns the entries of one inference: submissions and waits, with the commands of what is submitted.

        The inference reaches from one submission of the same commands to the next; the last whole one counts. Those are,
        of the commands with at least half of the most dispatches, the most often submitted: a decoder's for one token,
        not those for its prompt, nor those that copy its cache over the bus. A log of a single inference has its
        commands only.
        """
        recordings = self.recordings
        dispatches = {number: sum("dispatch" in entry for entry in entries) for number, entries in recordings.items()}
        contents = {
            number: tuple((entry["dispatch"], *entry["grid"]) if "dispatch" in entry else (entry["way"], entry["copy"])
                          for entry in entries if "dispatch" in entry or "copy" in entry)
            for number, entries in recordings.items() if dispatches[number]}
        submitted = [number for entry in self.entries for number in entry.get("submit", [])]
        times = collections.Counter(contents[number] for number in submitted if number in contents)
        sizes = {contents[number]: dispatches[number] for number in submitted if number in contents}
        most = max(sizes.values(), default=0)
        main = max((commands for commands in times if 2 * sizes[commands] >= most), key=times.get, default=())
        starts = [
            index for index, entry in enumerate(self.entries)
            if main and any(contents.get(number) == main for number in entry.get("submit", []))]
        if len(starts) < 3:
            return [entry for number in dict.fromkeys(submitted) if contents.get(number) for entry in recordings[number]]
        inference = []
        for entry in self.entries[starts[-2]:starts[-1]]:
            if "submit" in entry or "wait" in entry:
                inference.append(entry)
            for number in entry.get("submit", []):
                inference += recordings.get(number, [])
        return inference


def counts(inference):
    """Returns what an inference's entries count: name to number."""
    def of(kind):
        return sum(kind in entry for entry in inference)

    def moved(way):
        return sum(entry["copy"] for entry in inference if entry.get("way") == way)

    return {
        "dispatches": of("dispatch"), "barriers": of("barrier"), "submissions": of("submit"), "waits": of("wait"),
        "copies": of("copy"), "bytes up": moved("up"), "bytes down": moved("down"), "bytes within": moved("within")}


def read(path, names):
    with open(path) as lines:
        return Log(lines, names)


if __name__ == "__main__":
    for path in map(pathlib.Path, sys.argv[1:]):
        log = read(path, {})
        held = max((entry["held"] for entry in log.entries if "held" in entry), default=0)
        refused = sum("refused" in entry for entry in log.entries)
        found = {**counts(log.inference()), "bytes held": held, "allocations refused": refused}
        print(f"{path.stem}: " + ", ".join(f"{name} {count:,}" for name, count in found.items()))
