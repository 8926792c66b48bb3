"""Kelvin: run Core ML and ONNX models on Linux, and see which device runs each layer, and why."""
import warnings
from typing import Any

from . import _library
from .description import Description, Feature
from .errors import (
    CancelledError, DeviceError, FeatureError, FileError, HandleError, InternalError, KelvinError, LimitError,
    ParameterError, UnsupportedError)
from .images import Image
from .measuring import Comparison, Measurement, Profile, bench, devices, plan, profile
from .model import Cancellation, Model, State
from .plan import Device, Devices, Layer, Plan

__version__ = _library.library.version
__all__ = [
    "CancelledError", "Cancellation", "Comparison", "Description", "Device", "DeviceError", "Devices", "Feature",
    "FeatureError", "FileError", "HandleError", "Image", "InternalError", "KelvinError", "Layer", "LimitError", "Measurement",
    "Model", "ParameterError", "Plan", "Profile", "State", "UnsupportedError", "bench", "devices", "plan", "profile",
]


def __getattr__(name: str) -> Any:
    """Provides `kelvin.Picture`, the former name of `kelvin.Image`."""
    if name == "Picture":
        warnings.warn("kelvin.Picture is now kelvin.Image", DeprecationWarning, stacklevel=2)
        return Image
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
