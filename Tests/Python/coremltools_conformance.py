"""A plugin for pytest that has coremltools' own tests compare Kelvin's predictions, as they do on a Mac with Apple's chip.

    python -m pytest -p coremltools_conformance --pyargs coremltools.converters.mil.mil.ops.tests.iOS14.test_activation
"""
import platform
import random
import sys

import numpy as np
import pytest

import _kelvin_coremltools

# A checkout has no .pth that Python would have read.
_kelvin_coremltools.install()

import coremltools._deps  # noqa: E402

coremltools._deps._IS_MACOS = True
# Tests skip comparisons on Macs with Intel processors. Modules imported so far have already read the actual machine.
platform.machine = lambda: "arm64"

import kelvin.coremltools  # noqa: E402

_counted = {"predictions": 0}
_predict = kelvin.coremltools._MLModelProxy.predict


def _counting(self, data, state=None):
    _counted["predictions"] += 1
    return _predict(self, data, state)


kelvin.coremltools._MLModelProxy.predict = _counting


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Tests draw their cases by chance; each begins from the same seed."""
    random.seed(0)
    np.random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"predictions by Kelvin: {_counted['predictions']}")
