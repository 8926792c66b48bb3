"""Loading of models, predictions and states."""
import asyncio
import collections.abc
import concurrent.futures
import ctypes
import functools
import os
import threading
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _library
from ._library import Path, encoded, library
from .arrays import array_call, no_call
from .description import Description, Feature, description
from .errors import FeatureError
from .plan import Plan
from .values import DTYPES, Features, NDArray, described

if TYPE_CHECKING:
    from ._calls import Predict

#: Units by their names on the command line, or devices.
Units = Union[str, Sequence[str]]


def options_handle(owner: object, **options: Any) -> int:
    """Creates an options handle, released with its owner. Option names are those of the command line, with underscores
    for dashes.

    Raises ParameterError for an unknown option or an invalid value.
    """
    handle = library.new["options"]()
    library.releasing(owner, "options", handle)
    for name, value in options.items():
        if value is None:
            continue
        key = encoded(name.rstrip("_").replace("_", "-"))
        for text in _texts(name, value):
            library.options_set(handle, key, text)
    return int(handle)


def _texts(name: str, value: Any) -> List[bytes]:
    what = f"option '{name}'"
    if name in ("pin", "pins"):
        return [encoded(f"{node}={device}", what) for node, device in dict(value).items()]
    if name in ("shape", "shapes"):
        return [encoded(f"{key}={'x'.join(map(str, sizes))}", what) for key, sizes in dict(value).items()]
    if name == "units" and not isinstance(value, str):
        return [encoded(",".join(value), what)]
    if isinstance(value, (list, tuple)):
        return [encoded(item, what) for item in value]
    if isinstance(value, bool):
        return [b"true" if value else b"false"]
    return [encoded(value if isinstance(value, (str, bytes, os.PathLike)) else str(value), what)]


def spelled(options: Dict[str, Any]) -> Dict[str, Any]:
    """Converts options to the names that the library uses."""
    plural = {"pins": "pin", "shapes": "shape"}
    return {plural.get(name, name): value for name, value in options.items()}


class Cancellation:
    """Cancels running calls from another thread: `cancel()`."""

    def __init__(self) -> None:
        self.handle = library.new["cancellation"]()
        library.releasing(self, "cancellation", self.handle)

    def cancel(self) -> None:
        library.cancellation_cancel(self.handle)


class State:
    """The state of a stateful model between predictions. A new state contains zeros (`Model.make_state`).

    A state serves one prediction at a time. Concurrent sequences need a state each.
    """

    def __init__(self, model: "Model") -> None:
        handle = c_void_p()
        library.state_new(model._handle, byref(handle))
        self._model, self.handle = model, handle.value or 0
        library.releasing(self, "state", self.handle)

    def read(self, name: str) -> NDArray:
        """Returns a copy of one of the model's states, an array of its shape and type."""
        array = np.empty(*self._kind(name))
        view, _held = described(array)
        library.state_read(self.handle, encoded(name), view)
        return array

    def write(self, name: str, value: Any) -> None:
        """Replaces one of the model's states. The value must have its shape and is converted to its type."""
        shape, dtype = self._kind(name)
        array = np.ascontiguousarray(value, dtype=dtype)
        if array.shape != shape:
            raise FeatureError(f"state '{name}': expected shape {shape}, got {array.shape}")
        view, _held = described(array)
        library.state_write(self.handle, encoded(name), view)

    def _kind(self, name: str) -> Tuple[Tuple[int, ...], "np.dtype[Any]"]:
        states = self._model.description.states
        if name not in states:
            raise FeatureError(f"the model has no state '{name}'; it has {', '.join(states) or 'none'}")
        return states[name].shape or (), DTYPES[str(states[name].dtype)]


