#!/usr/bin/env python3
"""Writes the manual page from the program's help: dev/package/manual.py .build/release/kelvin > kelvin.1"""
import json
import subprocess
import sys


def escaped(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("\n", " ").lstrip(".'")


def spelled(argument):
    """`--units LIST`, `MODEL`, `--strict`."""
    names = [("--" if name["kind"] != "short" else "-") + name["name"] for name in argument.get("names", [])]
    value = argument.get("valueName", "")
    if argument["kind"] == "positional":
        return value.upper()
    text = ", ".join(sorted(names, key=len))
    return f"{text} {value.upper()}" if argument["kind"] == "option" else text


def lines(command, path):
    if len(path) > 1:
        yield f".SS {escaped(' '.join(path[1:]))}"
    for part in ("abstract", "discussion"):
        if command.get(part):
            yield ".PP"
            yield escaped(command[part])
    for argument in command.get("arguments", []):
        if argument.get("shouldDisplay", True) and argument.get("abstract"):
            yield ".TP"
            yield f".B {escaped(spelled(argument))}"
            yield escaped(argument["abstract"])
    for inner in command.get("subcommands", []):
        if inner.get("shouldDisplay", True) and inner["commandName"] != "help":
            yield from lines(inner, path + [inner["commandName"]])


def page(program):
    dumped = subprocess.run([program, "--experimental-dump-help"], check=True, capture_output=True, text=True).stdout
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    command = json.loads(dumped)["command"]
    yield f'.TH KELVIN 1 "" "kelvin {version}"'
    yield ".SH NAME"
    yield f"kelvin \\- {escaped(command['abstract'])}"
    yield ".SH SYNOPSIS"
    yield ".B kelvin"
    yield "COMMAND [OPTIONS]"
    yield ".SH COMMANDS"
    yield from lines({**command, "abstract": ""}, ["kelvin"])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("\n".join(page(sys.argv[1])))
