"""Sessions, session options and bindings, with ONNX Runtime's names."""
import dataclasses
import enum
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .. import measuring
from .._library import Path
from ..description import Feature
from ..errors import FeatureError, ParameterError
from ..model import Cancellation, Model, threads
from ..values import DTYPES, NDArray

_TYPES = {
    "float32": "tensor(float)", "float64": "tensor(double)", "float16": "tensor(float16)", "bool": "tensor(bool)",
    "string": "tensor(string)",
}
#: The numbers of ONNX's `TensorProto.DataType`.
_NUMBERS = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12, "uint64": 13,
}
#: Kelvin's units for provider names of ONNX Runtime.
_UNITS: Dict[str, Optional[str]] = {"CPUExecutionProvider": "cpu", "KelvinExecutionProvider": None}
#: A provider's name, or its name with options.
Provider = Union[str, Tuple[str, Dict[str, Any]]]


def get_available_providers() -> List[str]:
    """Returns a provider for each of Kelvin's devices, by its identifier, and the two providers for all devices and for
    the CPU."""
    ids = [device.id for device in measuring.devices() if device.is_available and device.kind != "reference"]
    return ["KelvinExecutionProvider", "CPUExecutionProvider"] + ids


def get_device() -> str:
    """Returns the kind of device that the default provider uses."""
    return "CPU"


def get_all_providers() -> List[str]:
    """Does the same as `get_available_providers`."""
    return get_available_providers()


def set_default_logger_severity(severity: int) -> None:
    """Has no effect, because nothing is logged. See `kelvin.Model.remarks`."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Has no effect, because nothing is logged. See `kelvin.Model.remarks`."""


class GraphOptimizationLevel(enum.IntEnum):
    """Optimization levels of ONNX Runtime, which have no effect. Kelvin always runs its passes, which preserve a
    model's results."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Execution modes of ONNX Runtime, which have no effect. Kelvin's plan determines concurrency."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """Session options. Only `intra_op_num_threads`, `use_deterministic_compute` and `kelvin` have an effect."""

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.use_deterministic_compute = False
        #: The options of `kelvin.Model`, by name.
        self.kelvin: Dict[str, Any] = {}
        self.inter_op_num_threads = 0
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_profiling = False
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ""
        self.optimized_model_filepath = ""
        self.profile_file_prefix = "onnxruntime_profile_"
        self._entries: Dict[str, str] = {}
        self._sizes: Dict[str, int] = {}

    def add_session_config_entry(self, key: str, value: str) -> None:
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        return self._entries[key]

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        self._sizes[name] = size


class RunOptions:
    """Run options. Setting `terminate = True` from another thread ends the runs that use them."""

    def __init__(self) -> None:
        self._cancellation = Cancellation()
        self._terminates = False
        self._entries: Dict[str, str] = {}
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Has no effect."""
        self._entries[key] = value

    def get_run_config_entry(self, key: str) -> str:
        return self._entries[key]

    @property
    def terminate(self) -> bool:
        return self._terminates

    @terminate.setter
    def terminate(self, value: bool) -> None:
        self._terminates = bool(value)
        if value:
            self._cancellation.cancel()
        else:
            self._cancellation = Cancellation()


@dataclasses.dataclass(frozen=True)
class NodeArg:
    """An input or output: its name, its type such as `tensor(float)`, and its shape, with None for an open size."""

    name: str
    type: str
    shape: List[Optional[int]]


@dataclasses.dataclass(frozen=True)
class ModelMetadata:
    """The model's metadata."""

    producer_name: str
    graph_name: str
    description: str
    domain: str
    version: str
    custom_metadata_map: Dict[str, str]


