"""Whole processes: how long they take, and the most memory that they have resident."""

import json
import sys
import tempfile

from contenders import HERE, ContenderFailed, run


def launched(command, processors, environment=()):
    """{"seconds", "peak", "lines"} of one process: its time, the most bytes that it had resident, and what it printed."""
    launcher = [sys.executable, "-S", str(HERE / "launch.py"), str(processors)]
    *lines, last = run([*launcher, *command], processors, environment).splitlines()
    answer = json.loads(last) | {"lines": lines}
    if answer["status"] != 0:
        raise ContenderFailed(f"exit status {answer['status']}: {' '.join(command)}")
    return answer


def whole(kelvin, *options):
    """Of a process that loads, predicts once and writes its outputs."""
    with tempfile.TemporaryDirectory() as folder:
        answer = launched([*kelvin.predict(folder), *options], kelvin.processors, kelvin.environment)
    return {"start": answer["seconds"], "peak": answer["peak"]}
