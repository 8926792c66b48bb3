"""Errors of a program, and machines that lack something: each gives an error with its remedy, never an abort.

Calls that might end the process run in a separate one.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest

import numpy as np

import kelvin

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "Examples/Digits/Digits.mlpackage"
NETWORK = ROOT / "Examples/Digits/Digits.onnx"
SEVEN = sorted((ROOT / "Examples/Digits/images").glob("7_*.png"))[0]
DECODER = ROOT / "Tests/Vectors/Decoder/growing.mlpackage"

PRELUDE = f"""
import ctypes, os, sys, threading
from ctypes import byref, c_char_p, c_double, c_int64, c_void_p
import numpy as np
import kelvin
from kelvin import _library
from kelvin._library import Array, File, ImageBuffer, library

DIGITS, NETWORK, SEVEN = {str(DIGITS)!r}, {str(NETWORK)!r}, {str(SEVEN)!r}
pixels = np.full((1, 3, 64, 64), 0.5, np.float32)


def refused(words, call, *arguments, error=kelvin.KelvinError):
    try:
        call(*arguments)
    except error as failure:
        assert words in str(failure), f"expected {{words!r}} in {{failure}}"
    else:
        raise AssertionError(f"taken where {{words!r}} was expected")
"""


def pixels():
    return np.full((1, 3, 64, 64), 0.5, np.float32)


class Hostile(unittest.TestCase):
    def assert_ends_well(self, code, command=(), **environment):
        """Runs a program after PRELUDE, and gives what it printed."""
        result = subprocess.run(
            [*command, sys.executable, "-c", PRELUDE + textwrap.dedent(code)], capture_output=True, text=True,
            timeout=300, env={**os.environ, **environment})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout


class Values(Hostile):
    def test_elements_that_no_feature_has(self):
        model = kelvin.Model(NETWORK, units="cpu")
        for array in (
                np.zeros((1, 3, 64, 64), "S4"), np.zeros((1, 3, 64, 64), "U4"), np.zeros((1, 3, 64, 64), object),
                np.zeros((1, 3, 64, 64), "M8[s]"), np.zeros((1, 3, 64, 64), [("a", "f4")])):
            with self.subTest(array.dtype), self.assertRaisesRegex(kelvin.FeatureError, "convert it with astype"):
                model.predict({"image": array})

    def test_shapes_that_cannot_be(self):
        model = kelvin.Model(NETWORK, units="cpu")
        for shape in ((), (1, 3, 64, 0), (3, 64, 64), (1,) * 32, (1, 3, 64, 64, 1)):
            with self.subTest(shape), self.assertRaisesRegex(kelvin.FeatureError, "expected shape 1x3x64x64"):
                model.predict({"image": np.zeros(shape, np.float32)})
        for shape in ((1, 3, 1 << 20, 1 << 20), (1 << 15,) * 4):
            with self.subTest(shape), self.assertRaisesRegex(kelvin.FeatureError, "fit memory"):
                model.predict({"image": np.broadcast_to(np.float32(0.5), shape)})
        classifier, three = kelvin.Model(DIGITS, units="cpu"), np.zeros(3, np.uint8)
        for shape in ((1 << 30, 1 << 30, 3), (1, 1 << 40, 3)):
            with self.subTest(shape), self.assertRaisesRegex(kelvin.FeatureError, "cannot be copied"):
                classifier.predict({"image": np.lib.stride_tricks.as_strided(three, shape, (0, 0, 1))})
        for shape, error in (
                ((-1, 3, 64, 64), kelvin.ParameterError), ((1 << 80, 3, 64, 64), kelvin.ParameterError),
                ((1 << 62, 3, 64, 64), kelvin.FeatureError)):
            with self.subTest(shape), self.assertRaisesRegex(error, "expected"):
                kelvin.Model(NETWORK, units="cpu", shapes={"image": shape})

    def test_outputs_that_cannot_be_written_to(self):
        model = kelvin.Model(NETWORK, units="cpu")
        misaligned = np.zeros(41, np.uint8)[1:].view(np.float32).reshape(1, 10)
        one = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (1, 10), (0, 0))
        for words, array in (
                ("float32", np.zeros((1, 10), np.float64)), ("1x10", np.zeros(10, np.float32)),
                (">f4", np.zeros((1, 10), ">f4")), ("aligned", misaligned),
                ("rising order", np.zeros((1, 10), np.float32)[:, ::-1]),
                ("read-only", np.broadcast_to(np.float32(0), (1, 10))),
                ("a separate address for each element", one), ("got list", [0.0] * 10), ("got NoneType", None)):
            with self.subTest(words), self.assertRaisesRegex(kelvin.FeatureError, words):
                model.predict({"image": pixels()}, outputs={"probabilities": array})
        expected = model.predict({"image": pixels()})["probabilities"]
        spread = np.zeros((1, 20), np.float32)
        model.predict({"image": pixels()}, outputs={"probabilities": spread[:, ::2]})
        np.testing.assert_array_equal(spread[:, ::2], expected)
        self.assertFalse(spread[:, 1::2].any())

    def test_texts_with_bytes_that_no_text_has(self):
        model = kelvin.Model(NETWORK, units="cpu")
        strange = os.fsdecode(b"\xff\xfe")
        for name in (strange, "image\0", 7, b"image"):
            with self.subTest(name), self.assertRaisesRegex(kelvin.FeatureError, "no input"):
                model.predict({name: pixels()})
        with self.assertRaisesRegex(kelvin.FileError, "no such file"):
            kelvin.Model(f"/nowhere/{strange}.onnx")
        with self.assertRaisesRegex(kelvin.FileError, "cannot open"):
            kelvin.Model(DIGITS, units="cpu").predict({"image": f"/nowhere/{strange}.png"})
        with self.assertRaisesRegex(kelvin.DeviceError, "no device"):
            kelvin.Model(NETWORK, units=strange)
        with self.assertRaisesRegex(kelvin.ParameterError, "zero byte"):
            kelvin.Model(f"{NETWORK}\0.png")
        with self.assertRaisesRegex(kelvin.ParameterError, "zero byte"):
            kelvin.Model(NETWORK, units="cpu\0,vulkan:0")


class States(Hostile):
    given = {"ids": np.array([[3]], np.int32), "mask": np.zeros((1, 1, 1, 1), np.float32)}

    def test_two_threads_on_one_state_are_told_so(self):
        model = kelvin.Model(DECODER, units="cpu")
        state, refused, ready = model.make_state(), [], threading.Barrier(4)

        def work():
            ready.wait()
            for _ in range(2000):
                try:
                    model.predict(self.given, state=state)
                except kelvin.ParameterError as error:
                    refused.append(str(error))
                if refused:
                    return
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertIn("the state is in use", refused[0])

    def test_states_of_other_models_and_of_closed_ones(self):
        model = kelvin.Model(DECODER, units="cpu")
        with self.assertRaisesRegex(kelvin.ParameterError, "another model"):
            model.predict(self.given, state=kelvin.Model(NETWORK, units="cpu").make_state())
        with self.assertRaisesRegex(kelvin.FeatureError, "has no state"):
            kelvin.Model(NETWORK, units="cpu").make_state().read("keys")
        state = model.make_state()
        with self.assertRaisesRegex(kelvin.FeatureError, "expected shape"):
            state.write("keys", np.zeros((1, 2, 3)))
        model.close()
        self.assertFalse(state.read("keys").any())
        with self.assertRaisesRegex(kelvin.HandleError, "released"):
            model.predict(self.given, state=state)


class Lives(Hostile):
    def test_nothing_is_answered_by_a_closed_model(self):
        model = kelvin.Model(NETWORK, units="cpu")
        model.close()
        model.close()
        for call in (
                lambda: model.predict([{"image": pixels()}]), model.plan, model.make_state, model.check_devices,
                lambda: model.remarks, lambda: model.description):
            with self.assertRaisesRegex(kelvin.HandleError, "released"):
                call()

    def test_a_model_is_closed_while_threads_predict(self):
        self.assert_ends_well("""
            model = kelvin.Model(NETWORK, units="cpu")
            expected = model.predict({"image": pixels})["probabilities"].copy()
            begun, ends = threading.Semaphore(0), []

            def work():
                try:
                    while True:
                        assert np.array_equal(model.predict({"image": pixels})["probabilities"], expected)
                        begun.release()
                except kelvin.HandleError:
                    ends.append(True)
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for _ in range(40):
                begun.acquire()
            model.close()
            for thread in threads:
                thread.join()
            assert len(ends) == 4
            """)

    def test_a_program_ends_while_threads_predict_and_results_live(self):
        self.assert_ends_well("""
            model = kelvin.Model(NETWORK, units="cpu")
            sys.kept = model.predict({"image": pixels})["probabilities"]
            begun = threading.Event()

            def work():
                while True:
                    model.predict({"image": pixels})
                    begun.set()
            threading.Thread(target=work, daemon=True).start()
            begun.wait()
            """)

    def test_a_model_whose_file_is_deleted_goes_on_and_one_that_shrinks_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            network, package = pathlib.Path(folder) / "a.onnx", pathlib.Path(folder) / "a.mlpackage"
            shutil.copy(NETWORK, network)
            shutil.copytree(DIGITS, package)
            output = self.assert_ends_well(f"""
                import pathlib, shutil
                network, package = pathlib.Path({str(network)!r}), pathlib.Path({str(package)!r})
                models = [kelvin.Model(path, units="cpu", no_cache=True) for path in (network, package)]
                network.unlink()
                shutil.rmtree(package)
                for model in models:
                    print(model.predict({{"image": SEVEN}})["classLabel"], len(model.plan()) > 0)
                """)
            self.assertEqual(output.split(), ["seven", "True"] * 2)
            shutil.copytree(DIGITS, package)
            self.assert_ends_well(f"""
                import pathlib
                package = pathlib.Path({str(package)!r})
                model = kelvin.Model(package, units="cpu", no_cache=True)
                os.truncate(next(package.rglob("weight.bin")), 100)
                try:
                    model.predict({{"image": SEVEN}})
                except kelvin.FileError as error:
                    assert "load it again" in str(error), error
                """)


class Forks(Hostile):
    CHILD = """
        import signal

        def child(call):
            process = os.fork()
            if process == 0:
                signal.alarm(8)
                try:
                    call()
                    os._exit(0)
                except kelvin.HandleError as error:
                    os._exit(40 if "forked" in str(error) else 41)
                except BaseException:
                    os._exit(42)
            return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        """

    def assert_children_end_well(self, code):
        return self.assert_ends_well(textwrap.dedent(self.CHILD) + textwrap.dedent(code))

    def test_a_child_of_a_parent_that_asked_for_nothing_is_free(self):
        self.assert_children_end_well("""
            assert child(lambda: kelvin.Model(NETWORK, units="cpu").predict({"image": SEVEN})) == 0
            kelvin.Model(NETWORK, units="cpu").predict({"image": SEVEN})
            """)

    def test_a_child_of_one_that_asked_for_devices_is_refused(self):
        self.assert_children_end_well("""
            kelvin.devices()
            assert child(lambda: kelvin.Model(NETWORK, units="opencl:0")) == 40
            assert child(lambda: kelvin.Model(NETWORK, units="cpu")) == 40
            """)

    def test_a_child_of_one_that_did_is_refused_everything(self):
        self.assert_children_end_well("""
            model = kelvin.Model(NETWORK, units="cpu")
            for call in (
                    lambda: model.predict({"image": SEVEN}), model.plan, lambda: kelvin.Model(NETWORK, units="cpu"),
                    lambda: kelvin.plan(NETWORK, units="cpu"), lambda: kelvin.profile(NETWORK, units="cpu")):
                assert child(call) == 40
            assert child(model.close) == 0
            assert model.predict({"image": SEVEN})["classLabel"] == "seven"
            """)

    def test_functions_without_a_handle_are_refused_in_such_a_child_too(self):
        self.assert_children_end_well("""
            model = kelvin.Model(NETWORK, units="cpu")
            assert child(lambda: library.structure(NETWORK.encode(), byref(c_void_p()))) == 40
            """)


class Pointers(Hostile):
    """The library as C sees it, where ctypes can give what C could."""

    def test_nothing_and_pointers_that_are_no_handles(self):
        self.assert_ends_well("""
            numbers = (c_int64, c_double, ctypes.c_int32, ctypes.c_size_t)
            for name, kinds in _library._PROTOTYPES.items():
                function = getattr(library, name)
                nothing = [0 if kind in numbers else None for kind in kinds]
                refused("NULL", function, *nothing, error=kelvin.HandleError)
                junk = [c_void_p(0x1234) if kind is c_void_p else value for kind, value in zip(kinds, nothing)]
                try:
                    function(*junk)
                except kelvin.HandleError as error:
                    assert "NULL" in str(error) or "not a handle" in str(error), error
                else:
                    raise AssertionError(name)
            for release in library.release.values():
                release(None)
                release(0x1234)
            """)

    def test_handles_that_were_released_or_stand_for_something_else(self):
        self.assert_ends_well("""
            model = kelvin.Model(NETWORK, units="cpu")
            features, others = library.new["features"](), library.new["features"]()
            library.release["model"](features)
            library.features_set_int64(features, b"a", 1)
            refused("a model, got one of features", library.predict, features, features, others, None, None)
            refused("expected two", library.predict, model._handle, features, features, None, None)
            handles = (c_void_p * 2)(features, features)
            refused("twice", library.predict_batch, model._handle, handles, handles, 2, None)
            refused("NULL", library.predict_batch, model._handle, (c_void_p * 2)(features, None), handles, 2, None)
            library.release["features"](features)
            library.release["features"](features)
            refused("released", library.features_set_int64, features, b"a", 1)
            refused("released", library.predict, model._handle, features, others, None, None)
            again = library.new["features"]()
            refused("released", library.features_set_int64, features, b"a", 1)
            library.features_set_int64(again, b"a", 1)
            """)

    def test_arrays_and_images_that_cannot_be(self):
        self.assert_ends_well("""
            features, memory = library.new["features"](), np.zeros(64, np.float32)
            large, least = (1 << 63) - 1, -(1 << 63)

            def array(
                    words, shape, strides=None, data=memory.ctypes.data, type=2, rank=None, error=kelvin.FeatureError):
                sizes, steps = ((c_int64 * len(each))(*each) if each else None for each in (shape, strides))
                view = bytes(Array(data, type, len(shape or ()) if rank is None else rank, sizes, steps))
                refused(words, library.features_set_array, features, b"a", view, error=error)
            for shape in ([2, -2], [-2, -2], [large], [least], [1 << 62] * 4, [0, 1 << 62, 1 << 62]):
                array("sizes must be at least 0 and fit memory", shape)
            for strides in ([1, -1], [least, least]):
                array("at least 0", [2, 2], strides)
            array("does not fit memory", [2, 2], [large, large])
            for type in (0, 13, -1):
                array("a type from 1 to 12", [1], type=type)
            for rank in (-1, 65, 0x7fffffff, -0x80000000):
                array("a rank from 0 to 64", [1], rank=rank)
            array("multiple of 4 bytes", [2], data=memory.ctypes.data + 1)
            array("'data' is NULL", [2], data=None, error=kelvin.HandleError)
            array("'shape' is NULL", None, rank=1, error=kelvin.HandleError)

            def image(
                    words, width, height, format=1, row=0, data=memory.ctypes.data, fit=3, turn=1,
                    error=kelvin.FeatureError):
                view = byref(ImageBuffer(data, format, width, height, row))
                refused(words, library.features_set_image, features, b"a", view, turn, fit, error=error)
            for width, height, row in (
                    (-1, 5, 0), (0, 0, 0), (0x7fffffff, 0x7fffffff, 0), (8, 8, 1), (8, 8, -24), (2, 2, large)):
                image("are not an image", width, height, row=row)
            image("pixels from 1 to 13", 2, 2, format=14)
            image("kelvin_features_set_frame", 2, 2, format=9)
            image("'data' is NULL", 2, 2, data=None, error=kelvin.HandleError)
            image("orientation from 1 to 8", 2, 2, turn=-0x80000000, error=kelvin.ParameterError)
            image("fit from 0 to 3", 2, 2, fit=99, error=kelvin.ParameterError)
            refused("there is no feature 'a'", library.features_get_array, features, b"a", byref(Array()))
            """)

    def test_texts_that_are_not_utf_8(self):
        self.assert_ends_well(r"""
            features, strange = library.new["features"](), b"\xff\xfe"
            number = (c_double * 1)(1)
            for call, arguments in (
                    (library.features_set_int64, (strange, 1)), (library.features_set_string, (b"a", strange)),
                    (library.features_set_strings, (b"a", (c_char_p * 1)(strange), 1)),
                    (library.features_set_dictionary, (b"a", (c_char_p * 1)(strange), number, 1))):
                refused("is not UTF-8", call, features, *arguments, error=kelvin.ParameterError)
            refused("NULL", library.features_set_strings, features, b"a", (c_char_p * 2)(b"a", None), 2)
            sizes, pair = (c_int64 * 2)(1, 2), (c_char_p * 2)(b"a", strange)
            refused("is not UTF-8", library.features_set_text_array, features, b"a", pair, sizes, 2, error=kelvin.ParameterError)
            keys, numbers = (c_char_p * 2)(b"a", b"a"), (c_double * 2)(1, 2)
            refused("once", library.features_set_dictionary, features, b"a", keys, numbers, 2)
            """)


class Counts(Hostile):
    def test_counts_of_less_than_nothing(self):
        self.assert_ends_well("""
            features, less = library.new["features"](), (1 << 64) - 1
            for call, arguments in (
                    (library.features_set_int64s, (b"a", (c_int64 * 1)(1), less)),
                    (library.features_set_dictionary, (b"a", (c_char_p * 1)(b"a"), (c_double * 1)(1), less)),
                    (library.features_set_text_array, (b"a", (c_char_p * 1)(b"a"), (c_int64 * 1)(1), less)),
                    (library.features_set_numbered, (b"a", (c_int64 * 1)(1), (c_double * 1)(1), less))):
                refused("do not fit memory", call, features, *arguments)
            refused("do not fit memory", library.model_load_bytes, b"abc", less, None, 0, None, None, byref(c_void_p()))
            """)


class Machines(Hostile):
    """Machines that lack something, imitated."""

    LABEL = 'print(kelvin.Model(NETWORK, units="cpu").predict({"image": SEVEN})["classLabel"])'

    def imported(self, library):
        return subprocess.run(
            [sys.executable, "-c", "import kelvin"], capture_output=True, text=True,
            env={**os.environ, "KELVIN_LIBRARY": str(library)}).stderr

    def test_a_library_older_than_its_header(self):
        compiler = shutil.which("cc") or shutil.which("clang")
        if compiler is None:
            self.skipTest("there is no C compiler")
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder) / "libkelvin.so.0"
            for source, words in (
                    ("int kelvin_abi_version(void) { return 0; }", "has interface 0, and this package needs"),
                    ("int nothing;", "is not libkelvin")):
                subprocess.run(
                    [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=source, text=True, check=True)
                self.assertRegex(self.imported(library), f"ImportError: .*{words}")
            library.write_text("no library")
            self.assertIn("ImportError: libkelvin cannot be loaded", self.imported(library))

    def test_a_processor_without_avx2(self):
        emulator = shutil.which("qemu-x86_64")
        if emulator is None:
            self.skipTest("qemu-x86_64 is not installed: package qemu-user")
        expected = kelvin.Model(NETWORK, units="cpu").predict({"image": pixels()})["probabilities"]
        output = self.assert_ends_well("""
            print([device.driver for device in kelvin.devices() if device.id == "cpu"][0])
            print(*kelvin.Model(NETWORK, units="cpu").predict({"image": pixels})["probabilities"].ravel())
            """, [emulator, "-cpu", "Nehalem"], VK_ICD_FILENAMES="/nonexistent", OCL_ICD_VENDORS="/nonexistent")
        driver, numbers = output.splitlines()
        self.assertIn("portable", driver)
        np.testing.assert_allclose(np.array(numbers.split(), float)[None], expected, rtol=1e-4)

    def test_no_libvips(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "libvips.so.42").touch()
            output = self.assert_ends_well("""
                sys.modules["PIL"] = None
                model = kelvin.Model(DIGITS, units="cpu")
                for given in (SEVEN, open(SEVEN, "rb").read()):
                    refused("pip install kelvin[images]", model.predict, {"image": given}, error=kelvin.FileError)
                print(model.predict({"image": np.zeros((9, 9, 3), np.uint8)})["classLabel"])
                """, LD_LIBRARY_PATH=folder)
            self.assertTrue(output.strip())

    def test_no_drivers(self):
        output = self.assert_ends_well("""
            assert {device.id for device in kelvin.devices() if device.is_available} == {"cpu", "reference"}
            for device in kelvin.devices():
                assert device.is_available or "install" in device.reason, device
            for units in ("vulkan:0", "opencl:0"):
                refused("install", kelvin.Model, NETWORK, units, error=kelvin.DeviceError)
            print(kelvin.Model(NETWORK).predict({"image": SEVEN})["classLabel"])
            """, VK_ICD_FILENAMES="/nonexistent", VK_DRIVER_FILES="/nonexistent", OCL_ICD_VENDORS="/nonexistent")
        self.assertEqual(output.strip(), "seven")

    def test_no_loaders_of_drivers(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("libvulkan.so.1", "libOpenCL.so.1"):
                (pathlib.Path(folder) / name).touch()
            output = self.assert_ends_well("""
                refused("is absent", kelvin.Model, NETWORK, "vulkan:0", error=kelvin.DeviceError)
                refused("is absent", kelvin.Model, NETWORK, "opencl:0", error=kelvin.DeviceError)
                print(kelvin.Model(NETWORK).predict({"image": SEVEN})["classLabel"])
                """, LD_LIBRARY_PATH=folder)
            self.assertEqual(output.strip(), "seven")

    def test_no_place_to_keep_anything(self):
        output = self.assert_ends_well(self.LABEL, KELVIN_CACHE_DIR="/proc/nowhere", HOME="/proc/nowhere")
        self.assertEqual(output.strip(), "seven")


if __name__ == "__main__":
    unittest.main()