class OrtValue:
    """An array, with ONNX Runtime's class name."""

    def __init__(self, array: NDArray) -> None:
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array: Any, device_type: str = "cpu", device_id: int = 0) -> "OrtValue":
        if device_type != "cpu":
            raise ParameterError(f"values lie in the host's memory, expected device 'cpu', got '{device_type}'")
        return OrtValue(np.asarray(array))

    @staticmethod
    def ortvalue_from_shape_and_type(
            shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0) -> "OrtValue":
        return OrtValue.ortvalue_from_numpy(np.zeros(shape, element_type), device_type, device_id)

    def numpy(self) -> NDArray:
        return self._array

    def shape(self) -> List[int]:
        return list(self._array.shape)

    def data_type(self) -> str:
        return _type(self._array.dtype.name)

    def element_type(self) -> int:
        """Returns the element type's number in ONNX."""
        return _NUMBERS.get(self._array.dtype.name, 0)

    def has_value(self) -> bool:
        return True

    def is_tensor(self) -> bool:
        return True

    def is_sparse_tensor(self) -> bool:
        return False

    def is_tensor_sequence(self) -> bool:
        return False

    def update_inplace(self, array: NDArray) -> None:
        """Replaces the elements in place. Raises FeatureError for an array of another shape or type."""
        if array.shape != self._array.shape or array.dtype != self._array.dtype:
            raise FeatureError(
                f"expected an array of {self._array.dtype} of shape {self._array.shape}, got {array.dtype} of {array.shape}")
        self._array[...] = array

    def device_name(self) -> str:
        return "cpu"

    def data_ptr(self) -> int:
        return self._array.ctypes.data

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        kind, index = self._array.__dlpack_device__()
        return int(kind), int(index)


class IOBinding:
    """Inputs and outputs that stay bound between runs. Bound outputs are written in place."""

    def __init__(self, session: "InferenceSession") -> None:
        self._session = session
        self._inputs: Dict[str, Any] = {}
        self._outputs: Dict[str, Optional[NDArray]] = {}
        self._results: Dict[str, Any] = {}

    def bind_cpu_input(self, name: str, array: NDArray) -> None:
        self._inputs[name] = array

    def bind_ortvalue_input(self, name: str, value: OrtValue) -> None:
        self._inputs[name] = value.numpy()

    def bind_input(
            self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int],
            buffer_ptr: int) -> None:
        self._inputs[name] = _at(device_type, element_type, shape, buffer_ptr)

    def bind_output(
            self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None,
            shape: Sequence[int] = (), buffer_ptr: Optional[int] = None) -> None:
        self._outputs[name] = None if buffer_ptr is None else _at(device_type, element_type, shape, buffer_ptr)

    def bind_ortvalue_output(self, name: str, value: OrtValue) -> None:
        self._outputs[name] = value.numpy()

    def clear_binding_inputs(self) -> None:
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        self._outputs.clear()

    def synchronize_inputs(self) -> None:
        """Has no effect, because calls are synchronous."""

    def synchronize_outputs(self) -> None:
        """Has no effect, because calls are synchronous."""

    def get_outputs(self) -> List[OrtValue]:
        return [OrtValue(self._results[name]) for name in self._outputs]

    def copy_outputs_to_cpu(self) -> List[Any]:
        return [self._results[name] for name in self._outputs]


def _at(device_type: str, element_type: Any, shape: Sequence[int], pointer: int) -> NDArray:
    import ctypes
    if device_type != "cpu":
        raise ParameterError(f"values lie in the host's memory, expected device 'cpu', got '{device_type}'")
    dtype: "np.dtype[Any]" = np.dtype(element_type)
    count = int(np.prod(shape)) * dtype.itemsize
    memory = memoryview((ctypes.c_char * count).from_address(pointer))
    return np.frombuffer(memory, dtype).reshape(shape)


