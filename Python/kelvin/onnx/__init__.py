"""A session of the shape that ONNX Runtime's have, on Kelvin.

```python
from kelvin.onnx import InferenceSession
session = InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
scores, = session.run(None, {"image": array})
```
"""
from .session import (
    InferenceSession, IOBinding, ModelMetadata, NodeArg, OrtValue, RunOptions, SessionOptions, get_available_providers,
    get_device)

__all__ = [
    "IOBinding", "InferenceSession", "ModelMetadata", "NodeArg", "OrtValue", "RunOptions", "SessionOptions",
    "get_available_providers", "get_device",
]