class Model:
    """A Core ML or ONNX model, placed on devices and ready to predict. Any number of threads may use it at once.

    ```python
    model = kelvin.Model("MobileNetV2.mlpackage")
    model.predict({"image": "owl.jpg"})["classLabel"]
    ```

    Args:
        path: an `.mlpackage`, `.mlmodelc`, `.mlmodel` or `.onnx`; or the bytes of one of the latter two, or of an ML
            Program's specification, with the files that it refers to in `files`.
        units: `all`, `cpu-only`, `cpu-and-gpu`, `cpu-and-neural-engine`, or devices: `"cpu,vulkan:0"` or a list.
        precision: the minimum precision of the computation: `automatic`, `full` or `low`.
        plan: a saved plan to use instead of a new one.
        files: the files of a model in memory, as bytes by path.
        options: any other option of the command line, with underscores for dashes: `threads=2`, `strict=True`,
            `shapes={"image": (1, 3, 224, 224)}`, `pins={"conv_1": "cpu"}`, `max_memory=2**30`, `cache_dir=…`.

    An ONNX model with open input sizes, other than the batch size, is compiled for the sizes of the first prediction,
    unless `shapes` gives them. `plan` is available from then on.

    Raises:
        FileError: the file cannot be read, or is not a model.
        UnsupportedError: the model needs features that Kelvin does not support, all of which are listed.
        ParameterError: the options do not fit the model or the machine.
    """

    def __init__(
            self, path: Union[Path, bytes, bytearray, memoryview], units: Units = "all", precision: str = "automatic",
            plan: Optional[Path] = None, files: Optional[Mapping[str, bytes]] = None, **options: Any) -> None:
        chosen = options_handle(self, **spelled(dict(units=units, precision=precision, plan=plan, **options)))
        handle = c_void_p()
        if isinstance(path, (bytes, bytearray, memoryview)):
            _load_bytes(bytes(path), files or {}, chosen, handle)
            self.path: Optional[str] = None
        else:
            if not isinstance(path, (str, os.PathLike)):
                raise TypeError(f"expected a path or bytes, got {type(path).__name__}")
            library.model_load(encoded(path, "a path"), chosen, None, byref(handle))
            self.path = os.fspath(path)
        self._handle = handle.value or 0
        self._call: "Optional[Predict]" = None
        self._close = library.releasing(self, "model", self._handle)

    def close(self) -> None:
        """Releases the model's memory now. Later calls raise HandleError. Running predictions complete."""
        self._close()
        self._call = None

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"kelvin.Model({self.path!r})"

    @functools.cached_property
    def description(self) -> Description:
        """The description of the model's inputs, outputs and states."""
        return description(library.document(library.model_description, self._handle))

    @property
    def inputs(self) -> Dict[str, Feature]:
        """The model's inputs, by name."""
        return self.description.inputs

    @property
    def outputs(self) -> Dict[str, Feature]:
        """The model's outputs, by name."""
        return self.description.outputs

    @property
    def remarks(self) -> List[str]:
        """Messages for the user: a stale profile, layers that run outside the requested units, failed devices."""
        return list(library.document(library.model_remarks, self._handle))

    def check_devices(self) -> List[range]:
        """Checks the devices that have predicted since their latest check.

        Returns the numbers of the predictions whose results may be wrong, counted from 1 in the order in which they
        ended. A device that computes wrongly is not used again; `remarks` says why.
        """
        ranges = library.document(library.model_check_devices, self._handle)
        return [range(first, last + 1) for first, last in ranges]

    def plan(self) -> Plan:
        """Returns the device of each layer, its cost on each device, and the reason."""
        return Plan(
            library.document(library.model_plan, self._handle), library.text(library.model_plan_html, self._handle))

    def make_state(self) -> State:
        """Makes a zeroed state for this model."""
        return State(self)

    @overload
    def predict(
        self, inputs: Mapping[str, Any], state: Optional[State] = ..., outputs: Optional[Mapping[str, NDArray]] = ...,
        fit: str = ..., cancellation: Optional[Cancellation] = ...) -> Dict[str, Any]: ...

    @overload
    def predict(
        self, inputs: Sequence[Mapping[str, Any]], state: None = ..., outputs: None = ..., fit: str = ...,
        cancellation: Optional[Cancellation] = ...) -> List[Dict[str, Any]]: ...

    def predict(
            self, inputs: Union[Mapping[str, Any], Sequence[Mapping[str, Any]]], state: Optional[State] = None,
            outputs: Optional[Mapping[str, NDArray]] = None, fit: str = "scale-fill",
            cancellation: Optional[Cancellation] = None) -> Union[Dict[str, Any], List[Dict[str, Any]]]:
        """Makes one prediction, or one for each item of a list.

        Arrays with elements in ascending memory order are read and written without a copy. A result has its own memory,
        which is kept as long as an array refers to it. Other Python threads run meanwhile.

        Args:
            inputs: values by name. For an array: any object that NumPy or DLPack accepts. For an image: a `PIL.Image`,
                a path, an image file's bytes, pixels (uint8, height by width, or height by width by 1, 3 or 4 channels:
                gray, RGB, RGBA), a `kelvin.Image` of any format, or an array of numbers in the model's own layout. For
                a list, each item is predicted, several at a time.
            state: a state of `make_state`; None to use a temporary zeroed state.
            outputs: destinations of outputs, by name: writable arrays of the output's shape and type. For an image a
                `kelvin.Image` with 8 bits per channel.
            fit: how images are fitted to the model's input size: `exact`, `center-crop`, `scale-fit` or `scale-fill`.
            cancellation: a cancellation that can end the prediction from another thread.

        Returns:
            Values by name: arrays, numbers, strings, images, or dictionaries of numbers by label, the largest first.

        Raises:
            FeatureError: an input, which the message names, is missing, unknown or does not fit.
            DeviceError: a device failed, and no other device of the units can replace it.
        """
        # Few instructions run up to here, because after a large model they have to be loaded from memory again.
        handle = None if cancellation is None else cancellation.handle
        if state is None:
            call = self._call
            try:
                found = (self._chosen_call() if call is None else call)(inputs, outputs, handle)
                if found is not None:
                    return found
            except FeatureError:
                # The outputs have other than the default sizes. Features accept any sizes and report all other errors.
                self._call = no_call
        if isinstance(inputs, collections.abc.Sequence):
            if state is not None or outputs is not None:
                raise FeatureError("a batch has neither a state nor outputs of the caller's; predict its items one by one")
            return self._predict_batch([self._features(item, fit) for item in inputs], handle)
        return self._predict(inputs, outputs or {}, state, fit, handle)

    def _chosen_call(self) -> "Predict":
        """Returns a function that predicts from arrays in one call; `no_call` if the model does not allow it."""
        self._call = call = array_call(self._handle, self.description) or no_call
        return call

    def _predict(
            self, inputs: Mapping[str, Any], outputs: Mapping[str, Any], state: Optional[State], fit: str,
            cancellation: Optional[int]) -> Dict[str, Any]:
        """Makes a prediction with values of any type."""
        given, results = self._features(inputs, fit), Features()
        for name, array in outputs.items():
            if name not in self.outputs:
                raise FeatureError(f"the model has no output '{name}'; it has {', '.join(self.outputs)}")
            results.set_output(name, array)
        library.predict(self._handle, given.handle, results.handle, None if state is None else state.handle, cancellation)
        return {name: results.get(name, feature) for name, feature in self.outputs.items()}

    def _predict_batch(
            self, given: Sequence[Features], cancellation: Optional[int] = None,
            names: Optional[Sequence[str]] = None) -> List[Dict[str, Any]]:
        """Returns the outputs of each item, or only the outputs in `names`."""
        results = [Features() for _ in given]
        count = len(given)
        array = c_void_p * max(count, 1)
        library.predict_batch(
            self._handle, array(*(item.handle for item in given)), array(*(item.handle for item in results)), count,
            cancellation)
        return [{name: result.get(name) for name in names or self.outputs} for result in results]

    async def predict_async(
            self, inputs: Any, state: Optional[State] = None, outputs: Optional[Mapping[str, NDArray]] = None,
            fit: str = "scale-fill") -> Any:
        """Does the same as `predict` without blocking the event loop. Cancelling the task ends the prediction."""
        cancellation = Cancellation()
        call = functools.partial(
            self.predict, inputs, state=state, outputs=outputs, fit=fit, cancellation=cancellation)
        try:
            return await asyncio.get_running_loop().run_in_executor(threads(), call)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    def _features(self, inputs: Any, fit: str) -> Features:
        if not hasattr(inputs, "items"):
            raise TypeError(f"expected a dictionary of inputs, got {type(inputs).__name__}")
        known, given = self.inputs, Features()
        for name, value in inputs.items():
            if value is None:
                continue
            feature = known.get(name) or self.description.overridable.get(name)
            if feature is None:
                raise FeatureError(f"the model has no input '{name}'; it takes {', '.join(known) or 'none'}")
            given.set(name, value, feature, fit)
        return given


def _load_bytes(model: bytes, files: Mapping[str, bytes], options: int, handle: c_void_p) -> None:
    rows = (_library.File * max(len(files), 1))()
    held = []
    for row, (path, contents) in zip(rows, files.items()):
        contents = bytes(contents)
        held.append(contents)
        row.path, row.bytes, row.count = (
            encoded(path, "a path"), ctypes.cast(ctypes.c_char_p(contents), c_void_p).value, len(contents))
    library.model_load_bytes(
        ctypes.cast(ctypes.c_char_p(model), c_void_p), len(model), rows, len(files), options, None, byref(handle))


_lock = threading.Lock()
_executor: Optional[concurrent.futures.ThreadPoolExecutor] = None


def threads() -> concurrent.futures.ThreadPoolExecutor:
    """Returns the thread pool in which asynchronous predictions block."""
    global _executor
    with _lock:
        if _executor is None:
            _executor = concurrent.futures.ThreadPoolExecutor(max(4, os.cpu_count() or 1), "kelvin")
        return _executor
