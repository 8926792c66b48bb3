"""The native module that coremltools looks for (`coremltools.libcoremlpython`), implemented with Kelvin.

Names, arguments and results are those that coremltools 8 and 9 expect. See their documentation.
"""
import os
import shutil
import tempfile
import time
import weakref
from ctypes import byref
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, TypeVar, Union

import numpy as np

from . import measuring, mil_text
from ._library import encoded, library
from .description import Feature
from .errors import KelvinError
from .model import Model, State
from .values import NDArray

_Answer = TypeVar("_Answer")

_UNITS = {"ALL": "all", "CPU_ONLY": "cpu-only", "CPU_AND_GPU": "cpu-and-gpu", "CPU_AND_NE": "cpu-and-neural-engine"}
#: The native module's message by which scripts recognize a failed prediction.
_FAILED = "Error computing NN outputs: "
#: The specification version of iOS 18 and macOS 15.
_NEWEST_SPECIFICATION = 9


def _raising(work: Callable[[], _Answer], before: str = "") -> _Answer:
    """Converts errors to those of the native module, with Kelvin's message appended."""
    try:
        return work()
    except KelvinError as error:
        raise RuntimeError(f"{before}{error}") from error


def _given(feature: Optional[Feature], value: Any) -> Any:
    """Converts a value to the model's type, because Core ML converts numbers of other types.

    Raises RuntimeError for a value that cannot be converted.
    """
    try:
        return _converted(feature, value)
    except (TypeError, ValueError, OverflowError) as error:
        name, kind = (feature.name, feature.type) if feature is not None else ("", "any")
        raise RuntimeError(
            f"{_FAILED}feature '{name}': expected type {kind}, got {type(value).__name__}: {error}") from error


def _converted(feature: Optional[Feature], value: Any) -> Any:
    if feature is None:
        return value
    if isinstance(value, bytes) and feature.type == "string":
        return value.decode()
    if feature.type in ("multiArray", "int64", "double") and isinstance(value, np.ndarray) and value.size == 1:
        if feature.type == "int64":
            return int(value.reshape(()))
        if feature.type == "double":
            return float(value.reshape(()))
    if feature.type == "multiArray" and (feature.dtype or "").startswith("int"):
        array = np.asarray(value)
        if array.dtype.kind == "f":
            return array.astype(feature.dtype)
        return array
    return value


def _taken(value: Any) -> Any:
    """Converts a result to the type that Core ML returns: float16 becomes float32."""
    if isinstance(value, np.ndarray) and value.dtype == np.float16:
        return value.astype(np.float32)
    return value


class _MLModelAssetProxy:
    def __init__(
            self, path: Optional[str] = None, specification: bytes = b"",
            files: Optional[Mapping[str, bytes]] = None) -> None:
        self.path, self.specification, self.files = path, specification, files or {}


class _State:
    def __init__(self, state: State) -> None:
        self.state = state

    def read_state(self, name: str) -> Any:
        return _taken(_raising(lambda: self.state.read(name)))

    def write_state(self, name: str, value: NDArray) -> None:
        _raising(lambda: self.state.write(name, value))


