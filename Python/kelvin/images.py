"""Images in memory, in any format, used without copying."""
import ctypes
import io
import os
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

import numpy as np

from ._library import Frame, Path, encoded, library
from .errors import FeatureError, FileError

if TYPE_CHECKING:
    from .values import NDArray

#: The formats by name: their number in kelvin.h, the element type, and the number of elements per pixel; 0 for formats
#: with a separate chroma plane.
FORMATS: "Dict[str, Tuple[int, np.dtype[Any], int]]" = {
    name: (code, np.dtype(dtype), channels) for name, code, dtype, channels in (
        ("rgb8", 1, "u1", 3), ("rgba8", 2, "u1", 4), ("bgra8", 3, "u1", 4), ("gray8", 4, "u1", 1), ("argb8", 5, "u1", 4),
        ("gray16_half", 6, "f2", 1), ("gray32_float", 7, "f4", 1), ("rgba16_half", 8, "f2", 4), ("rgba32_float", 9, "f4", 4),
        ("ycbcr601_full", 10, "u1", 0), ("ycbcr601_video", 11, "u1", 0), ("ycbcr709_full", 12, "u1", 0),
        ("ycbcr709_video", 13, "u1", 0))
}
_NAMES = {code: name for name, (code, _, _) in FORMATS.items()}


class Image:
    """An image in memory as cameras, video decoders and files provide it: planes of pixels, which are not copied.

    ```python
    frame = kelvin.Image("ycbcr709_video", luma, chroma)
    model.predict({"image": frame})
    kelvin.Image.read("owl.heic").encode("jpeg", quality=90)
    ```

    Args:
        format: `rgb8`, `rgba8`, `bgra8`, `argb8` or `gray8` with 8 bits per channel; `gray16_half`, `gray32_float`,
            `rgba16_half` or `rgba32_float` with values from 0 to 1 (inputs of type `GRAYSCALE_FLOAT16` use the values
            of grayscale images unchanged); or a video frame in two planes, `ycbcr601_full` (`420f`), `ycbcr601_video`
            (`420v`), `ycbcr709_full` or `ycbcr709_video`. All are sRGB, and alpha is not premultiplied.
        planes: arrays of NumPy or DLPack with the format's element type, uint8, float16 or float32. The shape is height
            by width, or height by width by channels for several channels. For video, luma is height by width; chroma
            has half of both, rounded up, by two (blue, red). Rows may have gaps between them, as in a slice of longer
            rows; elements within a row may not. The arrays must not change while a prediction reads them.
        orientation: the EXIF orientation of the stored pixels, 1 to 8.

    Raises:
        FeatureError: the format does not exist, or the planes do not match it.
    """

    __slots__ = ("_frame", "format", "height", "orientation", "planes", "width")

    def __init__(self, format: str, *planes: Any, orientation: int = 1) -> None:
        if format not in FORMATS:
            raise FeatureError(f"expected a format of {', '.join(FORMATS)}, got {format!r}")
        if orientation not in range(1, 9):
            raise FeatureError(f"expected an orientation from 1 to 8, got {orientation!r}")
        code, dtype, channels = FORMATS[format]
        count = 1 if channels else 2
        if len(planes) != count:
            raise FeatureError(f"an image of {format} has {count} plane{'s' * (count > 1)}, got {len(planes)}")
        arrays = [_array(plane, dtype, format) for plane in planes]
        if arrays[0].ndim not in (2, 3) or 0 in arrays[0].shape:
            raise FeatureError(
                f"an image of {format}: expected an array of height by width{_besides(channels)}, got shape {arrays[0].shape}")
        height, width = arrays[0].shape[:2]
        _check(arrays[0], [(height, width, channels or 1)] + [(height, width)] * (channels in (0, 1)), format)
        if not channels:
            rows, columns = (height + 1) // 2, (width + 1) // 2
            _check(arrays[1], [(rows, columns, 2), (rows, 2 * columns)], f"chroma of {width} by {height} pixels in {format}")
        #: One of `FORMATS`.
        self.format = format
        #: The planes as NumPy arrays.
        self.planes: "Tuple[NDArray, ...]" = tuple(arrays)
        #: The size of the stored pixels.
        self.width, self.height = int(width), int(height)
        self.orientation = orientation
        self._frame = Frame(code, self.width, self.height)
        for place, array in zip(self._frame.planes, arrays):
            place.data, place.bytes_per_row = array.ctypes.data, array.strides[0] if array.shape[0] > 1 else 0

    def __repr__(self) -> str:
        return f"kelvin.Image({self.format!r}, {self.width} by {self.height} pixels)"

    @classmethod
    def read(cls, source: "Union[Path, bytes, bytearray, memoryview]") -> "Image":
        """Decodes an image file, or the bytes of one: JPEG, PNG, WebP, TIFF, GIF, BMP, HEIF and AVIF, as far as libvips
        supports them. Otherwise Pillow decodes it, if available.

        The plane is the library's memory, read-only, in `rgb8`. Transparent pixels become black.

        Raises FileError if the source cannot be read or is not an image.
        """
        handle, is_file = c_void_p(), not isinstance(source, (bytes, bytearray, memoryview))
        try:
            if is_file:
                library.image_read(encoded(source, "a path"), byref(handle))  # type: ignore[arg-type]
            else:
                contents = bytes(source)  # type: ignore[arg-type]
                library.image_read_bytes(ctypes.cast(ctypes.c_char_p(contents), c_void_p), len(contents), byref(handle))
        except OSError as error:
            image = opened(source, error)
            return cls("rgb8", np.asarray(image))
        owner, frame, orientation = _Decoded(handle.value or 0), Frame(), ctypes.c_int32()
        library.image_frame(owner.handle, byref(frame), byref(orientation))
        name = _NAMES[frame.format]
        dtype, channels = FORMATS[name][1:]
        plane = frame.planes[0]
        owner.__array_interface__ = {
            "version": 3, "data": (plane.data, True), "typestr": dtype.str, "shape": (frame.height, frame.width, channels),
            "strides": (plane.bytes_per_row, channels * dtype.itemsize, dtype.itemsize)}
        return cls(name, np.asarray(owner), orientation=orientation.value)

    def encode(self, encoding: str = "png", quality: Optional[int] = None) -> bytes:
        """Encodes the image as the bytes of a file. The pixels are written as stored, without an orientation.

        Args:
            encoding: `png`, lossless with grayscale and alpha preserved, or `jpeg`, without alpha.
            quality: the JPEG quality, 1 to 100; None for 90.

        Raises ParameterError for another encoding or quality, FileError if libvips is not available.
        """
        contents, count = c_void_p(), ctypes.c_size_t()
        library.frame_encode(
            byref(self._frame), encoded(encoding), -1 if quality == 0 else quality or 0, byref(contents), byref(count))
        return library.taken_bytes(contents, count.value)

    def given(self, handle: int, key: bytes, fit: int) -> None:
        """Sets the image as an input without copying it."""
        library.features_set_frame(handle, key, byref(self._frame), self.orientation, fit)

    def set_output(self, name: str, handle: int, key: bytes) -> None:
        """Sets the image as the destination of an output."""
        from ._library import ImageBuffer as View
        if len(self.planes) != 1 or self.planes[0].dtype != np.uint8:
            raise FeatureError(f"output '{name}': expected an image of 8 bits a channel, got one of {self.format}")
        if not self.planes[0].flags.writeable:
            raise FeatureError(f"output '{name}': expected memory that can be written to, got a read-only image")
        frame, plane = self._frame, self._frame.planes[0]
        view = View(plane.data, frame.format, frame.width, frame.height, plane.bytes_per_row)
        library.features_set_image(handle, key, byref(view), 1, 0)


