"""Predictions by Ray Data and Ray Serve, on the embedded model. Skipped where Ray is not installed."""
import base64
import http.client
import importlib.util
import json
import os
import pathlib
import signal
import socket
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np

import kelvin
from kelvin.ray import Predictor, application

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "Examples/Digits/Digits.mlpackage"
NETWORK = ROOT / "Examples/Digits/Digits.onnx"
IMAGES = sorted((ROOT / "Examples/Digits/images").glob("*.png"))
NAMES = "zero one two three four five six seven eight nine".split()
HAS_RAY = importlib.util.find_spec("ray") is not None
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")


def expected():
    model = kelvin.Model(DIGITS, units="cpu", threads=1)
    return {str(path): model.predict({"image": path}) for path in IMAGES}


def column(values):
    result = np.empty(len(values), object)
    result[:] = values
    return result


class Batches(unittest.TestCase):
    """The predictor by itself, which needs no Ray."""

    def test_paths_bytes_and_pixels_become_columns_beside_those_that_are_not_read(self):
        predictor = Predictor(DIGITS, units="cpu", inputs={"image": "photo"})
        paths = [str(path) for path in IMAGES]
        rows = expected()
        for images in (np.array(paths), column([path.read_bytes() for path in IMAGES])):
            result = predictor({"photo": images, "path": np.array(paths)})
            self.assertEqual(list(result), ["path", "classLabel", "classLabel_probs", "error"])
            self.assertEqual(list(result["error"]), [""] * len(paths))
            for place, path in enumerate(paths):
                self.assertEqual(result["classLabel"][place], rows[path]["classLabel"])
                shares = dict(zip(NAMES, result["classLabel_probs"][place]))
                self.assertEqual(shares, rows[path]["classLabel_probs"])
        pixels = np.zeros((3, 64, 64, 3), np.uint8)
        self.assertEqual(predictor({"photo": pixels})["classLabel_probs"].shape, (3, 10))

    def test_a_bad_row_has_an_error_and_the_others_their_results(self):
        predictor = Predictor(DIGITS, units="cpu", keep=["key"])
        good = IMAGES[0].read_bytes()
        given = [good, good[:40], "/nowhere.png", good, 7, None]
        result = predictor({"image": column(given), "key": np.arange(6)})
        for place, words in enumerate(["", "in memory", "/nowhere.png", "", "expected an image", "no value"]):
            self.assertIn(words, result["error"][place])
        label = expected()[str(IMAGES[0])]["classLabel"]
        self.assertEqual(list(result["classLabel"]), [label, "", "", label, "", ""])
        self.assertEqual(list(np.isnan(result["classLabel_probs"]).all(axis=1)), [False, True, True, False, True, True])
        alone = predictor({"image": column([b"none"]), "key": np.arange(1)})
        self.assertTrue(np.isnan(alone["classLabel_probs"]).all())
        self.assertEqual(alone["classLabel_probs"].shape, (1, 10))

    def test_what_only_the_prediction_refuses_is_a_bad_row_too(self):
        predictor = Predictor(NETWORK, units="cpu")
        small, fitting = np.zeros((1, 3, 8, 8), np.float32), np.full((1, 3, 64, 64), 0.5, np.float32)
        result = predictor({"image": column([fitting, small, fitting])})
        self.assertEqual([bool(words) for words in result["error"]], [False, True, False])
        self.assertIn("shape", result["error"][1])
        self.assertEqual(result["probabilities"].shape, (3, 1, 10))
        one = kelvin.Model(NETWORK, units="cpu").predict({"image": fitting})["probabilities"]
        np.testing.assert_array_equal(result["probabilities"][2], one)
        self.assertEqual(predictor({"image": column([small])})["probabilities"].shape, (1, 1, 10))
        none = np.zeros((0, 1, 3, 64, 64), np.float32)
        self.assertEqual(predictor({"image": none})["probabilities"].shape, (0, 1, 10))

    def test_a_function_prepares_rows_and_what_it_raises_is_the_rows_error(self):
        def prepare(row):
            return {"image": np.full((1, 3, 64, 64), 1 / row["level"], np.float32)}
        result = Predictor(NETWORK, units="cpu", prepare=prepare)({"level": column([2, 0, 4])})
        self.assertEqual([bool(words) for words in result["error"]], [False, True, False])
        self.assertIn("ZeroDivisionError", result["error"][1])
        self.assertEqual(list(result["level"]), [2, 0, 4])

    def test_names_and_columns_that_are_not_there_end_the_job_at_once(self):
        with self.assertRaisesRegex(kelvin.FeatureError, "no output 'scores'"):
            Predictor(NETWORK, units="cpu", outputs=["scores"])
        with self.assertRaisesRegex(kelvin.FeatureError, "no input 'photo'"):
            Predictor(NETWORK, units="cpu", inputs={"photo": "bytes"})
        with self.assertRaisesRegex(kelvin.FeatureError, "no column 'image'"):
            Predictor(NETWORK, units="cpu")({"bytes": np.zeros(1)})
        with self.assertRaises(kelvin.DeviceError):
            Predictor(NETWORK, units="warp:7")

    def test_without_ray_an_application_says_what_to_install(self):
        with unittest.mock.patch.dict(sys.modules, {"ray": None}):
            with self.assertRaisesRegex(ImportError, r"pip install kelvin\[ray\]"):
                application(NETWORK)


