"""The library libkelvin as kelvin.h declares it: prototypes, errors, and objects that own handles."""
import ctypes
import json
import os
import pathlib
import weakref
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Union

from . import errors

ABI_VERSION = 7

Path = Union[str, "os.PathLike[str]"]


class Array(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("type", c_int32), ("rank", c_int32), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64))]


class Text(ctypes.Structure):
    _fields_ = [("bytes", c_void_p), ("count", c_size_t)]


def decoded(rows: Any, count: int) -> List[str]:
    """Returns the `count` strings with lengths that a pointer to `Text` refers to."""
    # Slicing a pointer with a step accesses an element even if the slice is empty.
    if count == 0:
        return []
    # Each string has a terminating zero, up to which ctypes reads all of them much faster than string_at.
    parts = ctypes.cast(rows, POINTER(c_char_p))[: 2 * count : 2]
    lengths = ctypes.cast(rows, POINTER(c_size_t))[1 : 2 * count : 2]
    return [
        (part if len(part) == length else ctypes.string_at(rows[index].bytes, length)).decode()
        for index, (part, length) in enumerate(zip(parts, lengths))]


class ImageBuffer(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("format", c_int32), ("width", c_int32), ("height", c_int32),
                ("bytes_per_row", c_int64)]


class Plane(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("bytes_per_row", c_int64)]


class Frame(ctypes.Structure):
    _fields_ = [("format", c_int32), ("width", c_int32), ("height", c_int32), ("planes", Plane * 2)]


class File(ctypes.Structure):
    _fields_ = [("path", c_char_p), ("bytes", c_void_p), ("count", c_size_t)]


# c_void_p rather than c_char_p: ctypes would copy the string and lose the pointer that has to be freed.
_TEXT = POINTER(c_void_p)
_HANDLE = c_void_p
_NAME = c_char_p
# An input array, as bytes with the layout of Array.
_GIVEN = c_char_p