class InferenceSession:
    """A loaded model.

    Args:
        path_or_bytes: an ONNX model (or a Core ML model).
        sess_options: threads, determinism, and any option of `kelvin.Model` in `SessionOptions.kelvin`.
        providers: Kelvin's devices in order of preference (`cpu`, `vulkan:0`), `CPUExecutionProvider`, or
            `KelvinExecutionProvider` for all. Unknown providers are ignored if there is another.

    Raises:
        ParameterError: none of the providers is Kelvin's, or the number of provider options differs from theirs.
    """

    def __init__(
            self, path_or_bytes: Union[Path, bytes], sess_options: Optional[SessionOptions] = None,
            providers: Optional[Sequence[Provider]] = None,
            provider_options: Optional[Sequence[Dict[str, Any]]] = None, **_: Any) -> None:
        self._options = sess_options or SessionOptions()
        self._source = path_or_bytes
        self._load(providers, provider_options)

    def _load(self, providers: Optional[Sequence[Provider]], provider_options: Optional[Sequence[Dict[str, Any]]]) -> None:
        self._providers = _chosen(providers)
        units = [unit for unit in (_UNITS.get(name, name) for name in self._providers) if unit is not None]
        options = dict(self._options.kelvin)
        self._provider_options: Dict[str, Dict[str, Any]] = {name: {} for name in self._providers}
        given = [provider if isinstance(provider, tuple) else (provider, {}) for provider in providers or []]
        if provider_options and len(provider_options) != len(given):
            raise ParameterError(f"expected options for each of {len(given)} providers, got {len(provider_options)}")
        given += list(zip((name for name, _ in given), provider_options or []))
        for name, more in given:
            # Options of other providers are ignored.
            if name in self._provider_options:
                self._provider_options[name].update(more)
                options.update(more)
        if self._options.intra_op_num_threads:
            options.setdefault("threads", self._options.intra_op_num_threads)
        if self._options.use_deterministic_compute:
            options.setdefault("deterministic", True)
        if len(units) == len(self._providers):
            options.setdefault("units", units)
        self._model = Model(self._source, **options)

    def set_providers(
            self, providers: Optional[Sequence[Provider]] = None,
            provider_options: Optional[Sequence[Dict[str, Any]]] = None) -> None:
        """Reloads the model for other providers."""
        self._load(providers, provider_options)

    @property
    def kelvin_model(self) -> Model:
        """The underlying model, for its plan."""
        return self._model

    def run(
            self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any],
            run_options: Optional[RunOptions] = None) -> List[Any]:
        """Makes one prediction and returns the named outputs, or all outputs in the model's order."""
        result = self._predict(input_feed, None, run_options)
        names = list(output_names) if output_names else list(self._model.outputs)
        for name in names:
            if name not in result:
                raise FeatureError(f"the model has no output '{name}'; it has {', '.join(self._model.outputs)}")
        return [result[name] for name in names]

    def run_with_ort_values(
            self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, OrtValue],
            run_options: Optional[RunOptions] = None) -> List[OrtValue]:
        values = {name: value.numpy() for name, value in input_feed.items()}
        return [OrtValue(value) for value in self.run(output_names, values, run_options)]

    def run_with_iobinding(self, binding: IOBinding, run_options: Optional[RunOptions] = None) -> None:
        outputs = {name: array for name, array in binding._outputs.items() if array is not None}
        binding._results = self._predict(binding._inputs, outputs, run_options)

    def _predict(
            self, inputs: Mapping[str, Any], outputs: Optional[Mapping[str, NDArray]],
            run_options: Optional[RunOptions]) -> Dict[str, Any]:
        cancellation = None if run_options is None else run_options._cancellation
        known = {**self._model.description.overridable, **self._model.inputs}
        values = {name: _fed(name, value, known.get(name)) for name, value in inputs.items()}
        result = self._model.predict(values, outputs=outputs, cancellation=cancellation)
        for name, feature in self._model.outputs.items():
            if feature.dtype == "string" and name in result:
                result[name] = np.array(result[name], object)
        return result

    def run_async(
            self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any],
            callback: Callable[[List[Any], Any, str], None], user_data: Any = None,
            run_options: Optional[RunOptions] = None) -> None:
        """Makes one prediction on another thread, which calls `callback` with the outputs, `user_data` and an error
        message."""
        def work() -> None:
            try:
                results, words = self.run(output_names, input_feed, run_options), ""
            except Exception as error:
                results, words = [], str(error) or type(error).__name__
            callback(results, user_data, words)
        threads().submit(work)

    def io_binding(self) -> IOBinding:
        return IOBinding(self)

    def get_inputs(self) -> List[NodeArg]:
        return [_argument(feature) for feature in self._model.inputs.values()]

    def get_outputs(self) -> List[NodeArg]:
        return [_argument(feature) for feature in self._model.outputs.values()]

    def get_overridable_initializers(self) -> List[NodeArg]:
        """Returns the constants that `run` can override. The first run that does so reloads the model with them as
        inputs."""
        return [_argument(feature) for feature in self._model.description.overridable.values()]

    def get_providers(self) -> List[str]:
        return list(self._providers)

    def get_provider_options(self) -> Dict[str, Dict[str, Any]]:
        return {name: dict(options) for name, options in self._provider_options.items()}

    def enable_fallback(self) -> None:
        """Has no effect: if a device fails, the session's other devices always take over."""

    def disable_fallback(self) -> None:
        """Has no effect: if a device fails, the session's other devices always take over."""

    def end_profiling(self) -> str:
        """Returns an empty name, because no file was written. `kelvin_model.plan()` and `kelvin.profile` have the
        layers' costs."""
        return ""

    def get_session_options(self) -> SessionOptions:
        return self._options

    def get_modelmeta(self) -> ModelMetadata:
        description = self._model.description
        return ModelMetadata(
            description.user_metadata.get("producer", ""), "main", description.metadata.get("description", ""), "",
            description.metadata.get("versionString", ""), description.user_metadata)


