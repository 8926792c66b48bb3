"""Conversion between Python values and the library's features, without copying arrays."""
import ctypes
import functools
import json
import os
import struct
from ctypes import byref
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, cast

import numpy as np
import numpy.typing as npt

from ._library import Array, Frame, ImageBuffer, Path, Text, decoded, encoded, library, utf8
from .description import Feature
from .errors import FeatureError, FileError
from .images import FORMATS, opened
from .images import Image as ImageValue

NDArray = npt.NDArray[Any]

_TYPES = {
    "f8": 1, "f4": 2, "f2": 3, "i8": 4, "i4": 5, "i2": 6, "i1": 7, "u8": 8, "u4": 9, "u2": 10, "u1": 11, "b1": 12,
}
CODES: "Dict[np.dtype[Any], int]" = {np.dtype(name): code for name, code in _TYPES.items()}
#: The library's types for the element types of ml_dtypes, by name. NumPy knows these only once ml_dtypes is imported.
_HOLDERS = {
    "bfloat16": "f4", "float8_e4m3fn": "f4", "float8_e4m3fnuz": "f4", "float8_e5m2": "f4", "float8_e5m2fnuz": "f4",
    "float8_e8m0fnu": "f4", "float6_e2m3fn": "f4", "float6_e3m2fn": "f4", "float4_e2m1fn": "f4",
    "int4": "i1", "int2": "i1", "uint4": "u1", "uint2": "u1",
}
_DTYPES = {code: dtype for dtype, code in CODES.items()}
#: NumPy types by the names that descriptions use.
DTYPES: "Dict[str, np.dtype[Any]]" = {
    "float64": np.dtype("f8"), "float32": np.dtype("f4"), "float16": np.dtype("f2"), "int64": np.dtype("i8"),
    "int32": np.dtype("i4"), "int16": np.dtype("i2"), "int8": np.dtype("i1"), "uint64": np.dtype("u8"),
    "uint32": np.dtype("u4"), "uint16": np.dtype("u2"), "uint8": np.dtype("u1"), "bool": np.dtype("?"),
}
_Byte = ctypes.c_char
#: The fits by name, numbered as in kelvin.h.
FITS = {"exact": 0, "center-crop": 1, "scale-fit": 2, "scale-fill": 3}
_IMAGES = {"RGB": (1, 3), "RGBA": (2, 4), "L": (4, 1)}
_FORMATS: "Dict[int, Tuple[int, np.dtype[Any], int]]" = {row[0]: row for row in FORMATS.values()}
_KIND_ARRAY, _KIND_IMAGE, _KIND_INT64, _KIND_DOUBLE = 1, 2, 3, 4
_KIND_STRING, _KIND_DICTIONARY, _KIND_SEQUENCE = 5, 6, 7


def borrowable(name: str, array: NDArray, writable: bool = False) -> NDArray:
    """Returns the array itself if the library can read its memory, else a copy.

    Raises FeatureError for an unsupported element type, and for read-only memory if `writable` is true.
    """
    if array.flags.carray and array.dtype in CODES:
        return array
    if array.dtype not in CODES:
        holder = _HOLDERS.get(array.dtype.name)
        native = np.dtype(holder) if holder else array.dtype.newbyteorder("=")
        if native not in CODES:
            raise FeatureError(
                f"feature '{name}': expected numbers or booleans, got an array of {array.dtype}; convert it with astype")
        if writable:
            raise FeatureError(f"output '{name}': expected {native}, got an array of {array.dtype}")
        return _dense(name, array, native)
    if writable and not array.flags.writeable:
        raise FeatureError(f"output '{name}': expected memory that can be written to, got a read-only array")
    if writable and any(stride == 0 and count > 1 for stride, count in zip(array.strides, array.shape)):
        raise FeatureError(f"output '{name}': expected a separate address for each element, got strides {array.strides}")
    size = array.itemsize
    fits = array.ctypes.data % size == 0 and all(stride >= 0 and stride % size == 0 for stride in array.strides)
    if fits or array.size == 0:
        return array
    if writable:
        raise FeatureError(f"output '{name}': expected aligned elements in rising order, got strides {array.strides}")
    return _dense(name, array, array.dtype)


def _dense(name: str, array: NDArray, dtype: Any) -> NDArray:
    """Returns a dense row-major copy."""
    try:
        return array.astype(dtype, order="C")
    except (ValueError, MemoryError) as error:
        raise FeatureError(f"feature '{name}': an array of shape {array.shape} cannot be copied: {error}") from None


