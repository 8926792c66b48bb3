"""Images of every format, read in place; image files; refused images."""
import asyncio
import gc
import pathlib
import struct
import unittest
from ctypes import byref
from unittest import mock

import numpy as np

import kelvin
from kelvin import images
from kelvin._library import Frame, library
from kelvin.values import Features

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "Examples/Digits/Digits.mlpackage"
VIT = ROOT / "Tests/Vectors/Transformers/tiny_vit_torchscript.onnx"
SEVEN = sorted((ROOT / "Examples/Digits/images").glob("7_*.png"))[0]


def gray():
    """A digit in grey levels, of the size that the model takes."""
    levels = kelvin.Image.read(SEVEN).planes[0][:, 20:140, 1]
    nearest = np.arange(64) * 120 // 64
    return np.ascontiguousarray(levels[np.ix_(nearest, nearest)])


def as_format(name, levels):
    """Grey levels in a format: its planes."""
    _, dtype, channels = images.FORMATS[name]
    chroma = np.full(((levels.shape[0] + 1) // 2, (levels.shape[1] + 1) // 2, 2), 128, np.uint8)
    if name.endswith("video"):
        return [np.round(16 + levels * (219 / 255)).astype(np.uint8), chroma]
    if not channels:
        return [levels, chroma]
    plane = levels if dtype == np.uint8 else (levels / 255).astype(dtype)
    return [plane if channels == 1 else np.dstack([plane] * channels)]


def apart(array):
    """The same in rows with gaps between them."""
    wide = np.zeros((array.shape[0], array.shape[1] + 5, *array.shape[2:]), array.dtype)
    wide[:, : array.shape[1]] = array
    return wide[:, : array.shape[1]]


def message(*fields):
    """A protocol buffer message of (number, value): whole numbers, float32 numbers, texts and messages."""
    def varint(value):
        return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)
    contents = b""
    for number, value in fields:
        if isinstance(value, int):
            contents += varint(number << 3) + varint(value)
        elif isinstance(value, float):
            contents += varint(number << 3 | 5) + struct.pack("<f", value)
        else:
            value = value.encode() if isinstance(value, str) else value
            contents += varint(number << 3 | 2) + varint(len(value)) + value
    return contents


def image(space, *sizes, width=3, height=2):
    return message((4, message((1, width), (2, height), (3, space), *sizes)))


def network(kind, result, *preprocessing, factor=1.0, addend=0.0):
    """A network of one layer, y = factor · x + addend, whose input `x` is an image."""
    layer = message((1, "l"), (2, "x"), (3, "y"), (130, message((5, message((1, factor), (2, addend))))))
    described = message((1, message((1, "x"), (3, kind))), (10, message((1, "y"), (3, result))))
    steps = [(2, step) for step in preprocessing]
    return message((1, 7), (2, described), (500, message((1, layer), *steps, (5, 1), (6, 1))))


GRAYSCALE, RGB, GRAYSCALE_FLOAT16 = 10, 20, 40
ARRAY = message((5, message((2, 65568))))


class Networks(unittest.TestCase):
    """Images as networks take and give them."""

    def test_numbers_of_float16_enter_as_they_are(self):
        levels = np.array([[-1.5, 0, 0.25], [1, 300, 1000]], np.float16)
        model = kelvin.Model(network(image(GRAYSCALE_FLOAT16), ARRAY, factor=2.0, addend=0.5), units="cpu")
        for name, dtype in (("gray16_half", np.float16), ("gray32_float", np.float32)):
            result = model.predict({"x": kelvin.Image(name, levels.astype(dtype))})["y"]
            np.testing.assert_array_equal(result, (2 * levels.astype(np.float32) + 0.5)[None, None])
        bytes_of_levels = np.array([[0, 51, 102], [153, 204, 255]], np.uint8)
        result = model.predict({"x": kelvin.Image("gray8", bytes_of_levels)})["y"]
        np.testing.assert_allclose(result, (2 * (bytes_of_levels / 255) + 0.5)[None, None], rtol=1e-6)

    def test_numbers_of_float16_leave_as_they_are(self):
        levels = np.array([[-1.5, 0, 0.25], [1, 300, 1000]], np.float16)
        kind = image(GRAYSCALE_FLOAT16)
        model = kelvin.Model(network(kind, kind, factor=-2.0), units="cpu")
        result = model.predict({"x": kelvin.Image("gray16_half", levels)})["y"]
        np.testing.assert_array_equal(np.asarray(result), -2 * levels.astype(np.float32))
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("no Pillow")
        self.assertEqual(result.mode, "F")
        again = model.predict({"x": Image.fromarray(levels.astype(np.float32))})["y"]
        np.testing.assert_array_equal(np.asarray(again), -2 * levels.astype(np.float32))

    def test_numbers_of_float16_are_scaled_as_numbers(self):
        levels = np.array([[10, 200], [-100, 255.5]], np.float32)
        model = kelvin.Model(network(image(GRAYSCALE_FLOAT16, width=2, height=2), ARRAY), units="cpu")
        self.assertEqual(model.inputs["x"].dtype, "float16")
        large = np.repeat(np.repeat(levels, 2, 0), 2, 1)
        result = model.predict({"x": kelvin.Image("gray32_float", large)})["y"]
        np.testing.assert_array_equal(result, levels[None, None])

    def test_an_image_of_floating_point_has_levels_where_the_input_does(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("no Pillow")
        levels = np.array([[10, 200, 0], [100, 255, 300]], np.float32)
        seen = np.minimum(levels, 255)[None, None]
        model = kelvin.Model(network(image(GRAYSCALE), ARRAY), units="cpu")
        self.assertEqual(model.inputs["x"].dtype, "uint8")
        np.testing.assert_array_equal(model.predict({"x": Image.fromarray(levels)})["y"], seen)
        model = kelvin.Model(network(image(RGB), ARRAY), units="cpu")
        np.testing.assert_array_equal(
            model.predict({"x": Image.fromarray(levels)})["y"], np.repeat(seen, 3, 1))

    def test_preprocessing_is_done_in_the_order_of_the_file(self):
        scaler = message((1, "x"), (10, message((10, 2.0), (30, 1.0))))
        mean = message((11, message((1, struct.pack("<6f", *range(6))))))
        levels = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
        expected = {"scaler, mean": 2.0 * levels + 1 - np.arange(6).reshape(2, 3),
                    "mean, scaler": 2.0 * (levels - np.arange(6.0).reshape(2, 3)) + 1, "scaler, scaler": 4.0 * levels + 3}
        steps = {"scaler": scaler, "mean": mean}
        for order, values in expected.items():
            given = network(image(GRAYSCALE), ARRAY, *(steps[name] for name in order.split(", ")))
            result = kelvin.Model(given, units="cpu").predict({"x": levels})["y"]
            np.testing.assert_array_equal(result, values[None, None], order)

    def test_a_size_that_is_left_out_is_the_first_or_the_smallest(self):
        listed = (21, message((1, message((1, 5), (2, 4))), (1, message((1, 3), (2, 2)))))
        ranged = (31, message((1, message((1, 5), (2, 9))), (2, message((1, 4), (2, 9)))))
        for sizes in (listed, ranged):
            model = kelvin.Model(network(image(GRAYSCALE, sizes, width=0, height=0), ARRAY), units="cpu")
            levels = np.arange(20, dtype=np.uint8).reshape(4, 5)
            np.testing.assert_array_equal(model.predict({"x": levels})["y"], levels[None, None])


class Formats(unittest.TestCase):
    def test_each_shows_what_its_pixels_are(self):
        model = kelvin.Model(DIGITS, units="cpu")
        levels = gray()
        expected = model.predict({"image": levels})["classLabel_probs"]
        for name in images.FORMATS:
            for planes in (as_format(name, levels), [apart(plane) for plane in as_format(name, levels)]):
                with self.subTest(name):
                    found = model.predict({"image": kelvin.Image(name, *planes)}, fit="exact")["classLabel_probs"]
                    # Luma of video has fewer levels.
                    tolerance = 0.02 if name.endswith("video") else 1e-3
                    self.assertEqual(list(found)[0], list(expected)[0])
                    self.assertAlmostEqual(next(iter(found.values())), next(iter(expected.values())), delta=tolerance)

    def test_colours_are_where_the_format_has_them(self):
        model = kelvin.Model(DIGITS, units="cpu")
        rgb = np.random.default_rng(1).integers(0, 256, (64, 64, 3), np.uint8)
        alpha = np.random.default_rng(2).integers(0, 256, (64, 64, 1), np.uint8)
        expected = model.predict({"image": rgb})["classLabel_probs"]
        red, green, blue = (rgb[:, :, [channel]] for channel in range(3))
        for name, channels in {"rgba8": (red, green, blue, alpha), "bgra8": (blue, green, red, alpha),
                               "argb8": (alpha, red, green, blue)}.items():
            image = kelvin.Image(name, np.concatenate(channels, 2))
            self.assertEqual(model.predict({"image": image})["classLabel_probs"], expected)
        for name in ("rgba16_half", "rgba32_float"):
            dtype = images.FORMATS[name][1]
            plane = (np.concatenate([red, green, blue, alpha], 2) / np.float32(255)).astype(dtype)
            self.assertEqual(model.predict({"image": kelvin.Image(name, plane)})["classLabel_probs"], expected)
        # Rec. 709 of pure red, full range: 54, 99, 255 (0.2126, -0.1146 + 0.5, 1 as bytes).
        luma, chroma = np.full((64, 64), 54, np.uint8), np.tile(np.array([99, 255], np.uint8), (32, 32, 1))
        decoded = kelvin.Image.read(kelvin.Image("ycbcr709_full", luma, chroma).encode()).planes[0]
        self.assertLessEqual(np.abs(decoded.astype(int) - [254, 0, 0]).max(), 2)

    def test_planes_are_read_where_they_lie_as_they_are_then(self):
        class Foreign:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__()

            def __dlpack_device__(self):
                return (1, 0)
        levels = gray()
        for name in images.FORMATS:
            planes = [apart(plane) for plane in as_format(name, levels)]
            for given in (planes, [Foreign(plane) for plane in planes]):
                image, features, frame = kelvin.Image(name, *given), Features(), Frame()
                features.set("image", image)
                library.features_get_frame(features.handle, b"image", byref(frame))
                for plane, array, kept in zip(frame.planes, planes, image.planes):
                    self.assertEqual((plane.data, plane.bytes_per_row), (array.ctypes.data, array.strides[0]))
                    self.assertTrue(np.shares_memory(kept, array))
        model = kelvin.Model(DIGITS, units="cpu")
        image = kelvin.Image("gray8", levels)
        before = model.predict({"image": image})["classLabel_probs"]
        levels[:] = 0
        self.assertNotEqual(model.predict({"image": image})["classLabel_probs"], before)
        levels.flags.writeable = False
        model.predict({"image": kelvin.Image("gray8", levels)})

    def test_an_image_is_turned_as_it_says_whatever_the_fit(self):
        model, rgb = kelvin.Model(DIGITS, units="cpu"), np.dstack([gray()] * 3)
        expected = model.predict({"image": rgb})["classLabel_probs"]
        turned = {2: rgb[:, ::-1], 3: rgb[::-1, ::-1], 4: rgb[::-1], 6: np.rot90(rgb, 1), 8: np.rot90(rgb, -1)}
        for orientation, stored in turned.items():
            image = kelvin.Image("rgb8", np.ascontiguousarray(stored), orientation=orientation)
            for fit in ("exact", "scale-fill", "scale-fit", "center-crop"):
                with self.subTest(orientation=orientation, fit=fit):
                    self.assertEqual(model.predict({"image": image}, fit=fit)["classLabel_probs"], expected)

    def test_odd_frames_of_video_have_chroma_for_what_is_left(self):
        luma, model = np.full((9, 7), 90, np.uint8), kelvin.Model(DIGITS, units="cpu")
        for chroma in (np.full((5, 4, 2), 128, np.uint8), np.full((5, 8), 128, np.uint8)):
            image = kelvin.Image("ycbcr601_full", luma, chroma)
            self.assertEqual(
                model.predict({"image": image})["classLabel_probs"],
                model.predict({"image": np.full((9, 7), 90, np.uint8)})["classLabel_probs"])
            self.assertEqual(np.unique(kelvin.Image.read(image.encode()).planes[0]).tolist(), [90])


class Outputs(unittest.TestCase):
    # The output `negative` is 255 - `picture`, both 6 by 4 pixels in RGB.
    MODEL = ROOT / "Tests/Python/negative.mlmodel"

    def test_an_image_is_written_where_it_lies(self):
        model = kelvin.Model(self.MODEL, units="cpu")
        given = np.random.default_rng(6).integers(0, 256, (4, 6, 3), np.uint8)
        np.testing.assert_array_equal(np.asarray(model.predict({"picture": given})["negative"]), 255 - given)
        for name, order in {"rgb8": (0, 1, 2), "rgba8": (0, 1, 2), "bgra8": (2, 1, 0), "argb8": (1, 2, 3)}.items():
            channels = images.FORMATS[name][2]
            place = apart(np.zeros((4, 6, channels), np.uint8))
            image = kelvin.Image(name, place)
            self.assertIs(model.predict({"picture": given}, outputs={"negative": image})["negative"], image)
            np.testing.assert_array_equal(place[:, :, order], 255 - given)
            if channels == 4:
                alpha = 0 if name == "argb8" else 3
                self.assertEqual(np.unique(place[:, :, alpha]).tolist(), [255])
            # The bytes between the rows are unchanged.
            self.assertEqual(place.base[:, 6:].max(), 0)

    def test_a_batch_and_a_task_take_images_too(self):
        model = kelvin.Model(self.MODEL, units="cpu")
        given = [np.full((4, 6), level, np.uint8) for level in (0, 60, 255)]
        items = [{"picture": kelvin.Image("gray8", levels)} for levels in given]
        results = [*model.predict(items), *(asyncio.run(model.predict_async(item)) for item in items)]
        for result, levels in zip(results, [*given, *given]):
            np.testing.assert_array_equal(np.asarray(result["negative"]), np.dstack([255 - levels] * 3))

    def test_images_that_nothing_can_be_written_to(self):
        model, given = kelvin.Model(self.MODEL, units="cpu"), np.zeros((4, 6, 3), np.uint8)
        fixed = given.copy()
        fixed.flags.writeable = False
        for words, image in {
                "read-only": kelvin.Image("rgb8", fixed),
                "6x4 pixels, got 6x6": kelvin.Image("rgb8", np.zeros((6, 6, 3), "u1")),
                "colour image": kelvin.Image("gray8", np.zeros((4, 6), np.uint8)),
                "8 bits a channel, got one of rgba32_float": kelvin.Image("rgba32_float", np.zeros((4, 6, 4), np.float32)),
                "of ycbcr601_full": kelvin.Image("ycbcr601_full", np.zeros((4, 6), "u1"), np.zeros((2, 3, 2), "u1"))}.items():
            with self.subTest(words), self.assertRaises(kelvin.FeatureError) as caught:
                model.predict({"picture": given}, outputs={"negative": image})
            self.assertIn(words, str(caught.exception))


class Refusals(unittest.TestCase):
    def test_planes_that_are_not_as_the_format_has_them(self):
        luma, chroma, rgb = np.zeros((8, 6), np.uint8), np.zeros((4, 3, 2), np.uint8), np.zeros((8, 6, 3), np.uint8)
        longer = np.zeros((8, 12), np.uint8)
        for words, call in {
            "expected a format of rgb8": ("420f", luma, chroma), "has 2 planes, got 1": ("ycbcr601_full", luma),
            "has 1 plane, got 2": ("gray8", luma, chroma), "has 1 plane, got 0": ("gray8",),
            "shape (8, 6, 3), got (8, 6, 2)": ("rgb8", rgb[:, :, :2].copy()), "shape (8, 6, 4)": ("rgba8", rgb),
            "elements of float16, got uint8": ("gray16_half", luma), "of uint8, got >f4": ("gray8", luma.astype(">f4")),
            "height by width by 3, got shape (48,)": ("rgb8", luma.ravel()), "got shape (0, 6)": ("gray8", luma[:0]),
            "(4, 3, 2) or (4, 6), got (4, 2, 2)": ("ycbcr709_full", luma, chroma[:, :2]),
            "(4, 3, 2) or (4, 6), got (3, 3, 2)": ("ycbcr709_video", luma, chroma[:3]),
            "got strides (12, 2)": ("gray8", longer[:, ::2]), "got strides (-6, 1)": ("gray8", luma[::-1]),
            "got strides (0, 1)": ("gray8", np.broadcast_to(luma[0], (8, 6))),
            "arrays, got bytes": ("gray8", b"123"), "arrays, got NoneType": ("ycbcr601_full", luma, None),
        }.items():
            with self.subTest(words), self.assertRaises(kelvin.FeatureError) as caught:
                kelvin.Image(*call)
            self.assertIn(words, str(caught.exception))
        for orientation in (0, 9, "up", None):
            with self.assertRaisesRegex(kelvin.FeatureError, "orientation from 1 to 8"):
                kelvin.Image("gray8", luma, orientation=orientation)

    def test_an_image_elsewhere(self):
        class Foreign:
            def __dlpack__(self, **_):
                raise BufferError("CUDA")

            def __dlpack_device__(self):
                return (2, 0)
        with self.assertRaisesRegex(kelvin.FeatureError, "not in memory that the CPU can read"):
            kelvin.Image("gray8", Foreign())

    def test_what_a_model_does_not_take(self):
        levels = gray()
        with self.assertRaisesRegex(kelvin.FeatureError, "64x64 pixels, got 10x64"):
            kelvin.Model(DIGITS, units="cpu").predict(
                {"image": kelvin.Image("gray8", levels[:, :10])}, fit="exact")
        with self.assertRaisesRegex(kelvin.FeatureError, "expected a fit of"):
            kelvin.Model(DIGITS, units="cpu").predict({"image": kelvin.Image("gray8", levels)}, fit="stretch")
        with self.assertRaisesRegex(kelvin.FeatureError, "image"):
            kelvin.Model(VIT, units="cpu").predict({"image": kelvin.Image("gray8", levels)})


class Files(unittest.TestCase):
    def test_what_is_encoded_is_decoded_again(self):
        image = kelvin.Image.read(SEVEN)
        self.assertEqual((image.format, image.width, image.height, image.orientation), ("rgb8", 160, 120, 1))
        for contents in (image.encode(), bytearray(image.encode("png")), memoryview(SEVEN.read_bytes())):
            again = kelvin.Image.read(contents)
            np.testing.assert_array_equal(again.planes[0], image.planes[0])
        small, large = image.encode("jpeg", quality=5), image.encode("jpeg")
        self.assertLess(len(small), len(large))
        self.assertEqual(large[:3], b"\xff\xd8\xff")
        with_alpha = np.random.default_rng(5).integers(0, 256, (3, 5, 4), np.uint8)
        with_alpha[:, :, 3] = 255
        for name, order in {"rgba8": [0, 1, 2], "bgra8": [2, 1, 0]}.items():
            again = kelvin.Image.read(kelvin.Image(name, with_alpha).encode()).planes[0]
            np.testing.assert_array_equal(again, with_alpha[:, :, order])

    def test_pixels_that_were_decoded_outlive_their_image_and_are_read_only(self):
        plane = kelvin.Image.read(SEVEN).planes[0]
        expected = plane.copy()
        gc.collect()
        others = [kelvin.Image.read(SEVEN) for _ in range(20)]
        np.testing.assert_array_equal(plane, expected)
        self.assertFalse(plane.flags.writeable)
        with self.assertRaises(ValueError):
            plane[:] = 0
        del others

    def test_files_that_are_none(self):
        image = kelvin.Image.read(SEVEN)
        for source, words in {
                "/nowhere.png": "nowhere", b"": "empty", b"rubbish": "bytes is unknown", SEVEN.read_bytes()[:40]: "in memory",
                str(ROOT): ""}.items():
            with self.subTest(source), self.assertRaisesRegex(kelvin.FileError, words):
                kelvin.Image.read(source)
        for encoding, quality, words in (("gif", None, "png or jpeg"), ("jpeg", 101, "1 to 100"), ("jpeg", -3, "1 to 100"),
                                         ("jpeg", 0, "1 to 100"), ("png", 50, "0 for png")):
            with self.assertRaisesRegex(kelvin.ParameterError, words):
                image.encode(encoding, quality)
        with self.assertRaises(TypeError):
            kelvin.Image.read(5)

    def test_pillow_reads_what_the_library_cannot(self):
        try:
            import PIL  # noqa: F401
        except ImportError:
            self.skipTest("no Pillow")
        expected = kelvin.Image.read(SEVEN).planes[0]
        absent = kelvin.FileError("image 'libvips': no images can be decoded")
        with mock.patch.object(library, "image_read", side_effect=absent), mock.patch.object(
                library, "image_read_bytes", side_effect=absent):
            for source in (SEVEN, SEVEN.read_bytes()):
                np.testing.assert_array_equal(kelvin.Image.read(source).planes[0], expected)
            with self.assertRaises(kelvin.FileError):
                kelvin.Image.read(b"rubbish")


if __name__ == "__main__":
    unittest.main()
