"""The Python package as its users use it, on the embedded model."""
import asyncio
import ctypes
import gc
import importlib.util
import os
import pathlib
import subprocess
import sys
import threading
import unittest
from unittest import mock

import numpy as np

import kelvin
from kelvin.onnx import InferenceSession

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "Examples/Digits/Digits.mlpackage"
NETWORK = ROOT / "Examples/Digits/Digits.onnx"
SEVEN = sorted((ROOT / "Examples/Digits/images").glob("7_*.png"))[0]


def digits():
    return kelvin.Model(NETWORK, units="cpu")


def pixels():
    return np.full((1, 3, 64, 64), 0.5, np.float32)


class Predictions(unittest.TestCase):
    def test_an_image_by_its_path_is_named(self):
        result = kelvin.Model(DIGITS, units="cpu").predict({"image": SEVEN})
        self.assertEqual(result["classLabel"], "7" if result["classLabel"].isdigit() else "seven")
        label, share = next(iter(result["classLabel_probs"].items()))
        self.assertEqual(label, result["classLabel"])
        self.assertGreater(share, 0.5)

    def test_an_image_by_its_bytes_or_its_pixels_is_what_its_file_is(self):
        model = kelvin.Model(DIGITS, units="cpu")
        expected = model.predict({"image": SEVEN})["classLabel_probs"]
        contents = SEVEN.read_bytes()
        for given in (contents, bytearray(contents), memoryview(contents)):
            self.assertEqual(model.predict({"image": given})["classLabel_probs"], expected)
        with self.assertRaisesRegex(kelvin.FileError, "feature 'image': image 'in memory'"):
            model.predict({"image": contents[:20]})
        ramp = np.arange(64 * 64 * 3, dtype=np.uint32).astype(np.uint8).reshape(64, 64, 3)
        layout = np.ascontiguousarray(ramp.transpose(2, 0, 1)[None]).astype(np.float32)
        expected = model.predict({"image": layout})["classLabel_probs"]
        for pixels in (ramp, ramp[::-1].copy()[::-1], np.pad(ramp, ((0, 0), (0, 3), (0, 0)))[:, :64],
                       np.asfortranarray(ramp), np.dstack([ramp, np.full((64, 64), 255, np.uint8)])):
            self.assertEqual(model.predict({"image": pixels})["classLabel_probs"], expected)
        gray = ramp[:, :, 0]
        expected = model.predict({"image": np.dstack([gray] * 3)})["classLabel_probs"]
        for pixels in (gray, gray[:, :, None]):
            self.assertEqual(model.predict({"image": pixels})["classLabel_probs"], expected)

    def test_numbers_of_dictionaries_in_a_sequence_are_floats_where_they_are_whole(self):
        model = kelvin.Model(ROOT / "Tests/Vectors/Parts/zip_map_strings.onnx", units="cpu")
        entries = model.predict({"x": np.float32([[0, 200, 0]])})["entries"]
        self.assertEqual(entries, [{"no": 0.0, "yes": 1.0, "maybe": 0.0}])
        self.assertEqual({type(value) for value in entries[0].values()}, {float})

    def test_texts_in_an_array_are_lists_in_lists(self):
        model = kelvin.Model(ROOT / "Tests/Vectors/Texts/transposed.onnx", units="cpu")
        feature = model.inputs["x"]
        self.assertEqual((feature.type, feature.elements, feature.dtype), ("sequence", "string", "string"))
        for rows in ([["a", "b", "c"], ["d", "", "f"]], np.array([["a", "b", "c"], ["d", "", "f"]], object)):
            self.assertEqual(model.predict({"x": rows})["y"], [["a", "d"], ["b", ""], ["c", "f"]])
        for rows, words in (([["a", "b"], ["c"]], "x"), ([[["a"]]], r"strings \[.*\], got \[1x1x1\]")):
            with self.assertRaisesRegex((kelvin.FeatureError, TypeError, ValueError), words):
                model.predict({"x": rows})
        branches = kelvin.Model(ROOT / "Tests/Vectors/Texts/branches.onnx", units="cpu")
        self.assertEqual(branches.predict({"x": [["a"] * 3] * 2, "number": np.float32([1])})["word"], "yes")

    def test_a_sequence_is_a_list_of_arrays(self):
        model = kelvin.Model(ROOT / "Tests/Vectors/Sequences/insert.onnx", units="cpu")
        self.assertEqual((model.inputs["given"].type, model.inputs["given"].elements), ("sequence", "multiArray"))
        given = [np.arange(6, dtype=np.float32).reshape(2, 3), np.float32([7])]
        for arrays in (given, given[:1]):
            result = model.predict({"given": arrays, "x": np.float32([1, 2]), "place": np.array(0)})
            for found, expected in zip(result["longer"], [np.float32([1, 2]), *arrays]):
                np.testing.assert_array_equal(found, expected)
            self.assertEqual((len(result["longer"]), len(result["shorter"])), (len(arrays) + 1, len(arrays) - 1))
            self.assertEqual(result["count"], len(arrays) + 1)
        optional = kelvin.Model(ROOT / "Tests/Vectors/Sequences/maybe.onnx", units="cpu")
        self.assertEqual(len(optional.predict({"x": np.float32([1, 2])})["result"]), 1)
        self.assertEqual(len(optional.predict({"x": np.float32([1, 2]), "given": given})["result"]), 3)

    def test_an_array_is_read_where_it_lies(self):
        from kelvin.values import described, borrowable
        array = pixels()
        self.assertIs(borrowable("image", array), array)
        for other in (array, np.asfortranarray(array), np.repeat(array, 2, axis=3)[..., ::2]):
            view, _ = described(other)
            self.assertEqual(int.from_bytes(view[:8], sys.byteorder), other.ctypes.data)

    def test_a_result_in_the_librarys_memory_outlives_its_model(self):
        model = digits()
        result = model.predict({"image": pixels()})["probabilities"]
        self.assertFalse(result.flags.owndata)
        kept = result.copy()
        model.close()
        del model
        gc.collect()
        np.testing.assert_array_equal(result, kept)

    def test_arrays_of_the_usual_sizes_are_predicted_from_by_one_call_with_the_same_results(self):
        model = kelvin.Model(ROOT / "Tests/Vectors/Transformers/tiny_vit_torchscript.onnx", units="cpu")
        array = np.random.default_rng(1).random((1, 3, 20, 20), np.float32)
        calls, library = [], kelvin.model.library
        with mock.patch.object(library, "predict", side_effect=lambda *_: calls.append("features")):
            direct = model.predict({"image": array})
        self.assertEqual(calls, [])
        usual = model._predict({"image": array}, {}, None, "scale-fill", None)
        self.assertEqual(list(direct), list(usual))
        for name, value in direct.items():
            self.assertTrue(value.flags.owndata)
            np.testing.assert_array_equal(value, usual[name])
        mine = np.zeros_like(direct["logits"])
        self.assertIs(model.predict({"image": array}, outputs={"logits": mine})["logits"], mine)
        np.testing.assert_array_equal(mine, direct["logits"])
        with self.assertRaisesRegex(kelvin.FeatureError, "no output 'nothing'"):
            model.predict({"image": array}, outputs={"nothing": np.zeros(1, np.float32)})
        with self.assertRaisesRegex(kelvin.FeatureError, "no value was given"):
            model.predict({})
        with self.assertRaisesRegex(kelvin.FeatureError, "no input 'photo'"):
            model.predict({"photo": array})

    def test_outputs_of_other_sizes_than_usual_are_as_large_as_they_are(self):
        model = kelvin.Model(ROOT / "Tests/Python/places.onnx", units="cpu")
        for row in ([0, 3, 0, 4], [1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 5, 0]):
            found = model.predict({"x": np.array(row, np.float32)})["places"]
            np.testing.assert_array_equal(found, np.array([np.flatnonzero(row)], np.int64))

    def test_other_librarys_arrays_are_taken_and_given_by_dlpack(self):
        class Foreign:
            """An array of a library that knows DLPack alone."""

            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()
        model = digits()
        expected = model.predict({"image": pixels()})["probabilities"]
        result = model.predict({"image": Foreign(pixels())})["probabilities"]
        np.testing.assert_array_equal(result, expected)
        self.assertEqual(np.from_dlpack(result).ctypes.data, result.ctypes.data)
        mine = np.zeros((1, 10), np.float32)
        # Older versions of NumPy treat every DLPack tensor as read-only.
        if np.from_dlpack(mine).flags.writeable:
            result = model.predict({"image": pixels()}, outputs={"probabilities": Foreign(mine)})["probabilities"]
            self.assertEqual(result.ctypes.data, mine.ctypes.data)
            np.testing.assert_array_equal(mine, expected)

    def test_a_foreign_array_is_read_where_it_lies_and_one_elsewhere_is_refused(self):
        from kelvin.values import Features

        class Elsewhere:
            """An array on a graphics card."""

            def __dlpack__(self, **options):
                raise BufferError("it is in the memory of CUDA device 0")

            def __dlpack_device__(self):
                return 2, 0
        given, array = Features(), pixels()
        given.set("image", np.from_dlpack(array), digits().inputs["image"])
        self.assertEqual(given.get("image").ctypes.data, array.ctypes.data)
        with self.assertRaisesRegex(kelvin.FeatureError, "bring it to the CPU"):
            digits().predict({"image": Elsewhere()})

    def test_sizes_that_a_model_leaves_open_are_as_large_as_what_is_given(self):
        model = kelvin.Model(ROOT / "Tests/Vectors/Transformers/tiny_vit_torchscript.onnx", units="cpu")
        self.assertEqual(model.inputs["image"].size_ranges, ((0, None), (3, 3), (20, 20), (20, 20)))
        images = np.random.default_rng(0).random((5, 3, 20, 20), np.float32)
        together = model.predict({"image": images})["logits"]
        self.assertEqual(together.shape, (5, 7))
        for index in range(5):
            one = model.predict({"image": images[index:index + 1]})["logits"]
            np.testing.assert_allclose(together[index:index + 1], one, atol=1e-5)
        for count in (3, 1, 4):
            self.assertEqual(model.predict({"image": images[:count]})["logits"].shape, (count, 7))
        with self.assertRaisesRegex(kelvin.FeatureError, "expected a shape of N≥0 x 3 x 20 x 20, got 1x3x21x20"):
            model.predict({"image": np.zeros((1, 3, 21, 20), np.float32)})

    def test_sizes_that_nobody_says_are_those_of_the_first_prediction(self):
        # all = Concat(past, new) along axis 1; sum = ReduceSum(all) along it.
        path = ROOT / "Tests/Python/open_sizes.onnx"
        model = kelvin.Model(path, units="cpu")
        self.assertEqual(model.inputs["past"].size_ranges, ((0, None), (0, None), (4, 4)))
        self.assertEqual(model.remarks, [])
        self.assertEqual(model.check_devices(), [])
        with self.assertRaisesRegex(kelvin.FeatureError, "give the option 'shape', or predict first"):
            model.plan()
        with self.assertRaisesRegex(kelvin.FeatureError, "past"):
            model.predict({"new": np.ones((1, 2, 4), np.float32)})
        self.assertEqual(model.predict([]), [])
        held = np.zeros((1, 0, 4), np.float32)
        for count in (3, 1, 1):
            new = np.random.default_rng(count).random((1, count, 4), np.float32)
            result = model.predict({"past": held, "new": new})
            held = np.concatenate([held, new], axis=1)
            np.testing.assert_array_equal(result["all"], held)
            np.testing.assert_allclose(result["sum"], held.sum(1, keepdims=True), rtol=1e-6)
        self.assertGreater(len(model.plan().layers), 0)
        session = InferenceSession(path)
        self.assertEqual(session.get_inputs()[0].shape, [None, None, 4])
        self.assertEqual(session.run(["all"], {"past": held, "new": held})[0].shape, (1, 10, 4))

    def test_a_state_is_read_written_and_carried_on(self):
        model = kelvin.Model(ROOT / "Tests/Vectors/Decoder/growing.mlpackage", units="cpu")
        state = model.make_state()
        given = {"ids": np.array([[3]], np.int32), "mask": np.zeros((1, 1, 1, 1), np.float32)}
        model.predict(given, state=state)
        left = state.read("keys")
        self.assertTrue(left.any())
        state.write("keys", np.zeros_like(left))
        self.assertFalse(state.read("keys").any())
        with self.assertRaisesRegex(kelvin.FeatureError, "no state 'memory'"):
            state.read("memory")

    def test_an_output_is_written_to_the_callers_array(self):
        mine = np.full((1, 10), -1, np.float32)
        result = digits().predict({"image": pixels()}, outputs={"probabilities": mine})
        self.assertEqual(result["probabilities"].ctypes.data, mine.ctypes.data)
        self.assertAlmostEqual(float(mine.sum()), 1, places=4)

    def test_layouts_and_types_that_cannot_be_lent_are_copied_and_give_the_same(self):
        model = digits()
        rng = np.random.default_rng(0)
        array = rng.random((1, 3, 64, 64)).astype(np.float32)
        expected = model.predict({"image": array})["probabilities"].copy()
        readonly = array.copy()
        readonly.flags.writeable = False
        shifted = np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(np.float32).reshape(array.shape)
        for other in (
                np.asfortranarray(array), array[:, ::-1][:, ::-1], array.transpose(0, 2, 3, 1).copy().transpose(0, 3, 1, 2),
                array.astype(">f4"), readonly, shifted, array.astype(np.float64),
                np.repeat(array, 2, axis=3)[..., ::2], array[:, :, ::-1].copy()[:, :, ::-1]):
            np.testing.assert_array_equal(model.predict({"image": other})["probabilities"], expected)

    def test_a_batch_gives_what_single_predictions_give(self):
        model = digits()
        items = [{"image": np.full((1, 3, 64, 64), level / 8, np.float32)} for level in range(8)]
        for item, result in zip(items, model.predict(items)):
            np.testing.assert_array_equal(model.predict(item)["probabilities"], result["probabilities"])
        self.assertEqual(model.predict([]), [])

    def test_eight_threads_predict_at_once(self):
        model = digits()
        expected = model.predict({"image": pixels()})["probabilities"].copy()
        wrong = []

        def work():
            for _ in range(50):
                if not np.array_equal(model.predict({"image": pixels()})["probabilities"], expected):
                    wrong.append(1)
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_an_event_loop_goes_on_meanwhile(self):
        async def both():
            model = digits()
            return await asyncio.gather(*(model.predict_async({"image": pixels()}) for _ in range(4)))
        self.assertEqual(len(asyncio.run(both())), 4)

    def test_a_cancelled_task_ends_its_prediction_alone(self):
        async def one_of_two():
            model = digits()
            many = [{"image": pixels()} for _ in range(4000)]
            tasks = [asyncio.create_task(model.predict_async(many)), asyncio.create_task(model.predict_async(many[0]))]
            await tasks[1]
            tasks[0].cancel()
            with self.assertRaises(asyncio.CancelledError):
                await tasks[0]
            return tasks[1].result()
        self.assertIn("classLabel", asyncio.run(one_of_two()))
        cancellation = kelvin.Cancellation()
        cancellation.cancel()
        with self.assertRaisesRegex(kelvin.CancelledError, "cancelled"):
            digits().predict({"image": pixels()}, cancellation=cancellation)

    def test_other_threads_of_python_run_while_the_library_computes(self):
        from kelvin._library import library
        from kelvin.values import Features
        model, counted, begin = digits(), [], threading.Event()
        given = [model._features({"image": pixels()}, "exact") for _ in range(500)]
        results = [Features() for _ in given]
        handles = [(ctypes.c_void_p * len(each))(*(item.handle for item in each)) for each in (given, results)]

        def count():
            begin.wait()
            counted.extend(range(1000))
        # The interpreter does not switch from this thread, which would have to release the lock.
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(10)
        thread = threading.Thread(target=count)
        thread.start()
        begin.set()
        library.predict_batch(model._handle, *handles, len(given), None)
        self.assertEqual(len(counted), 1000)
        thread.join()

    def test_a_model_in_memory_predicts_as_its_file(self):
        given = {"image": pixels()}
        expected = digits().predict(given)["probabilities"]
        np.testing.assert_array_equal(kelvin.Model(NETWORK.read_bytes(), units="cpu").predict(given)["probabilities"], expected)
        inner = DIGITS / "Data/com.apple.CoreML"
        model = kelvin.Model(
            (inner / "model.mlmodel").read_bytes(), units="cpu",
            files={"weight.bin": (inner / "weights/weight.bin").read_bytes()})
        self.assertEqual(
            model.predict({"image": SEVEN})["classLabel"], kelvin.Model(DIGITS, units="cpu").predict({"image": SEVEN})["classLabel"])