class _MLModelProxy:
    """A loaded model."""

    def __init__(
            self, path: str, compute_units: str, function_name: str = "",
            optimization_hints: Optional[Mapping[str, str]] = None, asset: Any = None) -> None:
        hints = optimization_hints or {}
        if compute_units not in _UNITS:
            raise RuntimeError(f"expected compute units of {', '.join(_UNITS)}, got '{compute_units}'")
        options: Dict[str, Any] = {"units": _UNITS[compute_units], "function": function_name or None}
        if "reshapeFrequency" in hints:
            options["reshape_frequency"] = hints["reshapeFrequency"].lower()
        proxy = getattr(asset, "__proxy__", asset)
        began = time.perf_counter_ns()
        files = None
        if proxy is None:
            # coremltools may remove the file when this returns, but models read their files later.
            self._source, folder = _kept_copy(path)
            weakref.finalize(self, shutil.rmtree, folder, True)
        elif proxy.path:
            self._source = _within(proxy.path)
        else:
            self._source, files = proxy.specification, proxy.files
        self._model = _raising(lambda: Model(self._source, files=files, **options))
        self._load_duration = time.perf_counter_ns() - began
        self._predict_duration = 0
        self._compiled: Optional[str] = None

    def predict(self, data: Mapping[str, Any], state: Optional[_State] = None) -> Dict[str, Any]:
        given = {name: _given(self._model.inputs.get(name), value) for name, value in data.items()}
        began = time.perf_counter_ns()
        held = state.state if state is not None else None
        result = _raising(lambda: self._model.predict(given, state=held, fit="exact"), _FAILED)
        self._predict_duration = time.perf_counter_ns() - began
        return {name: _taken(value) for name, value in result.items()}

    def batchPredict(self, items: List[Mapping[str, Any]]) -> List[Dict[str, Any]]:
        given = [{name: _given(self._model.inputs.get(name), value) for name, value in item.items()} for item in items]
        began = time.perf_counter_ns()
        results = _raising(lambda: self._model.predict(given, fit="exact"), _FAILED)
        self._predict_duration = time.perf_counter_ns() - began
        return [{name: _taken(value) for name, value in result.items()} for result in results]

    def newState(self) -> _State:
        return _State(_raising(self._model.make_state))

    def get_compiled_model_path(self) -> str:
        if self._compiled is None:
            if isinstance(self._source, bytes):
                raise RuntimeError("a model that was loaded from memory has no compiled folder; save it, and load that")
            self._compiled = _MLModelProxy.compileModel(self._source)
            weakref.finalize(self, shutil.rmtree, os.path.dirname(self._compiled), True)
        return self._compiled

    def get_load_duration_in_nano_seconds(self) -> int:
        return self._load_duration

    def get_last_predict_duration_in_nano_seconds(self) -> int:
        return self._predict_duration

    @staticmethod
    def maximum_supported_specification_version() -> int:
        return _NEWEST_SPECIFICATION

    @staticmethod
    def auto_set_specification_version(specification: bytes) -> bytes:
        return specification

    @staticmethod
    def compileModel(path: str) -> str:
        """Returns a folder `.mlmodelc` with the unchanged model and a program's text. Kelvin compiles when it loads the
        model."""
        if not os.path.exists(path):
            raise RuntimeError(f"'{path}' does not exist")
        _raising(lambda: library.document(library.structure, encoded(path, "a path")))
        text = _program_text(path)
        name, _ = os.path.splitext(os.path.basename(path))
        folder = os.path.join(tempfile.mkdtemp(prefix="kelvin-"), f"{name}.mlmodelc")
        if os.path.isdir(path):
            shutil.copytree(path, folder)
        else:
            os.mkdir(folder)
            shutil.copy(path, os.path.join(folder, "model.mlmodel"))
        if text is not None:
            with open(os.path.join(folder, "model.mil"), "w", encoding="utf-8") as file:
                file.write(text)
        return folder

    @staticmethod
    def get_available_compute_devices() -> List[Any]:
        return _devices()

    @staticmethod
    def get_all_compute_devices() -> List[Any]:
        return _devices()

    @staticmethod
    def create_model_asset_from_path(path: str) -> Any:
        from coremltools.models.model import MLModelAsset
        if not os.path.exists(path):
            raise RuntimeError(f"'{path}' does not exist")
        return MLModelAsset(_MLModelAssetProxy(path=path))

    @staticmethod
    def create_model_asset_from_memory(specification: bytes, blob_mapping: Mapping[str, bytes]) -> Any:
        from coremltools.models.model import MLModelAsset
        return MLModelAsset(_MLModelAssetProxy(specification=specification, files=blob_mapping))

    @staticmethod
    def get_model_structure(path: str) -> Any:
        return _structure(_raising(lambda: library.document(library.structure, encoded(_within(path), "a path"))))

    @staticmethod
    def get_compute_plan(path: str, compute_units: str) -> Any:
        from coremltools.models.compute_plan import MLComputePlan
        return MLComputePlan(_KelvinComputePlan(_within(path), _UNITS[compute_units]))


def _program_text(path: str) -> Optional[str]:
    """Returns the text of a model's program; None for a model of another kind.

    Raises RuntimeError for a specification that protobuf cannot read, or a program that has no text.
    """
    from coremltools.models.utils import load_spec
    from google.protobuf.message import DecodeError
    try:
        specification = load_spec(path)
        return mil_text.text(specification.mlProgram) if specification.WhichOneof("Type") == "mlProgram" else None
    except (DecodeError, ValueError, LookupError, TypeError) as error:
        raise RuntimeError(f"'{path}' is damaged: {error}; copy it again, or export it again") from error


def _within(path: str) -> str:
    """Returns the model in a compiled folder; for any other path, the path itself."""
    inner = os.path.join(path, "model.mlmodel")
    return inner if os.path.isfile(inner) else path


def _kept_copy(path: str) -> Tuple[str, str]:
    """Returns a copy of a model that stays when coremltools removes the original, and the folder to remove at the
    end."""
    path = os.path.normpath(_within(path))
    if not os.path.exists(path):
        raise RuntimeError(f"'{path}' does not exist")
    folder = tempfile.mkdtemp(prefix="kelvin-")
    target = os.path.join(folder, os.path.basename(path))
    if os.path.isdir(path):
        shutil.copytree(path, target)
    else:
        shutil.copy(path, target)
    return target, folder


# Devices

class _MLCPUComputeDeviceProxy:
    pass


class _MLGPUComputeDeviceProxy:
    pass


class _MLNeuralEngineComputeDeviceProxy:
    def get_total_core_count(self) -> int:
        return 1