def _fed(name: str, value: Any, feature: Optional[Feature]) -> Any:
    """Converts an input as ONNX Runtime does: arrays of strings, and lists of numbers."""
    if isinstance(value, OrtValue):
        return value.numpy()
    if isinstance(value, np.ndarray) and value.dtype.kind in "OUS":
        if any(item is None for item in value.reshape(-1)):
            raise FeatureError(f"feature '{name}': expected texts, got None among them; give '' or leave the input out")
        texts = [item.decode() if isinstance(item, bytes) else str(item) for item in value.reshape(-1)]
        return np.array(texts, object).reshape(value.shape) if feature is not None and feature.dtype == "string" else texts
    if isinstance(value, (list, tuple)) and feature is not None and feature.type in ("multiArray", "image"):
        return np.asarray(value, np.float32 if feature.type == "image" else DTYPES.get(feature.dtype or "float32"))
    return value


def _type(dtype: str) -> str:
    return _TYPES.get(dtype, f"tensor({dtype})")


def _chosen(providers: Optional[Sequence[Provider]]) -> List[str]:
    if not providers:
        return ["CPUExecutionProvider"]
    names = [name[0] if isinstance(name, tuple) else name for name in providers]
    devices = {device.id for device in measuring.devices() if device.is_available}
    known = [name for name in names if name in _UNITS or name in devices]
    if not known:
        raise ParameterError(
            f"none of the providers {', '.join(names)} is Kelvin's; use {', '.join(get_available_providers())}")
    return known


def _argument(feature: Feature) -> NodeArg:
    if feature.type == "multiArray" or feature.dtype == "string":
        ranges = feature.size_ranges or [(size, size) for size in feature.shape or ()]
        return NodeArg(
            feature.name, _type(feature.dtype or "float32"),
            [low if low == high else None for low, high in ranges])
    if feature.type == "image":
        channels = 1 if feature.channel_order == "grayscale" else 3
        return NodeArg(feature.name, "tensor(float)", [1, channels, *(feature.shape or (None, None))])
    kinds = {"string": "tensor(string)", "int64": "tensor(int64)", "double": "tensor(double)"}
    return NodeArg(feature.name, kinds.get(feature.type, f"seq({feature.type})"), [1])