class Errors(unittest.TestCase):
    def test_each_says_what_was_expected_and_what_helps(self):
        model = digits()
        for error, words, given in (
                (kelvin.FeatureError, "shape", {"image": np.zeros((1, 3, 64, 63), np.float32)}),
                (kelvin.FeatureError, "no input 'photo'", {"photo": pixels()}),
                (kelvin.FeatureError, "astype", {"image": pixels().astype(complex)}),
                (kelvin.FeatureError, "no value was given", {}),
                (kelvin.FeatureError, "expected an image", {"image": object()}),
                (OSError, "nowhere.png", {"image": "/nowhere.png"}),
                (TypeError, "dictionary", 7)):
            with self.subTest(words), self.assertRaisesRegex(error, words):
                model.predict(given)
        readonly = np.zeros((1, 10), np.float32)
        readonly.flags.writeable = False
        with self.assertRaisesRegex(kelvin.FeatureError, "read-only"):
            model.predict({"image": pixels()}, outputs={"probabilities": readonly})
        with self.assertRaisesRegex(kelvin.FeatureError, "no output 'scores'"):
            model.predict({"image": pixels()}, outputs={"scores": np.zeros(1, np.float32)})

    def test_files_and_options_that_cannot_be(self):
        with self.assertRaisesRegex(kelvin.FileError, "no such file"):
            kelvin.Model("/nowhere.onnx")
        with self.assertRaisesRegex(kelvin.ParameterError, "there is no option 'colour'"):
            kelvin.Model(NETWORK, colour="red")
        with self.assertRaises(kelvin.DeviceError):
            kelvin.Model(NETWORK, units="warp:7")
        with self.assertRaises(TypeError):
            kelvin.Model(7)

    def test_a_closed_model_is_refused_and_a_forked_child_too(self):
        model = digits()
        model.close()
        with self.assertRaisesRegex(kelvin.HandleError, "released"):
            model.predict({"image": pixels()})
        other = digits()
        child = os.fork()
        if child == 0:
            try:
                other.predict({"image": pixels()})
            except kelvin.HandleError as error:
                os._exit(0 if "forked" in str(error) else 2)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_library_that_is_not_there_is_an_import_error(self):
        result = subprocess.run(
            [sys.executable, "-c", "import kelvin"], env={**os.environ, "KELVIN_LIBRARY": "/nowhere/libkelvin.so.0"},
            capture_output=True, text=True)
        self.assertIn("ImportError: libkelvin cannot be loaded", result.stderr)