packed = struct.Struct("=QiiQQ").pack


@functools.lru_cache(maxsize=1024)
def sizes(values: Tuple[int, ...]) -> Tuple[int, Any]:
    """Stores sizes or strides in memory and returns its address and its owner."""
    held = (ctypes.c_int64 * len(values))(*values)
    return ctypes.addressof(held), held


def start(array: NDArray) -> int:
    """Returns the address of a writable, dense, non-empty array through the buffer protocol, which is faster than
    `array.ctypes`."""
    return ctypes.addressof(_Byte.from_buffer(cast(bytearray, array)))


def described(array: NDArray) -> Tuple[bytes, Any]:
    """Returns an array in the layout of kelvin.h, and an object that must be kept besides the array while it is used.

    Few instructions run here, because after a large model they have to be loaded into the processor's caches again.
    """
    flags = array.flags
    shape, held = sizes(array.shape)
    if flags.carray and array.size:
        return packed(start(array), CODES[array.dtype], array.ndim, shape, 0), held
    address, strides, more = array.ctypes.data, 0, None
    if not flags.c_contiguous:
        strides, more = sizes(tuple(stride // array.itemsize for stride in array.strides))
    return packed(address, CODES[array.dtype], array.ndim, shape, strides), (held, more)


class Features:
    """Named values in the library, with the Python objects whose memory they use."""

    __slots__ = ("handle", "borrowed")

    def __init__(self, new: Callable[[], int] = library.new["features"]) -> None:
        self.handle: Any = None
        self.borrowed: Dict[str, Any] = {}
        self.handle = new()

    # weakref.finalize would take as long as the rest of a small prediction.
    def __del__(self, release: Callable[[Any], None] = library.release["features"]) -> None:
        release(self.handle)

    def set(self, name: str, value: Any, feature: Optional[Feature] = None, fit: str = "scale-fill") -> None:
        """Sets a feature's value, converted as `feature`, its description, requires."""
        key = encoded(name)
        wants = feature.type if feature is not None else None
        if isinstance(value, ImageValue):
            value.given(self.handle, key, _fit(fit))
            self.borrowed[name] = value
            return
        if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
            value = _from_dlpack(name, value)
        if isinstance(value, np.ndarray):
            if value.dtype.kind in "OUS" and wants == "sequence":
                return self._set_texts(name, key, value.reshape(-1), value.shape)
            if wants == "image" and _are_pixels(value):
                return self._set_pixels(name, key, value, fit)
            return self._set_array(name, key, value)
        if wants == "image":
            takes_numbers = feature is not None and feature.dtype == "float16"
            return self._set_image(name, key, value, fit, takes_numbers)
        if feature is not None and wants == "multiArray":
            return self._set_array(name, key, _array(name, value, feature))
        if isinstance(value, (bool, np.bool_)):
            return library.features_set_int64(self.handle, key, _integer(name, value))
        if wants == "double" and isinstance(value, (int, float, np.integer, np.floating)):
            return library.features_set_double(self.handle, key, _number(name, value))
        if isinstance(value, (int, np.integer)):
            return library.features_set_int64(self.handle, key, _integer(name, value))
        if isinstance(value, (float, np.floating)):
            return library.features_set_double(self.handle, key, _number(name, value))
        if isinstance(value, (str, bytes)) and wants != "sequence":
            texts, _held = _sized([value], f"feature '{name}'")
            return library.features_set_text(self.handle, key, texts)
        if isinstance(value, dict):
            return self._set_dictionary(name, key, value)
        if feature is not None and feature.elements == "multiArray" and isinstance(value, (list, tuple)):
            return self._set_arrays(name, key, value)
        if isinstance(value, (str, list, tuple)):
            return self._set_sequence(name, key, [value] if isinstance(value, str) else list(value))
        raise FeatureError(
            f"feature '{name}': expected {_wanted(feature)}, got {type(value).__name__}")

    def set_output(self, name: str, array: Any) -> None:
        """Sets an output's destination: an array of NumPy or DLPack, or an image with 8 bits per channel."""
        if isinstance(array, ImageValue):
            array.set_output(name, self.handle, encoded(name))
            self.borrowed[name] = array
            return
        if not isinstance(array, np.ndarray):
            if not hasattr(array, "__dlpack__"):
                raise FeatureError(
                    f"output '{name}': expected an array to write to (NumPy's, or DLPack's), got {type(array).__name__}")
            array = _from_dlpack(name, array)
        self._set_array(name, encoded(name), borrowable(name, array, writable=True))

    def _set_array(self, name: str, key: bytes, array: NDArray) -> None:
        array = borrowable(name, array)
        view, _held = described(array)
        library.features_set_array(self.handle, key, view)
        self.borrowed[name] = array

    def _set_arrays(self, name: str, key: bytes, values: Sequence[Any]) -> None:
        arrays = [borrowable(name, np.asarray(value)) for value in values]
        views = [described(array) for array in arrays]
        library.features_set_arrays(self.handle, key, b"".join(view for view, _held in views), len(views))
        self.borrowed[name] = arrays

    def _set_image(self, name: str, key: bytes, value: Any, fit: str, takes_numbers: bool) -> None:
        """Sets an image. `takes_numbers` is true for an input that uses the values unchanged instead of a range of 0 to
        255."""
        number = _fit(fit)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._set_image_bytes(name, key, value, fit)
        if isinstance(value, (str, os.PathLike)):
            try:
                return library.features_set_image_file(self.handle, key, encoded(value, "a path"), number)
            except OSError as error:
                value = opened(value, error)
        mode = getattr(value, "mode", None)
        if mode == "F" and takes_numbers:
            image = ImageValue("gray32_float", np.asarray(value, np.float32))
            image.given(self.handle, key, number)
            self.borrowed[name] = image
            return None
        if mode is None or not hasattr(value, "tobytes"):
            raise FeatureError(
                f"feature '{name}': expected an image (PIL.Image, a path, a file's bytes, or an array of numbers), got "
                f"{type(value).__name__}")
        if mode not in _IMAGES:
            value = value.convert("RGB")
        pixels = value.tobytes()
        code, channels = _IMAGES[value.mode]
        memory = ctypes.create_string_buffer(pixels, len(pixels))
        view = ImageBuffer(ctypes.addressof(memory), code, value.width, value.height, value.width * channels)
        library.features_set_image(self.handle, key, byref(view), 1, number)
        self.borrowed[name] = memory

    def _set_image_bytes(self, name: str, key: bytes, contents: Any, fit: str) -> None:
        try:
            image = ImageValue.read(contents)
        except FileError as error:
            raise FileError(f"feature '{name}': {error}") from None
        image.given(self.handle, key, _fit(fit))
        self.borrowed[name] = image

    def _set_pixels(self, name: str, key: bytes, array: NDArray, fit: str) -> None:
        height, width, channels = array.shape if array.ndim == 3 else (*array.shape, 1)
        if not array[0].flags.c_contiguous or array.strides[0] < width * channels:
            array = _dense(name, array, array.dtype)
        code = next(code for code, count in _IMAGES.values() if count == channels)
        view = ImageBuffer(array.ctypes.data, code, width, height, array.strides[0])
        library.features_set_image(self.handle, key, byref(view), 1, _fit(fit))
        self.borrowed[name] = array

    def _set_dictionary(self, name: str, key: bytes, value: Dict[Any, float]) -> None:
        count = len(value)
        numbers = (ctypes.c_double * count)(*(_number(name, number) for number in value.values()))
        if value and all(isinstance(item, (int, np.integer)) for item in value):
            return library.features_set_numbered(
                self.handle, key, (ctypes.c_int64 * count)(*(_integer(name, item) for item in value)), numbers, count)
        keys, _held = _sized(value, f"keys of feature '{name}'")
        library.features_set_text_dictionary(self.handle, key, keys, numbers, count)

    def _set_texts(self, name: str, key: bytes, values: Iterable[Any], shape: Tuple[int, ...]) -> None:
        texts, _held = _sized(values, f"elements of feature '{name}'")
        library.features_set_texts(self.handle, key, texts, (ctypes.c_int64 * len(shape))(*shape), len(shape))

    def _set_sequence(self, name: str, key: bytes, values: List[Any]) -> None:
        if values and isinstance(values[0], (list, tuple)):
            array = _rectangle(name, values)
            return self._set_texts(name, key, array.reshape(-1), array.shape)
        count = len(values)
        if values and all(isinstance(item, (int, np.integer)) for item in values):
            return library.features_set_int64s(
                self.handle, key, (ctypes.c_int64 * count)(*(_integer(name, item) for item in values)), count)
        self._set_texts(name, key, values, (count,))

    def names(self) -> List[str]:
        names, count = ctypes.POINTER(ctypes.c_char_p)(), ctypes.c_size_t()
        library.features_names(self.handle, byref(names), byref(count))
        return [names[index].decode() for index in range(count.value)]

    def get(self, name: str, feature: Optional[Feature] = None) -> Any:
        """Returns a feature's value. An array shares its memory with the library, which keeps it as long as the array
        exists.

        `feature` is the description of a predicted output.
        """
        if feature is not None and feature.type == "multiArray" and not feature.is_optional:
            return self._array(name, encoded(name))
        key, found = encoded(name), ctypes.c_int32()
        library.features_kind(self.handle, key, byref(found))
        kind = found.value
        if kind == _KIND_ARRAY:
            return self._array(name, key)
        if kind == _KIND_IMAGE:
            borrowed = self.borrowed.get(name)
            return borrowed if isinstance(borrowed, ImageValue) else self._image(key)
        if kind == _KIND_INT64:
            whole = ctypes.c_int64()
            library.features_get_int64(self.handle, key, byref(whole))
            return whole.value
        if kind == _KIND_DOUBLE:
            number = ctypes.c_double()
            library.features_get_double(self.handle, key, byref(number))
            return number.value
        if kind == _KIND_STRING:
            text = Text()
            library.features_get_text(self.handle, key, byref(text))
            return decoded(ctypes.pointer(text), 1)[0]
        if kind == _KIND_DICTIONARY:
            return self._dictionary(key)
        if kind == _KIND_SEQUENCE and feature is not None and feature.elements == "multiArray":
            return self._arrays(key)
        if not kind:
            return None
        if kind == _KIND_SEQUENCE and feature is not None and feature.dtype == "string":
            return self._texts(key)
        return json.loads(library.text(library.features_get_json, self.handle, key), object_hook=_dictionary)

    def _arrays(self, key: bytes) -> List[NDArray]:
        views, count = ctypes.POINTER(Array)(), ctypes.c_size_t()
        library.features_get_arrays(self.handle, key, byref(views), byref(count))
        return [_shared(views[index], self) for index in range(count.value)]

    def _texts(self, key: bytes) -> Any:
        """Returns strings as nested lists by axis, or as an array of objects if nested lists would lose an axis."""
        texts, sizes = ctypes.POINTER(Text)(), ctypes.POINTER(ctypes.c_int64)()
        count, rank = ctypes.c_size_t(), ctypes.c_size_t()
        library.features_get_texts(self.handle, key, byref(texts), byref(count), byref(sizes), byref(rank))
        array = np.empty(count.value, object)
        array[:] = decoded(texts, count.value)
        array = array.reshape(tuple(sizes[index] for index in range(rank.value)))
        return array if array.size == 0 and array.ndim > 1 else array.tolist()

    def _array(self, name: str, key: bytes) -> NDArray:
        borrowed: Optional[NDArray] = self.borrowed.get(name)
        if borrowed is not None:
            return borrowed
        view = Array()
        library.features_get_array(self.handle, key, byref(view))
        return _shared(view, self)

    def _image(self, key: bytes) -> Any:
        frame = Frame()
        library.features_get_frame(self.handle, key, byref(frame))
        plane, (_, dtype, channels) = frame.planes[0], _FORMATS[frame.format]
        rows = ctypes.string_at(plane.data, plane.bytes_per_row * frame.height)
        pixels: NDArray = np.frombuffer(rows, dtype).reshape(frame.height, -1)
        pixels = pixels[:, : frame.width * channels].reshape(frame.height, frame.width, channels)
        if frame.format == 3:
            pixels = pixels[:, :, [2, 1, 0, 3]]
        if dtype != np.uint8:
            pixels = pixels.astype(np.float32)[:, :, 0]
        try:
            from PIL import Image
        except ImportError:
            return pixels
        return Image.fromarray(pixels[:, :, 0] if pixels.ndim == 3 and channels == 1 else np.ascontiguousarray(pixels))

    def _dictionary(self, key: bytes) -> Dict[Any, float]:
        keys, values = ctypes.POINTER(Text)(), ctypes.POINTER(ctypes.c_double)()
        count, is_numbered = ctypes.c_size_t(), ctypes.c_bool()
        library.features_get_text_dictionary(
            self.handle, key, byref(keys), byref(values), byref(count), byref(is_numbered))
        label: Callable[[str], Any] = int if is_numbered.value else str
        return {label(text): value for text, value in zip(decoded(keys, count.value), values[: count.value])}


class _Memory:
    """Memory of the library in NumPy's array interface. It is kept as long as an array refers to it."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, interface: Dict[str, Any], owner: object) -> None:
        self.__array_interface__ = interface
        self.owner = owner


def _shared(view: Array, owner: object) -> NDArray:
    dtype, rank = _DTYPES[view.type], view.rank
    shape = tuple(view.shape[:rank])
    if 0 in shape:
        return np.empty(shape, dtype)
    size = dtype.itemsize
    return np.asarray(_Memory({
        "version": 3, "data": (view.data, False), "typestr": dtype.str, "shape": shape,
        "strides": tuple([stride * size for stride in view.strides[:rank]])}, owner))


def _dictionary(values: Dict[str, Any]) -> Dict[str, Any]:
    """Converts a dictionary's numbers as for a numeric feature: 1 becomes 1.0."""
    return {key: float(value) if isinstance(value, int) else value for key, value in values.items()}


def _number(name: str, value: Any) -> float:
    try:
        return ctypes.c_double(value).value
    except (TypeError, ValueError, OverflowError) as error:
        raise FeatureError(f"feature '{name}': expected a number, got {type(value).__name__}: {error}") from None


def _integer(name: str, value: Any) -> int:
    """Returns an integer that fits 64 bits, because ctypes drops higher bits."""
    integer = int(value)
    if not -2**63 <= integer < 2**63:
        raise FeatureError(f"feature '{name}': expected an integer of 64 bits, got one of {integer.bit_length() + 1} bits")
    return integer


def _sized(values: Iterable[Any], what: str) -> Tuple[Any, Any]:
    """Returns strings with lengths in the layout of kelvin.h, and an object that must be kept while they are used."""
    texts = [utf8(value, what) for value in values]
    held = b"".join(texts)
    rows = np.empty((len(texts), 2), np.uintp)
    rows[:, 1] = [len(text) for text in texts]
    rows[:, 0] = np.cumsum(rows[:, 1]) - rows[:, 1] + (ctypes.cast(ctypes.c_char_p(held), ctypes.c_void_p).value or 0)
    return rows.ctypes.data_as(ctypes.POINTER(Text)), (rows, held)


def _rectangle(name: str, values: Sequence[Any]) -> NDArray:
    """Converts nested lists of strings to an array.

    Raises FeatureError if lists on one level differ in length.
    """
    shape: Tuple[int, ...] = ()
    level: List[Any] = [values]
    while level and all(isinstance(value, (list, tuple)) for value in level):
        lengths = sorted({len(value) for value in level})
        if len(lengths) > 1:
            raise FeatureError(
                f"feature '{name}': expected lists of equal length, got lists of {', '.join(map(str, lengths))} elements")
        shape += (lengths[0],)
        level = [item for value in level for item in value]
    if any(isinstance(value, (list, tuple)) for value in level):
        raise FeatureError(f"feature '{name}': expected lists of equal length, got lists and strings")
    array = np.empty(len(level), object)
    array[:] = level
    return array.reshape(shape)


def _fit(fit: str) -> int:
    number = FITS.get(fit)
    if number is None:
        raise FeatureError(f"expected a fit of {', '.join(FITS)}, got '{fit}'")
    return number


def _are_pixels(array: NDArray) -> bool:
    """Returns whether an array is an image as other libraries decode it, instead of the model's own layout of rank
    4."""
    return array.dtype == np.uint8 and array.size > 0 and (
        array.ndim == 2 or array.ndim == 3 and array.shape[2] in (1, 3, 4))


def _from_dlpack(name: str, value: Any) -> NDArray:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, AttributeError) as error:
        raise FeatureError(
            f"feature '{name}': a {type(value).__name__} is not in memory that the CPU can read: {error}; "
            "bring it to the CPU first") from None


def _array(name: str, value: Any, feature: Feature) -> NDArray:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise FeatureError(f"feature '{name}': expected an array, got {type(value).__name__}: {error}") from None
    if array.dtype == object:
        raise FeatureError(f"feature '{name}': expected {_wanted(feature)}, got {type(value).__name__}")
    if feature.dtype not in DTYPES:
        return array
    try:
        # Python numbers do not have an intended element type.
        return array.astype(DTYPES[feature.dtype])
    except (ValueError, TypeError, OverflowError) as error:
        raise FeatureError(f"feature '{name}': expected {_wanted(feature)}, got {type(value).__name__}: {error}") from None


def _wanted(feature: Optional[Feature]) -> str:
    return f"a value of type {feature.type}" if feature is not None else "a value that a feature takes"
