"""Predictions of arrays by one call of the library: by ctypes, and in C where that part of the package is built."""
import collections
import ctypes
import os
import pathlib
import sys
import threading
import types
import unittest
import warnings
import weakref
from unittest import mock

import numpy as np

import kelvin
from kelvin import arrays

ROOT = pathlib.Path(__file__).resolve().parents[2]
VIT = ROOT / "Tests/Vectors/Transformers/tiny_vit_torchscript.onnx"


def loaded():
    return kelvin.Model(VIT, units="cpu")


def pixels():
    return np.random.default_rng(1).random((1, 3, 20, 20), np.float32)


def calls(model):
    """Each way to predict with a model by one call."""
    usual = arrays.array_call(model._handle, model.description)
    with mock.patch.object(arrays, "predictor", None):
        plain = arrays.array_call(model._handle, model.description)
    return [plain] if arrays.predictor is None else [plain, usual]


def seen_count(name):
    """The number of the seven numbers that remain visible."""
    return 6 if name == "a view" else 7


class Calls(unittest.TestCase):
    SHAPE = (1, 7)

    def test_they_take_arrays_as_they_have_to_be_and_leave_all_else_to_features(self):
        model = loaded()
        given = {"image": pixels()}
        expected = model._predict(given, {}, None, "exact", None)["logits"]
        longer = np.zeros(3 * 20 * 20 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(1, 3, 20, 20)

        class Own(np.ndarray):
            pass
        for call in calls(model):
            for inputs, outputs in ((given, None), (given, {}), (given, {"logits": np.zeros(self.SHAPE, np.float32)})):
                found = call(inputs, outputs, None)
                self.assertEqual(list(found), ["logits"])
                np.testing.assert_array_equal(found["logits"], expected)
                if outputs:
                    self.assertIs(found["logits"], outputs["logits"])
            self.assertTrue(call(given, None, None)["logits"].flags.owndata)
            for image in (
                    pixels()[0], pixels().astype(np.float64), pixels().astype(">f4"), np.asfortranarray(pixels()), longer,
                    pixels()[..., ::2], pixels().view(Own), pixels().tolist(), b"", None):
                self.assertIsNone(call({"image": image}, None, None))
            for inputs in ([], None, {}, {"photo": pixels()}, {"image": pixels(), "photo": pixels()}):
                self.assertIsNone(call(inputs, None, None))
            for array in (
                    np.zeros(self.SHAPE[1], np.float32), np.zeros(self.SHAPE), np.broadcast_to(np.float32(0), self.SHAPE),
                    np.zeros((1, 2 * self.SHAPE[1]), np.float32)[:, ::2], [0.0] * 7, None):
                self.assertIsNone(call(given, {"logits": array}, None))
            self.assertIsNone(call(given, {"scores": np.zeros(self.SHAPE, np.float32)}, None))
            self.assertIsNone(
                call(given, {"logits": np.zeros(self.SHAPE, np.float32), "scores": np.zeros(1, np.float32)}, None))
        mine = np.zeros(self.SHAPE, np.float32)
        found = model.predict(given, outputs=types.MappingProxyType({"logits": mine}))
        self.assertIs(found["logits"], mine)
        np.testing.assert_array_equal(mine, expected)

    def test_what_they_hand_out_nobody_else_sees(self):
        model, random = loaded(), np.random.default_rng(3)
        images = [random.random((1, 3, 20, 20), np.float32) for _ in range(5)]
        truths = [model._predict({"image": image}, {}, None, "exact", None)["logits"].copy() for image in images]
        # Objects that keep a result alive after the array itself is released.
        keepers = {
            "the array": lambda array: array, "a view": lambda array: array[0, 1:],
            "a reshaped one": lambda array: array.ravel(), "a transposed one": lambda array: array.T,
            "a buffer": memoryview, "a view of bytes": lambda array: array.view("u1"),
            "ctypes": lambda array: (ctypes.c_float * 7).from_buffer(array), "of ctypes": lambda array: array.ctypes,
            "an iterator": lambda array: array.flat, "a subclass": lambda array: array.view(np.matrix),
            "DLPack": lambda array: array.__dlpack__(), "another's": lambda array: np.from_dlpack(array),
            "an interface": lambda array: np.asarray(types.SimpleNamespace(
                __array_interface__=array.__array_interface__, array=array)),
            "a generator": lambda array: (value for value in array), "a closure": lambda array: lambda: array,
        }

        def seen(name, kept):
            if name == "DLPack":
                capsule = kept

                class Foreign:
                    def __dlpack__(self, **_):
                        return capsule

                    def __dlpack_device__(self):
                        return (1, 0)
                kept = np.from_dlpack(Foreign())
            elif name == "of ctypes":
                kept = np.ctypeslib.as_array(ctypes.cast(kept.data, ctypes.POINTER(ctypes.c_float)), (7,))
            elif name in ("a generator", "an iterator"):
                kept = np.array(list(kept))
            elif name == "a closure":
                kept = kept()
            elif name == "a view of bytes":
                kept = kept.view(np.float32)
            return np.array(kept, np.float32).ravel()
        for call in calls(model):
            for name, keep in keepers.items():
                with self.subTest(name):
                    kept = [keep(call({"image": image}, None, None)["logits"]) for image in images]
                    for image in images:
                        call({"image": image}, None, None)["logits"].fill(-1)
                    for one, truth in zip(kept, truths):
                        np.testing.assert_array_equal(seen(name, one), truth.ravel()[-seen_count(name):])

        changes = {
            "shape": lambda array: setattr(array, "shape", (7,)), "type": lambda array: setattr(array, "dtype", np.int32),
            "flags": lambda array: array.setflags(write=False), "size": lambda array: array.resize((2, 9), refcheck=False),
            "strides": lambda array: setattr(array, "strides", (4, 0)),
        }
        for call in calls(model):
            for name, change in changes.items():
                with self.subTest(name), warnings.catch_warnings():
                    warnings.simplefilter("ignore", DeprecationWarning)
                    for image, truth in zip(images, truths):
                        change(call({"image": image}, None, None)["logits"])
                        found = call({"image": image}, None, None)["logits"]
                        self.assertTrue(found.flags.carray and found.flags.owndata and found.dtype == np.float32)
                        np.testing.assert_array_equal(found, truth)
            ended = []
            array = call({"image": images[0]}, None, None)["logits"]
            reference = weakref.ref(array, lambda _: ended.append(True))
            del array
            for image in images:
                found = call({"image": image}, None, None)["logits"]
                self.assertIsNot(found, reference())
            self.assertEqual((reference(), ended), (None, [True]))

    def test_a_steady_loop_gets_the_same_few_arrays_and_a_list_none_twice(self):
        model = loaded()
        is_built = arrays.predictor is not None
        call = model._chosen_call()
        places, result = set(), None
        for _ in range(100):
            result = call({"image": pixels()}, None, None)
            places.add(id(result["logits"]))
        if is_built:
            self.assertEqual(len(places), 2)
        held = [call({"image": pixels()}, None, None)["logits"] for _ in range(100)]
        self.assertEqual(len({array.ctypes.data for array in held}), 100)
        held.clear()
        model.close()
        self.assertIsNone(model._call)

    def test_threads_that_drop_and_keep_results_never_share_one(self):
        model, random, wrong = loaded(), np.random.default_rng(4), []
        images = [random.random((1, 3, 20, 20), np.float32) for _ in range(8)]
        truths = [model._predict({"image": image}, {}, None, "exact", None)["logits"].copy() for image in images]
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-5)
        for call in calls(model):
            def work(image, truth, call=call):
                kept = collections.deque(maxlen=3)
                for turn in range(100):
                    found = call({"image": image}, None, None)["logits"]
                    kept.append(found if turn % 3 else found[0])
                    if any(not np.array_equal(one.ravel(), truth.ravel()) for one in kept):
                        wrong.append(turn)
            threads = [threading.Thread(target=work, args=each) for each in zip(images, truths)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(wrong, [])

    def test_they_keep_nothing_of_what_they_were_given(self):
        model = loaded()
        image, mine, other = pixels(), np.zeros(self.SHAPE, np.float32), pixels()[0]
        closed = loaded()
        refused = calls(closed)
        closed.close()

        def counts():
            return [sys.getrefcount(each) for each in (image, mine, other, image.dtype, mine.dtype)]
        for call, refusing in zip(calls(model), refused):
            before = None
            for _ in range(20):
                found = call({"image": image}, None, None)
                # One in the dictionary, one of the call's, one kept for the next.
                self.assertLessEqual(sys.getrefcount(found["logits"]), 3)
                call({"image": image}, {"logits": mine}, None)
                call({"image": other}, {"logits": mine}, None)
                call({"image": image}, {"logits": other}, None)
                with self.assertRaisesRegex(kelvin.HandleError, "released"):
                    refusing({"image": image}, {"logits": mine}, None)
                del found
                before = before or counts()
            self.assertEqual(counts(), before)

    def test_the_part_in_c_is_used_where_it_is_built(self):
        is_built = any(pathlib.Path(kelvin.__file__).parent.glob("_calls*.so"))
        self.assertEqual(arrays.predictor is not None, is_built)
        call = loaded()._chosen_call()
        self.assertEqual(isinstance(call, types.BuiltinFunctionType), is_built)
        if not is_built:
            return
        row = ("x", b"x", (1,), np.dtype("f4"), 2)
        self.assertIsNone(arrays.predictor(0, 0, 0, kelvin.errors.error, (row,) * 33, (row,)))
        for rows in ([row], (row[:4],), (("x", b"x", [1], np.dtype("f4"), 2),), (("x", b"x", ("1",), np.dtype("f4"), 2),)):
            with self.assertRaises((TypeError, SystemError)):
                arrays.predictor(0, 0, 0, kelvin.errors.error, (row,), rows)
        for arguments in ((), ({},), ({}, None, "1")):
            with self.assertRaises(TypeError):
                call(*arguments)

    def test_eight_threads_make_them_at_once(self):
        model, wrong = loaded(), []
        for call in calls(model):
            expected = call({"image": pixels()}, None, None)["logits"]

            def work(call=call, expected=expected):
                mine = np.zeros(self.SHAPE, np.float32)
                for _ in range(50):
                    for borrowed in (None, {"logits": mine}):
                        if not np.array_equal(call({"image": pixels()}, borrowed, None)["logits"], expected):
                            wrong.append(borrowed)
            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(wrong, [])

    def test_what_the_library_refuses_they_raise(self):
        model, cancellation = loaded(), kelvin.Cancellation()
        cancellation.cancel()
        for call in calls(model):
            with self.assertRaisesRegex(kelvin.CancelledError, "cancelled"):
                call({"image": pixels()}, None, cancellation.handle)
            child = os.fork()
            if child == 0:
                try:
                    call({"image": pixels()}, None, None)
                except kelvin.HandleError as error:
                    os._exit(0 if "forked" in str(error) else 2)
                os._exit(1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
        model.close()
        with self.assertRaisesRegex(kelvin.HandleError, "released"):
            model.predict({"image": pixels()})

    def test_other_threads_of_python_run_while_they_compute(self):
        # The interpreter does not switch from this thread, which would have to release the lock.
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(10)
        model = loaded()
        for call in calls(model):
            counted, begin = [], threading.Event()

            def count(counted=counted, begin=begin):
                begin.wait()
                counted.extend(range(1000))
            thread = threading.Thread(target=count)
            thread.start()
            begin.set()
            for _ in range(500):
                call({"image": pixels()}, None, None)
            self.assertEqual(len(counted), 1000)
            thread.join()


if __name__ == "__main__":
    unittest.main()
