"""A plugin for pytest that writes down how each test ended, as it ends, so that a run which is cut short is still counted.

$KELVIN_JOURNAL names the file: a line of JSON for each test that begins, and one when it ends, with its outcome (passed,
failed, refused or skipped) and what was said. Refused is a test in which Kelvin said that it lacks what the model needs.
"""
import json
import os

import pytest

import kelvin

_file = open(os.environ["KELVIN_JOURNAL"], "a", encoding="utf-8")


def _note(test, **more):
    print(json.dumps({"test": test, **more}), file=_file, flush=True)


def _causes(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _said(error):
    text = f"{type(error).__name__}: {error}" if error is not None else ""
    return " ".join(text.split())[:400]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid):
    _note(nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    error = None if call.excinfo is None else call.excinfo.value
    if report.failed:
        refused = any(isinstance(cause, kelvin.UnsupportedError) for cause in _causes(error))
        _note(item.nodeid, outcome="refused" if refused else "failed", said=_said(error))
    elif report.skipped or call.when == "call":
        _note(item.nodeid, outcome=report.outcome, said=_said(error))
    return report


def pytest_collectreport(report):
    if report.failed or report.skipped:
        _note(report.nodeid, outcome=report.outcome, said=" ".join(str(report.longrepr).split())[-400:])
