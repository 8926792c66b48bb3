"""The standard ONNX backend suite on Kelvin, by its own runner: python -m pytest -q onnx_suite.py

Real models, which the suite would download, are left out.
"""
import onnx.backend.test

import kelvin.onnx.backend

_suite = onnx.backend.test.BackendTest(kelvin.onnx.backend, __name__)
_suite.exclude("_cuda$")
_suite.include("^test_.*_cpu$")
globals().update(_suite.enable_report().test_cases)
globals().pop("OnnxBackendRealModelTest", None)
