"""The session for scripts that were written for ONNX Runtime."""
import pathlib
import threading
import unittest

import numpy as np

import kelvin
import kelvin.onnx as ort

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORK = ROOT / "Examples/Digits/Digits.onnx"


def pixels():
    return np.full((1, 3, 64, 64), 0.5, np.float32)


def session(**options):
    return ort.InferenceSession(str(NETWORK), providers=["CPUExecutionProvider"], **options)


class Sessions(unittest.TestCase):
    def test_options_of_every_script_may_be_set_and_those_that_mean_something_do(self):
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        options.intra_op_num_threads, options.inter_op_num_threads = 1, 1
        options.enable_mem_pattern = options.enable_cpu_mem_arena = False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_free_dimension_override_by_name("N", 4)
        self.assertEqual(options.get_session_config_entry("session.intra_op.allow_spinning"), "0")
        ort.set_default_logger_severity(3)
        ort.set_default_logger_verbosity(0)
        scores, = session(sess_options=options).run(["probabilities"], {"image": pixels()})
        self.assertEqual(scores.shape, (1, 10))
        options.intra_op_num_threads = -1
        with self.assertRaisesRegex(kelvin.ParameterError, "threads"):
            session(sess_options=options)
        self.assertEqual(ort.__version__, kelvin.__version__)

    def test_providers_are_kelvins_with_options_of_their_own(self):
        made = ort.InferenceSession(
            NETWORK, providers=["CUDAExecutionProvider", ("cpu", {"threads": 1}), "CPUExecutionProvider"])
        self.assertEqual(made.get_providers(), ["cpu", "CPUExecutionProvider"])
        self.assertEqual(made.get_provider_options(), {"cpu": {"threads": 1}, "CPUExecutionProvider": {}})
        self.assertTrue(set(made.get_providers()) <= set(ort.get_all_providers()))
        expected, = made.run(["probabilities"], {"image": pixels()})
        made.set_providers(["CPUExecutionProvider"], [{"threads": 1}])
        self.assertEqual(made.get_provider_options(), {"CPUExecutionProvider": {"threads": 1}})
        np.testing.assert_allclose(made.run(["probabilities"], {"image": pixels()})[0], expected, atol=1e-5)
        made.disable_fallback()
        made.enable_fallback()
        self.assertEqual((made.get_overridable_initializers(), made.end_profiling()), ([], ""))
        for providers, options, words in (
                (["CUDAExecutionProvider"], None, "is Kelvin's"), (["cpu"], [{}, {}], "for each of 1 providers, got 2"),
                ([("cpu", {"colour": "red"})], None, "there is no option 'colour'")):
            with self.assertRaisesRegex(kelvin.ParameterError, words):
                ort.InferenceSession(NETWORK, providers=providers, provider_options=options)

    def test_texts_are_arrays_of_objects_with_their_shape(self):
        made = ort.InferenceSession(ROOT / "Tests/Vectors/Texts/transposed.onnx", providers=["CPUExecutionProvider"])
        self.assertEqual([(item.type, item.shape) for item in made.get_inputs()], [("tensor(string)", [None, None])])
        given = np.array([["a", "b", "größer"], ["d", "", "f"]], object)
        found, _, flat = made.run(None, {"x": given})
        self.assertEqual((found.dtype, found.shape, flat.shape), (object, (3, 2), (1, 6)))
        np.testing.assert_array_equal(found, given.T)
        np.testing.assert_array_equal(made.run(["y"], {"x": given.astype(str)})[0], given.T)

    def test_an_array_of_no_texts_keeps_its_shape(self):
        made = ort.InferenceSession(ROOT / "Tests/Vectors/Texts/transposed.onnx", providers=["CPUExecutionProvider"])
        found, = made.run(["y"], {"x": np.empty((3, 0), object)})
        self.assertEqual((found.dtype, found.shape), (object, (0, 3)))

    def test_texts_that_are_none_or_make_no_array_are_refused(self):
        made = ort.InferenceSession(ROOT / "Tests/Vectors/Texts/transposed.onnx", providers=["CPUExecutionProvider"])
        for given, words in (
                (np.array([["a", None]], object), "got None among them"), ([["a", "b"], ["c"]], "lists of 1, 2 elements"),
                ([["a", "b"], ["c", ["d"]]], "got lists and strings")):
            with self.assertRaisesRegex(kelvin.FeatureError, words):
                made.run(None, {"x": given})
        np.testing.assert_array_equal(made.run(["y"], {"x": [["a", "b"], ["c", "d"]]})[0], [["a", "c"], ["b", "d"]])

    def test_initializers_that_are_inputs_too_may_be_given(self):
        made = ort.InferenceSession(ROOT / "Tests/Vectors/Overrides/affine.onnx", providers=["CPUExecutionProvider"])
        self.assertEqual([item.name for item in made.get_inputs()], ["x"])
        overridable = {item.name: (item.type, item.shape) for item in made.get_overridable_initializers()}
        self.assertEqual(overridable, {"scale": ("tensor(float)", [3]), "offset": ("tensor(float)", [3]), "unused": ("tensor(float)", [2])})
        x, zeros = np.float32([[1, 2, 3], [4, 5, 6]]), np.zeros(3, np.float32)
        usual, = made.run(None, {"x": x})
        np.testing.assert_array_equal(made.run(None, {"x": x, "scale": zeros + 2, "offset": zeros})[0], 2 * x)
        np.testing.assert_array_equal(made.run(None, {"x": x, "scale": [3, 3, 3], "offset": zeros})[0], 3 * x)
        np.testing.assert_array_equal(made.run(None, {"x": x})[0], usual)
        with self.assertRaisesRegex(kelvin.FeatureError, "scale"):
            made.run(None, {"x": x, "scale": np.zeros(4, np.float32)})

    def test_numbers_may_come_in_lists(self):
        made = session()
        expected, = made.run(["probabilities"], {"image": pixels()})
        found, = made.run(["probabilities"], {"image": pixels().tolist()})
        np.testing.assert_array_equal(found, expected)

    def test_values_and_bindings_are_where_they_were_made(self):
        made, image = session(), pixels()
        name, output = made.get_inputs()[0].name, "probabilities"
        expected, = made.run([output], {name: image})
        value, place = ort.OrtValue.ortvalue_from_numpy(image), ort.OrtValue.ortvalue_from_shape_and_type((1, 10), np.float32)
        self.assertEqual(value.data_ptr(), image.ctypes.data)
        self.assertEqual((value.data_type(), value.element_type(), value.shape()), ("tensor(float)", 1, [1, 3, 64, 64]))
        self.assertTrue(value.has_value() and value.is_tensor())
        self.assertFalse(value.is_sparse_tensor() or value.is_tensor_sequence())
        binding = made.io_binding()
        binding.bind_ortvalue_input(name, value)
        binding.bind_ortvalue_output(output, place)
        made.run_with_iobinding(binding, ort.RunOptions())
        np.testing.assert_array_equal(place.numpy(), expected)
        value.update_inplace(np.zeros_like(image))
        self.assertEqual(image.max(), 0)
        made.run_with_iobinding(binding)
        self.assertFalse(np.array_equal(place.numpy(), expected))
        self.assertEqual(binding.get_outputs()[0].data_ptr(), place.data_ptr())
        for array in (np.zeros((1, 3, 64), np.float32), np.zeros((1, 3, 64, 64))):
            with self.assertRaisesRegex(kelvin.FeatureError, "of shape"):
                value.update_inplace(array)

    def test_a_run_on_another_thread_calls_back_with_results_or_words(self):
        made, found, done = session(), [], threading.Semaphore(0)

        def called(results, data, words):
            found.append((results, data, words))
            done.release()
        made.run_async(None, {"image": pixels()}, called, "mine")
        self.assertTrue(done.acquire(timeout=60))
        results, data, words = found.pop()
        self.assertEqual((data, words, len(results)), ("mine", "", len(made.get_outputs())))
        made.run_async(None, {}, called)
        self.assertTrue(done.acquire(timeout=60))
        self.assertEqual(found[0][0], [])
        self.assertIn("no value was given", found[0][2])

    def test_run_options_end_a_run_and_keep_what_they_are_told(self):
        options, made = ort.RunOptions(), session()
        options.add_run_config_entry("key", "value")
        options.logid = "one"
        self.assertEqual(options.get_run_config_entry("key"), "value")
        made.run(None, {"image": pixels()}, options)
        options.terminate = True
        with self.assertRaises(kelvin.CancelledError):
            made.run(None, {"image": pixels()}, options)
        options.terminate = False
        made.run(None, {"image": pixels()}, options)


if __name__ == "__main__":
    unittest.main()
