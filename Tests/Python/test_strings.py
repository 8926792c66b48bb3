"""Strings with zero bytes, which C's end at: they come whole from a model and go whole to it, and where none can, it is said."""
import pathlib
import unittest

import numpy as np

import kelvin
from kelvin._library import library
from kelvin.description import Feature
from kelvin.values import Features

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "Examples/Digits/Digits.mlpackage"
NETWORK = ROOT / "Examples/Digits/Digits.onnx"
SEVEN = sorted((ROOT / "Examples/Digits/images").glob("7_*.png"))[0]
VECTORS = ROOT / "Tests/Vectors"


def changed(path, *changes):
    """A model in memory, strings in its file replaced by others of their lengths."""
    contents = path.read_bytes()
    for old, new in changes:
        assert old in contents and len(old) == len(new), (path, old, new)
        contents = contents.replace(old, new)
    return kelvin.Model(contents, units="cpu")


class Texts(unittest.TestCase):
    def test_a_text_goes_in_and_comes_out_whole(self):
        model = changed(VECTORS / "Parts/labels_in_the_middle.mlmodel", (b"mild", b"mi\0d"), (b"green", b"gr\0en"))
        self.assertEqual(model.predict({"color": "red", "size": 0.5})["label"], "mi\0d")
        for color in ("gr\0en", b"gr\0en", np.str_("gr\0en")):
            self.assertEqual(model.predict({"color": color, "size": 0.0})["label"], "hot")
        with self.assertRaisesRegex(kelvin.FeatureError, "'gr' is not known"):
            model.predict({"color": "gr", "size": 0.0})

    def test_texts_in_an_array_go_in_and_come_out_whole(self):
        model = kelvin.Model(VECTORS / "Texts/transposed.onnx", units="cpu")
        rows = [["a\0b", "", "\0"], ["é\0", "\0\0é", "f"]]
        for given in (rows, np.array(rows, object), [tuple(row) for row in rows]):
            self.assertEqual(model.predict({"x": given})["y"], [["a\0b", "é\0"], ["", "\0\0é"], ["\0", "f"]])
        # NumPy pads strings of one length with zero bytes, and takes those at their ends for none of theirs.
        for dtype in ("U", "S"):
            given = np.array([["a\0b", "", "c"], ["\0e", "f", "g"]], dtype)
            self.assertEqual(model.predict({"x": given})["y"], [["a\0b", "\0e"], ["", "f"], ["c", "g"]])
        branches = changed(VECTORS / "Texts/branches.onnx", (b"yes", b"y\0s"))
        self.assertEqual(branches.predict({"x": [["a"] * 3] * 2, "number": np.float32([1])})["word"], "y\0s")

    def test_keys_of_dictionaries_go_in_and_come_out_whole(self):
        model = kelvin.Model(VECTORS / "Parts/dictionary_vectorizer.mlmodel", units="cpu")
        for words, vector in (({"a": 1, "c": 2}, [1, 0, 2]), ({"a\0": 1, "c\0c": 2}, [0, 0, 0]), ({"a": 1, "a\0": 2}, [1, 0, 0])):
            self.assertEqual(list(model.predict({"words": words})["vector"]), vector)
        classifier = changed(VECTORS / "Classical/logistic.mlmodel", (b"high", b"hi\0h"), (b"low", b"lo\0"))
        result = classifier.predict(dict.fromkeys("abcd", 1.0))
        self.assertEqual(set(result["classProbability"]), {"hi\0h", "lo\0", "mid"})
        self.assertEqual(result["label"], next(iter(result["classProbability"])))
        self.assertEqual(set(classifier.description.class_labels), {"hi\0h", "lo\0", "mid"})
        entries = changed(VECTORS / "Parts/zip_map_strings.onnx", (b"maybe", b"ma\0be"))
        self.assertEqual(
            entries.predict({"x": np.float32([[0, 200, 0]])})["entries"], [{"no": 0.0, "yes": 1.0, "ma\0be": 0.0}])

    def test_every_kind_comes_back_as_it_was_given(self):
        entries = {"": 2.0, "\0": 1.0, "a": 0.5, "a\0": 0.25}
        for value in ("", "\0", "a\0", "\0a", "a\0\0b", "é\0é", {}, entries, dict.fromkeys(["\0"], 1.0)):
            features = Features()
            features.set("x", value)
            self.assertEqual(features.get("x"), value)
        texts = Feature("x", "sequence", elements="string", dtype="string")
        for value in ([], [""], ["", "\0", "a\0b"], [["\0"], [""]]):
            features.set("x", value, texts)
            self.assertEqual(features.get("x", texts), value)
            self.assertEqual(features.get("x"), value)
        features.set("x", ["", "\0", "a\0b"])
        self.assertIn(r'"a\u0000b"', library.text(library.features_get_json, features.handle, b"x"))

    def test_texts_that_are_none_are_refused_by_their_feature(self):
        features = Features()
        for value in ("\udcff", ["a", "\udcff\0"], {"\udcff": 1.0}):
            with self.assertRaisesRegex(kelvin.ParameterError, "not UTF-8"):
                features.set("x", value)
        for value in (["a", None], {None: 1.0}, [["a"], [7]]):
            with self.assertRaisesRegex(TypeError, "of feature 'x' as str, got"):
                features.set("x", value)


class Names(unittest.TestCase):
    def test_a_name_with_a_zero_byte_in_a_model_is_told(self):
        model = changed(NETWORK, (b"probabilities", b"prob\0bilities"))
        self.assertIn("prob\0bilities", model.outputs)
        with self.assertRaisesRegex(kelvin.ParameterError, r"without a zero byte, got 'prob\\x00bilities'"):
            model.predict({"image": np.zeros((1, 3, 64, 64), np.float32)})
        self.assertTrue(model.plan().html().rstrip().endswith("</html>"))

    def test_a_path_or_an_option_with_a_zero_byte_is_refused(self):
        model, network, contents = kelvin.Model(DIGITS, units="cpu"), f"{NETWORK}\0.bak", NETWORK.read_bytes()
        for words, call in (
                ("a path", lambda: kelvin.Model(network)), ("a path", lambda: kelvin.Model(pathlib.Path(network))),
                ("a path", lambda: kelvin.plan(network)),
                ("a path", lambda: kelvin.profile(network)), ("a path", lambda: kelvin.bench(network)),
                ("a workload", lambda: kelvin.bench(NETWORK, "one-shot\0")),
                ("a path", lambda: kelvin.Image.read(f"{SEVEN}\0")),
                ("a path", lambda: model.predict({"image": f"{SEVEN}\0"})),
                ("a path", lambda: kelvin.Model(contents, files={"a\0": b""})),
                ("option 'units'", lambda: kelvin.Model(NETWORK, units="cpu\0")),
                ("option 'units'", lambda: kelvin.Model(NETWORK, units=["cpu", "vulkan:0\0"])),
                ("option 'plan'", lambda: kelvin.Model(NETWORK, plan="a\0")),
                ("option 'pin'", lambda: kelvin.Model(NETWORK, pins={"a\0": "cpu"})),
                ("option 'shape'", lambda: kelvin.Model(NETWORK, shapes={"image\0": (1, 3, 64, 64)})),
                ("option 'exclude'", lambda: kelvin.Model(NETWORK, exclude=["a\0"])),
                ("a name", lambda: kelvin.Model(NETWORK, **{"thre\0ds": 1}))):
            with self.subTest(words), self.assertRaisesRegex(kelvin.ParameterError, f"expected {words} without a zero byte"):
                call()


if __name__ == "__main__":
    unittest.main()
