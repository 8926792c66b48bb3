"""Measures whole processes: their time, and their peak resident memory."""

import json
import sys
import tempfile

from contenders import HERE, ContenderFailed, run


def launched(command, processors, environment=()):
    """Returns {"seconds", "peak", "lines"} of one process: its time, its peak resident bytes, and its output."""
    launcher = [sys.executable, "-S", str(HERE / "launch.py"), str(processors)]
    *lines, last = run([*launcher, *command], processors, environment).splitlines()
    answer = json.loads(last) | {"lines": lines}
    if answer["status"] != 0:
        raise ContenderFailed(f"exit status {answer['status']}: {' '.join(command)}")
    return answer


def whole(kelvin, *options):
    """Measures a process that loads, predicts once and writes its outputs."""
    with tempfile.TemporaryDirectory() as folder:
        answer = launched([*kelvin.predict(folder), *options], kelvin.processors, kelvin.environment)
    return {"start": answer["seconds"], "peak": answer["peak"]}