class Killed(Predictor):
    """Ends its process at one row, the first time."""

    def __init__(self, mark, **options):
        super().__init__(**options)
        self._mark = pathlib.Path(mark)

    def __call__(self, batch):
        if 37 in batch["key"] and not self._mark.exists():
            self._mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(batch)


@unittest.skipUnless(HAS_RAY, "Ray is not installed: pip install kelvin[ray]")
class Workers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import ray
        environment = {"PYTHONPATH": os.pathsep.join(
            [str(pathlib.Path(__file__).parent), str(ROOT / "Python"), os.environ.get("PYTHONPATH", "")])}
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": environment})

    @classmethod
    def tearDownClass(cls):
        import ray
        ray.shutdown()

    def test_two_workers_of_which_one_is_killed_give_what_one_process_gives(self):
        import ray
        rows = expected()
        paths = [str(IMAGES[index % len(IMAGES)]) for index in range(80)]
        images = ray.data.from_items([{"key": key, "path": path} for key, path in enumerate(paths)])
        with tempfile.TemporaryDirectory() as folder:
            mark = pathlib.Path(folder) / "killed"
            result = images.map_batches(
                Killed, batch_size=4, compute=ray.data.ActorPoolStrategy(size=2), num_cpus=1,
                fn_constructor_kwargs=dict(
                    mark=str(mark), model=str(DIGITS), units="cpu", inputs={"image": "path"}, keep=["key"])).take_all()
            self.assertTrue(mark.exists())
        self.assertEqual(sorted(row["key"] for row in result), list(range(80)))
        for row in result:
            self.assertEqual(row["error"], "")
            self.assertEqual(
                dict(zip(NAMES, row["classLabel_probs"])), rows[paths[row["key"]]]["classLabel_probs"])

    def test_a_service_answers_pythons_calls_and_https_requests_and_refuses_bad_ones_alone(self):
        from ray import serve
        rows = expected()
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        self.addCleanup(serve.shutdown)
        handle = serve.run(application(str(DIGITS), units="cpu", max_batch_size=4, deployment={"num_replicas": 1}))
        good = IMAGES[0].read_bytes()
        label = rows[str(IMAGES[0])]["classLabel"]
        calls = [handle.predict.remote({"image": contents}) for contents in (good, b"none", good, good)]
        with self.assertRaisesRegex(Exception, "in memory"):
            calls[1].result()
        for call in (calls[0], calls[2], calls[3]):
            self.assertEqual(call.result()["classLabel"], label)

        self.assertEqual(self.post(port, good, "image/png")[1]["classLabel"], label)
        inputs = json.dumps({"image": base64.b64encode(good).decode()}).encode()
        self.assertEqual(self.post(port, inputs, "application/json")[1]["classLabel"], label)
        path = json.dumps({"image": str(IMAGES[0])}).encode()
        for body, kind, words in (
                (b"none", "image/png", "in memory"), (b"{", "application/json", "not JSON"),
                (b"[]", "application/json", "expected an object"), (b"{}", "application/json", "no value"),
                (path, "application/json", "base64")):
            status, answer = self.post(port, body, kind)
            self.assertEqual(status, 400)
            self.assertIn(words, answer["error"])

    def post(self, port, body, kind):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        self.addCleanup(connection.close)
        connection.request("POST", "/", body, {"Content-Type": kind})
        answer = connection.getresponse()
        return answer.status, json.load(answer)


if __name__ == "__main__":
    unittest.main()
