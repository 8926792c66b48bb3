"""Kelvin: run Core ML and ONNX models on Linux, and see which device runs which layer, and why."""
from . import _library
from .description import Description, Feature
from .errors import (
    CancelledError, DeviceError, FeatureError, FileError, HandleError, InternalError, KelvinError, LimitError,
    ParameterError, UnsupportedError)
from .measuring import Comparison, Measurement, Profile, bench, devices, plan, profile
from .model import Cancellation, Model, State
from .pictures import Picture
from .plan import Device, Devices, Layer, Plan

__version__ = _library.library.version
__all__ = [
    "CancelledError", "Cancellation", "Comparison", "Description", "Device", "DeviceError", "Devices", "Feature",
    "FeatureError", "FileError", "HandleError", "InternalError", "KelvinError", "Layer", "LimitError", "Measurement",
    "Model", "ParameterError", "Picture", "Plan", "Profile", "State", "UnsupportedError", "bench", "devices", "plan", "profile",
]