# The functions that return a code. Each takes the output parameter of an error message after these parameters.
_PROTOTYPES: Dict[str, List[Any]] = {
    "options_set": [_HANDLE, _NAME, _NAME],
    "cancellation_cancel": [_HANDLE],
    "model_load": [_NAME, _HANDLE, _HANDLE, POINTER(_HANDLE)],
    "model_load_bytes": [c_void_p, c_size_t, POINTER(File), c_size_t, _HANDLE, _HANDLE, POINTER(_HANDLE)],
    "model_description": [_HANDLE, _TEXT],
    "model_plan": [_HANDLE, _TEXT],
    "model_plan_html": [_HANDLE, _TEXT],
    "model_remarks": [_HANDLE, _TEXT],
    "model_check_devices": [_HANDLE, _TEXT],
    "features_set_array": [_HANDLE, _NAME, _GIVEN],
    "features_set_image": [_HANDLE, _NAME, POINTER(ImageBuffer), c_int32, c_int32],
    "features_set_frame": [_HANDLE, _NAME, POINTER(Frame), c_int32, c_int32],
    "features_set_image_file": [_HANDLE, _NAME, _NAME, c_int32],
    "features_set_int64": [_HANDLE, _NAME, c_int64],
    "features_set_double": [_HANDLE, _NAME, c_double],
    "features_set_string": [_HANDLE, _NAME, _NAME],
    "features_set_dictionary": [_HANDLE, _NAME, POINTER(c_char_p), POINTER(c_double), c_size_t],
    "features_set_numbered": [_HANDLE, _NAME, POINTER(c_int64), POINTER(c_double), c_size_t],
    "features_set_strings": [_HANDLE, _NAME, POINTER(c_char_p), c_size_t],
    "features_set_text_array": [_HANDLE, _NAME, POINTER(c_char_p), POINTER(c_int64), c_size_t],
    "features_set_text": [_HANDLE, _NAME, POINTER(Text)],
    "features_set_texts": [_HANDLE, _NAME, POINTER(Text), POINTER(c_int64), c_size_t],
    "features_set_text_dictionary": [_HANDLE, _NAME, POINTER(Text), POINTER(c_double), c_size_t],
    "features_set_int64s": [_HANDLE, _NAME, POINTER(c_int64), c_size_t],
    "features_set_arrays": [_HANDLE, _NAME, _GIVEN, c_size_t],
    "features_names": [_HANDLE, POINTER(POINTER(c_char_p)), POINTER(c_size_t)],
    "features_kind": [_HANDLE, _NAME, POINTER(c_int32)],
    "features_get_array": [_HANDLE, _NAME, POINTER(Array)],
    "features_get_arrays": [_HANDLE, _NAME, POINTER(POINTER(Array)), POINTER(c_size_t)],
    "features_get_image": [_HANDLE, _NAME, POINTER(ImageBuffer)],
    "features_get_frame": [_HANDLE, _NAME, POINTER(Frame)],
    "features_get_int64": [_HANDLE, _NAME, POINTER(c_int64)],
    "features_get_double": [_HANDLE, _NAME, POINTER(c_double)],
    "features_get_string": [_HANDLE, _NAME, POINTER(c_char_p)],
    "features_get_strings": [
        _HANDLE, _NAME, POINTER(POINTER(c_char_p)), POINTER(c_size_t), POINTER(POINTER(c_int64)), POINTER(c_size_t)],
    "features_get_dictionary": [
        _HANDLE, _NAME, POINTER(POINTER(c_char_p)), POINTER(POINTER(c_double)), POINTER(c_size_t), POINTER(c_bool)],
    "features_get_text": [_HANDLE, _NAME, POINTER(Text)],
    "features_get_texts": [
        _HANDLE, _NAME, POINTER(POINTER(Text)), POINTER(c_size_t), POINTER(POINTER(c_int64)), POINTER(c_size_t)],
    "features_get_text_dictionary": [
        _HANDLE, _NAME, POINTER(POINTER(Text)), POINTER(POINTER(c_double)), POINTER(c_size_t), POINTER(c_bool)],
    "features_get_json": [_HANDLE, _NAME, _TEXT],
    "state_new": [_HANDLE, POINTER(_HANDLE)],
    "state_read": [_HANDLE, _NAME, _GIVEN],
    "state_write": [_HANDLE, _NAME, _GIVEN],
    "predict": [_HANDLE, _HANDLE, _HANDLE, _HANDLE, _HANDLE],
    "predict_arrays": [_HANDLE, POINTER(c_char_p), _GIVEN, c_size_t, POINTER(c_char_p), _GIVEN, c_size_t, _HANDLE, _HANDLE],
    "predict_batch": [_HANDLE, POINTER(_HANDLE), POINTER(_HANDLE), c_size_t, _HANDLE],
    "image_read": [_NAME, POINTER(_HANDLE)],
    "image_read_bytes": [c_void_p, c_size_t, POINTER(_HANDLE)],
    "image_frame": [_HANDLE, POINTER(Frame), POINTER(c_int32)],
    "frame_encode": [POINTER(Frame), _NAME, c_int32, _TEXT, POINTER(c_size_t)],
    "devices": [_TEXT],
    "plan": [_NAME, _HANDLE, _TEXT],
    "structure": [_NAME, _TEXT],
    "profile": [_NAME, _HANDLE, c_double, _HANDLE, _TEXT],
    "bench": [_NAME, _NAME, POINTER(_HANDLE), c_size_t, _HANDLE, _TEXT],
}
# The kinds of handles, and whether a handle of the kind can be created without arguments.
_KINDS = {"options": True, "cancellation": True, "features": True, "model": False, "state": False, "image": False}


def _path() -> str:
    """Returns the path of the library: $KELVIN_LIBRARY, else a file in the package."""
    return os.environ.get("KELVIN_LIBRARY") or str(pathlib.Path(__file__).parent / "libkelvin.so.0")