class _Decoded:
    """An image in the library's memory, which is kept as long as an array refers to it."""

    __array_interface__: "Dict[str, Any]"

    def __init__(self, handle: int) -> None:
        self.handle = handle
        library.releasing(self, "image", handle)


def opened(source: Any, error: OSError) -> Any:
    """Opens an image with Pillow if libvips is not available or cannot decode it; else raises the error."""
    is_file = not isinstance(source, (bytes, bytearray, memoryview))
    if is_file and not os.path.exists(source):
        raise error
    try:
        from PIL import Image, ImageOps
    except ImportError:
        # The library's message if libvips cannot be loaded.
        if "image 'libvips'" in str(error):
            raise FileError(f"{error}; install libvips (package libvips42), or pip install kelvin[images]") from None
        raise error from None
    try:
        image = Image.open(source if is_file else io.BytesIO(source))
        return ImageOps.exif_transpose(image).convert("RGB")
    except OSError:
        raise error from None


def _array(plane: Any, dtype: "np.dtype[Any]", format: str) -> "NDArray":
    if not isinstance(plane, np.ndarray):
        if not hasattr(plane, "__dlpack__"):
            raise FeatureError(f"an image of {format}: expected planes that are arrays, got {type(plane).__name__}")
        try:
            plane = np.from_dlpack(plane)
        except (BufferError, RuntimeError, TypeError, AttributeError) as error:
            raise FeatureError(
                f"an image of {format}: a {type(plane).__name__} is not in memory that the CPU can read: {error}") from None
    if plane.dtype != dtype:
        raise FeatureError(f"an image of {format}: expected elements of {dtype}, got {plane.dtype}")
    array: "NDArray" = plane
    return array


def _check(array: "NDArray", shapes: "List[Tuple[int, ...]]", what: str) -> None:
    """Checks that an array has one of these shapes, dense rows, and no overlapping rows."""
    if array.shape not in shapes:
        raise FeatureError(f"{what}: expected an array of shape {' or '.join(map(str, shapes))}, got {array.shape}")
    if not array[0].flags.c_contiguous or array.shape[0] > 1 and array.strides[0] < array[0].nbytes:
        raise FeatureError(
            f"{what}: expected rows without gaps, one below the other, got strides {array.strides}; "
            "numpy.ascontiguousarray makes them so")


def _besides(channels: int) -> str:
    return f" by {channels}" if channels > 1 else ""
