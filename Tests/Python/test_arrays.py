"""Predictions of arrays by one call of the library: by ctypes, and in C where that part of the package is built."""
import os
import pathlib
import sys
import threading
import types
import unittest
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
            for inputs in ({}, {"picture": pixels()}, {"image": pixels(), "picture": pixels()}):
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
                self.assertEqual(sys.getrefcount(found["logits"]), 2)
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
        call = loaded()._array_call
        self.assertEqual(isinstance(call, types.BuiltinFunctionType), is_built)
        if not is_built:
            return
        row = ("x", b"x", (1,), np.dtype("f4"), 2)
        self.assertIsNone(arrays.predictor(0, 0, 0, kelvin.errors.error, (row,) * 33, (row,)))
        for rows in ([row], (row[:4],), (("x", b"x", [1], np.dtype("f4"), 2),), (("x", b"x", ("1",), np.dtype("f4"), 2),)):
            with self.assertRaises((TypeError, SystemError)):
                arrays.predictor(0, 0, 0, kelvin.errors.error, (row,), rows)
        for arguments in ((), ({},), ([], None, None), ({}, None, "1")):
            with self.assertRaises(TypeError):
                call(*arguments)

    def test_eight_threads_make_them_at_once(self):
        model, wrong = loaded(), []
        for call in calls(model):
            expected = call({"image": pixels()}, None, None)["logits"]

            def work(call=call, expected=expected):
                mine = np.zeros(self.SHAPE, np.float32)
                for _ in range(50):
                    for lent in (None, {"logits": mine}):
                        if not np.array_equal(call({"image": pixels()}, lent, None)["logits"], expected):
                            wrong.append(lent)
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
        # The interpreter takes nothing from this thread, which would have to let go of it.
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