class _Library:
    """The library's functions, by their names without `kelvin_`. They raise an exception on failure."""

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Callable[..., None]: ...

    def __init__(self, path: str) -> None:
        try:
            self._loaded = ctypes.CDLL(path)
        except OSError as error:
            raise ImportError(
                f"libkelvin cannot be loaded: {error}; the wheel is for Linux on x86-64 with glibc, "
                "or set KELVIN_LIBRARY to the library's path") from None
        if not hasattr(self._loaded, "kelvin_abi_version"):
            raise ImportError(
                f"{path} is not libkelvin; set KELVIN_LIBRARY to libkelvin's path, or unset it")
        self._loaded.kelvin_abi_version.restype = c_int32
        version = self._loaded.kelvin_abi_version()
        if version < ABI_VERSION:
            raise ImportError(
                f"libkelvin at {path} has interface {version}, and this package needs {ABI_VERSION}; "
                "install a library of this package's version")
        self._free = self._plain("kelvin_free", [c_void_p], None)
        self._loaded.kelvin_version.restype = c_char_p
        self.version = self._loaded.kelvin_version().decode()
        for name, arguments in _PROTOTYPES.items():
            setattr(self, name, self._raising(getattr(self._loaded, "kelvin_" + name), arguments))
        #: The functions that create and release a handle, by its kind.
        self.new, self.release = {}, {}
        for kind, is_made_alone in _KINDS.items():
            self.release[kind] = self._plain(f"kelvin_{kind}_release", [c_void_p], None)
            if is_made_alone:
                self.new[kind] = self._plain(f"kelvin_{kind}_new", [], c_void_p)

    def _raising(self, function: Any, arguments: List[Any]) -> Callable[..., None]:
        function.argtypes = arguments + [_TEXT]
        function.restype = c_int32

        def call(*values: Any) -> None:
            text = c_void_p()
            code = function(*values, byref(text))
            if code:
                raise errors.error(code, self.taken(text))
        return call

    def _plain(self, name: str, arguments: List[Any], result: Any) -> Any:
        function = getattr(self._loaded, name)
        function.argtypes, function.restype = arguments, result
        return function

    def address(self, name: str) -> int:
        """Returns the address of a function of the library, by its name without `kelvin_`."""
        return ctypes.cast(getattr(self._loaded, "kelvin_" + name), c_void_p).value or 0

    def taken(self, text: c_void_p) -> str:
        """Returns a string of the library and frees its memory."""
        try:
            return ctypes.string_at(text.value).decode(errors="replace") if text.value else ""
        finally:
            self._free(text)

    def taken_bytes(self, memory: c_void_p, count: int) -> bytes:
        """Returns bytes of the library and frees their memory."""
        try:
            return ctypes.string_at(memory.value or 0, count)
        finally:
            self._free(memory)

    def document(self, function: Callable[..., None], *arguments: Any) -> Any:
        """Calls a function and returns the JSON of its last output parameter."""
        text = c_void_p()
        function(*arguments, byref(text))
        return json.loads(self.taken(text))

    def text(self, function: Callable[..., None], *arguments: Any) -> str:
        text = c_void_p()
        function(*arguments, byref(text))
        return self.taken(text)

    def releasing(self, owner: object, kind: str, handle: int) -> Callable[[], Any]:
        """Ensures that a handle is released with its owner. Calling the returned function releases it earlier."""
        return weakref.finalize(owner, self.release[kind], handle)


library = _Library(_path())


def utf8(text: Union[Path, bytes], what: str) -> bytes:
    """Encodes a string that the library takes with its length."""
    if isinstance(text, str):
        return text.encode("utf-8", "surrogateescape")
    if isinstance(text, os.PathLike):
        return os.fsencode(text)
    if isinstance(text, bytes):
        return text
    raise TypeError(f"expected {what} as str, got {type(text).__name__}")


def encoded(text: Union[Path, bytes], what: str = "a name") -> bytes:
    """Encodes a name or a path, which the library reads up to its first zero byte.

    Raises ParameterError for a string that contains a zero byte.
    """
    result = utf8(text, what)
    if b"\0" in result:
        raise errors.ParameterError(f"expected {what} without a zero byte, got {text!r}")
    return result
