"""A plugin for pytest that has coremltools' own tests compare Kelvin's predictions, as they do on a Mac.

    python -m pytest -p coremltools_conformance --pyargs coremltools.converters.mil.mil.ops.tests.iOS14.test_activation
"""
import _kelvin_coremltools

# A checkout has no .pth that Python would have read.
_kelvin_coremltools.install()

import coremltools._deps  # noqa: E402

coremltools._deps._IS_MACOS = True

import kelvin.coremltools  # noqa: E402

_counted = {"predictions": 0}
_predict = kelvin.coremltools._MLModelProxy.predict


def _counting(self, data, state=None):
    _counted["predictions"] += 1
    return _predict(self, data, state)


kelvin.coremltools._MLModelProxy.predict = _counting


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"predictions by Kelvin: {_counted['predictions']}")