class Tables(unittest.TestCase):
    def test_a_plan_names_a_device_and_a_reason_for_every_layer(self):
        plan = digits().plan()
        self.assertGreater(len(plan), 3)
        self.assertEqual({layer.device for layer in plan}, {"cpu"})
        self.assertTrue(all(layer.reason for layer in plan))
        self.assertIn("LAYER", str(plan))
        self.assertIn("<table ", plan._repr_html_())
        self.assertEqual(plan._repr_html_().count("<span title="), len(plan))
        self.assertIn("<!DOCTYPE html>", plan.html())
        self.assertEqual([layer.name for layer in kelvin.plan(NETWORK, units="cpu")], [layer.name for layer in plan])

    def test_devices_are_those_of_the_machine(self):
        self.assertIn("cpu", [device.id for device in kelvin.devices() if device.is_available])

    def test_a_profile_has_costs_of_every_layer(self):
        profile = kelvin.profile(NETWORK, units="cpu", seconds=0.2, no_cache=True)
        costs = [layer.costs["cpu"] for layer in profile]
        # Over a layer of half a microsecond a clock may stand still.
        self.assertTrue(min(costs) >= 0 and sum(costs) > 0)

    def test_ways_to_run_a_model_are_compared(self):
        comparison = kelvin.bench(NETWORK, str(ROOT / "bench/workloads/round.json"), [{"units": "cpu"}])
        self.assertGreater(comparison[0].p50, 0)
        self.assertTrue(comparison.verdict)
        self.assertIn("CONFIGURATION", str(comparison))

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_tables_become_frames(self):
        plan = digits().plan()
        frame = plan.frame()
        self.assertEqual(list(frame["name"]), [layer.name for layer in plan])
        self.assertEqual(set(frame["device"]), {"cpu"})
        self.assertIn("cpu", set(kelvin.devices().frame()["id"]))
        profile = kelvin.profile(NETWORK, units="cpu", seconds=0.2, no_cache=True)
        self.assertEqual(len(profile.frame()), len(profile))

    def test_descriptions_are_typed(self):
        model = kelvin.Model(DIGITS, units="cpu")
        self.assertEqual(model.inputs["image"].shape, (64, 64))
        self.assertEqual(model.description.predicted_feature, "classLabel")
        self.assertEqual(len(model.description.class_labels), 10)
        self.assertEqual(digits().outputs["probabilities"].dtype, "float32")


if __name__ == "__main__":
    unittest.main()