def _device(kind: Optional[str]) -> Any:
    from coremltools.models import compute_device as public
    if kind in ("integratedGPU", "discreteGPU", "software"):
        return public.MLGPUComputeDevice(_MLGPUComputeDeviceProxy())
    if kind == "accelerator":
        return public.MLNeuralEngineComputeDevice(_MLNeuralEngineComputeDeviceProxy())
    return public.MLCPUComputeDevice(_MLCPUComputeDeviceProxy())


def _devices() -> List[Any]:
    """Returns the devices that models use by default, without software drivers."""
    kinds = [row.kind for row in measuring.devices() if row.is_available]
    return [_device(kind) for kind in kinds if kind not in ("reference", "software")]


# Structures

class _MLModelStructureProgramOperationProxy:
    def __init__(self, name: str) -> None:
        self.name = name


class _MLModelStructureNeuralNetworkLayerProxy:
    def __init__(self, name: str) -> None:
        self.name = name


def _structure(document: Dict[str, Any]) -> Any:
    from coremltools.models import compute_plan as public
    network, program, pipeline = document.get("neuralNetwork"), document.get("program"), document.get("pipeline")
    return public.MLModelStructure(
        neuralnetwork=network and public.MLModelStructureNeuralNetwork([
            public.MLModelStructureNeuralNetworkLayer(
                layer["name"], layer["type"], layer["inputNames"], layer["outputNames"],
                _MLModelStructureNeuralNetworkLayerProxy(layer["name"])) for layer in network["layers"]]),
        program=program and public.MLModelStructureProgram({
            name: public.MLModelStructureProgramFunction(_values(function["inputs"]), _block(function["block"]))
            for name, function in program["functions"].items()}),
        pipeline=pipeline and public.MLModelStructurePipeline(
            list(zip(pipeline["subModelNames"], map(_structure, pipeline["subModels"])))))


def _values(names: List[str]) -> List[Any]:
    from coremltools.models import compute_plan as public
    return [public.MLModelStructureProgramNamedValueType(name, public.MLModelStructureProgramValueType()) for name in names]


def _binding(name: Optional[str]) -> Any:
    from coremltools.models import compute_plan as public
    # A value stored in the operation has no name. The structure does not contain such values.
    return public.MLModelStructureProgramBinding(name, None if name is not None else public.MLModelStructureProgramValue())


def _block(block: Dict[str, Any]) -> Any:
    from coremltools.models import compute_plan as public
    return public.MLModelStructureProgramBlock(
        _values(block["inputs"]),
        [
            public.MLModelStructureProgramOperation(
                {
                    argument["name"]: public.MLModelStructureProgramArgument([_binding(name) for name in argument["values"]])
                    for argument in operation["arguments"]},
                operation["operatorName"], _values(operation["outputs"]), [_block(inner) for inner in operation["blocks"]],
                _MLModelStructureProgramOperationProxy(operation["name"]))
            for operation in block["operations"]],
        block["outputNames"])


# Plans

class _MLComputePlanProxy:
    """A compute plan. coremltools creates it without arguments and sets its fields."""

    model_structure: Any = None


class _KelvinComputePlan(_MLComputePlanProxy):
    def __init__(self, path: str, units: str) -> None:
        self.model_structure = _structure(_raising(lambda: library.document(library.structure, encoded(path, "a path"))))
        plan = _raising(lambda: measuring.plan(path, units=units))
        total = sum(layer.seconds or 0 for layer in plan) or 1
        self._kinds = {row.id: row.kind for row in measuring.devices()}
        self._usages: Dict[str, Tuple[str, List[str]]] = {}
        self._weights: Dict[str, float] = {}
        for row in plan.document["nodes"]:
            own: Dict[str, Any] = next((item for item in row["candidates"] if item["device"] == row["device"]), {})
            supported = [item["device"] for item in row["candidates"] if item.get("seconds") is not None]
            for origin in row["origins"]:
                self._usages[origin["name"]] = (row["device"], supported)
                share = origin["share"] * (own.get("seconds") or 0) / total
                self._weights[origin["name"]] = self._weights.get(origin["name"], 0) + share

    def _usage(self, name: str) -> Any:
        from coremltools.models import compute_plan as public
        usage = self._usages.get(name)
        if usage is None:
            return None
        device, supported = usage
        return public.MLComputePlanDeviceUsage(
            _device(self._kinds.get(device)), [_device(self._kinds.get(item)) for item in supported])

    def get_compute_device_usage_for_mlprogram_operation(self, operation: Any) -> Any:
        return self._usage(operation.__proxy__.name)

    def get_compute_device_usage_for_neuralnetwork_layer(self, layer: Any) -> Any:
        return self._usage(layer.__proxy__.name)

    def get_estimated_cost_for_mlprogram_operation(self, operation: Any) -> Any:
        from coremltools.models import compute_plan as public
        weight = self._weights.get(operation.__proxy__.name)
        return None if weight is None else public.MLComputePlanCost(weight)
