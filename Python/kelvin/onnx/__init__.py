"""A session with the interface of ONNX Runtime, implemented with Kelvin.

```python
from kelvin.onnx import InferenceSession
session = InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
scores, = session.run(None, {"image": array})
```
"""
from .._library import library
from .session import (
    ExecutionMode, GraphOptimizationLevel, InferenceSession, IOBinding, ModelMetadata, NodeArg, OrtValue, RunOptions,
    SessionOptions, get_all_providers, get_available_providers, get_device, set_default_logger_severity,
    set_default_logger_verbosity)

__version__ = library.version
__all__ = [
    "ExecutionMode", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "ModelMetadata", "NodeArg", "OrtValue",
    "RunOptions", "SessionOptions", "get_all_providers", "get_available_providers", "get_device",
    "set_default_logger_severity", "set_default_logger_verbosity",
]
