#!/usr/bin/env python3
"""Writes ONNX models of the domain ai.onnx.contrib, and what onnxruntime-extensions computes.

    python3 -m venv .venv && .venv/bin/pip install onnx==1.23.2 onnxruntime==1.32.0 onnxruntime-extensions==0.15.2 pillow==12.0.0 sentencepiece==0.2.0
    .venv/bin/python generate.py

`NAME.onnx` is a model; `expected.json` has, by the model's name, a list of cases with inputs and outputs by name:
`{"texts": […], "shape": […]}` or `{"numbers": […], "shape": […]}`, row-major. The package of onnxruntime-extensions has no image
operators: DecodeImage is compared with Pillow, and GaussianBlur with NumPy."""

import base64
import io
import json
import pathlib
import random
import struct
import tempfile

import numpy as np
import onnx
import onnxruntime
import onnxruntime_extensions
import sentencepiece
from onnx import TensorProto, helper
from PIL import Image

FOLDER = pathlib.Path(__file__).parent
DOMAIN = "ai.onnx.contrib"
STRING, INT64, INT32, BOOL, FLOAT, UINT8 = (
    TensorProto.STRING, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL, TensorProto.FLOAT, TensorProto.UINT8)
KINDS = {"i": INT64, "f": FLOAT, "b": BOOL, "u": UINT8}
DOUBLE = TensorProto.DOUBLE
random.seed(7)
expected = {}


def texts(*items, shape=None):
    return np.array(items, dtype=object).reshape([len(items)] if shape is None else shape)


def value(array):
    array = np.asarray(array)
    if array.dtype.kind in "OU":
        return {"texts": [str(text) for text in array.ravel()], "shape": list(array.shape)}
    numbers = [float(number) for number in array.ravel()]
    return {"numbers": [int(n) if n == int(n) else n for n in numbers], "shape": list(array.shape)}


def element_type(array):
    return STRING if array.dtype.kind in "OU" else INT32 if array.dtype == np.int32 else DOUBLE if array.dtype == np.float64 else KINDS[array.dtype.kind]


def constant(name, array):
    array = np.asarray(array)
    if array.dtype.kind in "OU":
        return helper.make_tensor(name, STRING, array.shape, [text.encode() for text in array.ravel()])
    return onnx.numpy_helper.from_array(array, name)


def model_of(name, op, cases, outputs, constants, attributes):
    """A model of one node, whose first inputs are the cases' and whose other inputs are constants."""
    inputs = []
    for index, first in enumerate(cases[0]):
        ranks = {case[index].ndim for case in cases}
        assert len(ranks) == 1, (name, ranks)
        inputs.append(helper.make_tensor_value_info(f"x{index}", element_type(first), [f"n{index}{axis}" for axis in range(first.ndim)]))
    fixed = [constant(f"c{index}", array) for index, array in enumerate(constants)]
    node = helper.make_node(
        op, [i.name for i in inputs] + [c.name for c in fixed], [f"y{index}" for index in range(len(outputs))], "node", domain=DOMAIN,
        **attributes)

    def model(shapes):
        infos = [helper.make_tensor_value_info(f"y{index}", kind, shape) for index, (kind, shape) in enumerate(zip(outputs, shapes))]
        graph = helper.make_graph([node], name, inputs, infos, fixed)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, 1)], ir_version=9)

    return model


def build(name, op, cases, outputs=(STRING,), constants=(), reference=None, **attributes):
    """Writes a model and its cases.

    cases: a list of the inputs of each case; constants: further inputs; reference: a function that replaces the library."""
    model = model_of(name, op, cases, outputs, constants, attributes)
    if reference is None:
        options = onnxruntime.SessionOptions()
        options.register_custom_ops_library(onnxruntime_extensions.get_library_path())
        session = onnxruntime.InferenceSession(
            model([None] * len(outputs)).SerializeToString(), options, providers=["CPUExecutionProvider"])

        def reference(*arrays):
            return session.run(None, {f"x{index}": array for index, array in enumerate(arrays)})

    results = [reference(*case) for case in cases]
    expected[name] = [
        {"inputs": {f"x{index}": value(array) for index, array in enumerate(case)},
         "outputs": {f"y{index}": value(array) for index, array in enumerate(result)}} for case, result in zip(cases, results)]
    shapes = [[None] * np.asarray(array).ndim for array in results[0]]
    (FOLDER / f"{name}.onnx").write_bytes(model(shapes).SerializeToString())


def strings(*cases):
    return [[case] for case in cases]


def random_text(length):
    pools = ["abcxyz ", "ABCXYZ", "0123456789", " \t\n\u00a0\u3000", ".,;:!?-_()[]'\"", "äöüÄÖÜßéÉñ", "αβγΑΒΓΩΞΠ", "абвАБВЯ", "中文字漢", "日本語かな",
             "e\u0301\u0300", "🦦🙂👩\u200d💻", "\u00ad\u200b\u2019\u2014\u201c", "ﬁ№½²"]
    return "".join(random.choice(random.choice(pools)) for _ in range(length))


PLAIN = texts("Hello World", "", "  größer ÄÖÜ Ñ×Þ \t\n", "ΑΒΓ ΞΠΩ абв АБВЯ", "e\u0301 É 中文 🦦", "x")
RANDOM = texts(*[random_text(length) for length in [1, 2, 3, 5, 8, 13, 21, 34]])
EMPTY = texts(shape=[0])
ANY = strings(PLAIN, RANDOM, EMPTY)
SIX = texts(*"abcdef", shape=[2, 3])

build("string_lower", "StringLower", ANY)
build("string_upper", "StringUpper", ANY)
build("string_strip", "StringStrip", ANY)
build("string_length", "StringLength", ANY, [INT64])
build("string_concat", "StringConcat", [[PLAIN, PLAIN[::-1]], [RANDOM, RANDOM], [EMPTY, EMPTY]])
build("string_equal", "StringEqual", [[PLAIN, PLAIN[::-1]], [PLAIN, texts("x")], [RANDOM, RANDOM]], [BOOL])
for bits in ["", "Fast"]:
    hashed = texts(*["abcdefghijklmnopq"[:length] for length in range(18)], "größer", "🦦")
    build(f"string_hash{bits.lower()}", f"StringToHashBucket{bits}", strings(hashed, RANDOM), [INT64], [np.array([1 << 40], np.int64)])
build("string_join", "StringJoin", strings(PLAIN, RANDOM, texts("a"), EMPTY), [STRING], [texts(" – "), np.array([0], np.int64)])
build("string_join_rows", "StringJoin", strings(SIX, texts(*PLAIN, shape=[3, 2])), [STRING], [texts("; "), np.array([1], np.int64)])
build("string_join_columns", "StringJoin", strings(SIX, texts(*"abcdefgh", shape=[2, 4])), [STRING], [texts(""), np.array([0], np.int64)])
build("string_join_middle", "StringJoin", strings(texts(*"abcdefghijkl", shape=[2, 3, 2])), [STRING], [texts("+"), np.array([1], np.int64)])
for name, separator, skips in [("kept", ",;", False), ("skipped", " \t", True), ("characters", "", True)]:
    cases = texts("a,b;;c", ",x", "", "a b\t\tc ", ";") if name == "characters" else texts("a,b;;c", ",größer", "", "a b\t\tc 中", ";")
    build(f"string_split_{name}", "StringSplit", strings(cases, EMPTY), [INT64, STRING, INT64], [texts(separator), np.array([skips])])
SAMPLES = texts("baaac", "", "Foo(bar, 12)  x-1", "größer größe", "aXbXc 2024-11-05\nnext", "e\u0301é🦦", "ab" * 6)
for name, pattern, rewrite, attributes in [
        ("digits", r"\d+", r"<\0>", {}), ("first", r"[a-z]", "_", {"global_replace": 0}), ("empty", "a*", "X", {}),
        ("groups", r"(\w+)\s*\((\w*)", r"\2:\1\\", {}), ("lazy", r"a.*?b|(X)", r"[\1]", {}), ("alternatives", "a|ab", "-", {}),
        ("letters", r"\p{L}+", "L", {}), ("others", r"[^\p{L}\s]", "?", {}), ("fewer", "(g)r", r"\2", {}),
        ("function", r"def\s+([a-zA-Z_][a-zA-Z_0-9]*)\s*\(\s*\):", r"static PyObject* py_\1(void) {", {})]:
    build(f"regex_replace_{name}", "StringRegexReplace", strings(SAMPLES, texts("def myfunc():", "def dummy():")), [STRING],
          [texts(pattern), texts(rewrite)], **attributes)
for name, pattern, rewrite, attributes in [
        ("digits", r"\d+", "<$&>", {}), ("first", "[a-z]", "$$", {"global_replace": 0}), ("empty", "a*", "X", {}),
        ("groups", r"(\w+)\s*\((\w*)", "$2:$1$9$", {}), ("around", "b", "[$`|$']", {}), ("case", "f(O+)", "$1$01", {"ignore_case": 1}),
        ("ends", "^[a-z]|[a-z]$", "#", {})]:
    # The library takes characters apart where it puts something between bytes.
    samples = SAMPLES[:3] if name == "empty" else SAMPLES
    build(f"ecma_replace_{name}", "StringECMARegexReplace", strings(samples), [STRING], [texts(pattern), texts(rewrite)], **attributes)
for name, pattern, kept in [
        ("spaces", r"(\s)", ""), ("kept", r"(\s|[,.()-])", r"[,.()-]"), ("inner", r"a(b|a)", "b"), ("ungrouped", r"\s", ""),
        ("punctuation", r"(\s+|\p{P}|[\x{4E00}-\x{9FFF}])", r"\p{P}|[\x{4E00}-\x{9FFF}]")]:
    build(f"regex_split_{name}", "StringRegexSplitWithOffsets", strings(SAMPLES, RANDOM, texts("你好, 世界.")), [STRING, INT64, INT64, INT64],
          [texts(pattern), texts(kept)])
build("string_mapping", "StringMapping", strings(texts("a", "b", "größer", "", "e\u0301", "é")), map="a\tb\ngrößer\tx y\n\né\te")
build("string_to_vector", "StringToVector", strings(texts("a", "none", "größer", "")), [INT64], map="a\t1 2\ngrößer\t-3 4", unk="-1 -2")
build("vector_to_string", "VectorToString", [[np.array([[0, 1], [2, 3], [9, 9]], np.int64)]], map="a\t0 1\nb c\t2 3", unk="?")
build("vector_to_string_one", "VectorToString", [[np.array([0, 5, 2], np.int64)]], map="a\t0\nb\t5", unk="unknown")
build("masked_fill", "MaskedFill", [[texts("a", "b", "c"), np.array([True, False, True])], [EMPTY, np.zeros([0], bool)]])
build("segment_extraction", "SegmentExtraction", [[np.array(row, np.int64)] for row in [
    [0, 0, 1, 2, 2, 3, 3, 3, 0, 5], [4, 4, 0, 4], [0, 0], []]], [INT64, INT64])
build("segment_sum", "SegmentSum", [[np.arange(12, dtype=np.float32).reshape(4, 3), np.array([0, 0, 1, 2], np.int64)],
                                    [np.full([2, 2], 0.25, np.float32), np.array([1, 1], np.int64)]], [FLOAT])
build("ragged_to_sparse", "RaggedTensorToSparse", [[np.array(row, np.int64)] for row in [[0, 2, 2, 5], [0]]], [INT64, INT64])
build("ragged_to_dense", "RaggedTensorToDense",
      [[np.array([0], np.int64), np.arange(5, dtype=np.int64), np.array([-1], np.int64), np.array([0, 2, 2, 5], np.int64)]], [INT64])
build("string_ragged_to_dense", "StringRaggedTensorToDense",
      [[np.array([0], np.int64), texts(*"abcde"), np.array([0, 2, 2, 5], np.int64), texts("", "", "", "")]])
build("neg_pos", "NegPos", [[np.array([[-1.5, 0, 2.5], [-0.0, 3, -4]], np.float32)]], [FLOAT, FLOAT])
build("inverse", "Inverse", [[np.array([[0, 1], [2, 4]], np.float32)], [np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], np.float32)]], [FLOAT])

SIGNAL = np.sin(np.arange(100, dtype=np.float32) ** 1.5)[None]
WINDOW = (np.hanning(16) + 0.1).astype(np.float32)
for name, size, hop, window, attributes in [("", 16, 8, WINDOW, {}), ("_two_sided", 16, 5, WINDOW, {"onesided": 0}), ("_short", 20, 7, WINDOW[:11], {})]:
    build(f"stft_norm{name}", "StftNorm", [[SIGNAL], [SIGNAL[:, :40]]], [FLOAT],
          [np.array([size], np.int64), np.array([hop], np.int64), window, np.array([size], np.int64)], **attributes)


def wave_file(rate, channels, bits, code=1, count=12):
    """A WAV file with a chunk before the samples."""
    size = bits // 8
    if code == 3:
        data = np.linspace(-1, 1, count * channels, dtype=np.float32).tobytes()
    else:
        data = b"".join(((index * 977 * 257 ** (size - 1)) % 256 ** size).to_bytes(size, "little") for index in range(count * channels))
    head = struct.pack("<HHIIHH", code, channels, rate, rate * channels * size, channels * size, bits)
    chunks = b"".join(name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2) for name, body in [
        (b"fmt ", head), (b"LIST", b"odd"), (b"data", data)])
    return np.frombuffer(b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks, np.uint8)


WAVES = [[wave_file(16000, 1, 16)], [wave_file(8000, 2, 8)], [wave_file(44100, 1, 24)], [wave_file(16000, 2, 32)], [wave_file(16000, 1, 32, 3)]]
build("audio_decoder", "AudioDecoder", WAVES, [FLOAT])
build("audio_decoder_mono", "AudioDecoder", [WAVES[0], WAVES[3]], [FLOAT], downsampling_rate=16000, stereo_to_mono=1)

SENTENCES = ["Unaffable größer Bücher, don't!", "", "The #hash-tag \u4e2d\u6587 e\u0301 [MASK] x", " lead and  trail ", "\u2019s caf\u00e9 \u200b\u00adsoft"]
VOCABULARY = "\n".join([
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able", "the", "The", "#", "hash", "-", "tag", "中", "文", "gro", "##\u00df",
    "##er", "bu", "##cher", "don", "'", "t", "!", ",", "e", "\u2019", "s", "cafe", "caf\u00e9", "lead", "and", "trail", "[", "]", "x", "gr\u00f6",
    "\u00e9", "##\u00e9", "caf", "##e", " lead"])
BERT = [INT64, INT64, INT64, INT64]
for name, attributes in [("", {}), ("_cased", {"do_lower_case": 0}), ("_accents", {"strip_accents": 1}), ("_short", {"max_length": 6}),
                         ("_joined", {"tokenize_chinese_chars": 0, "suffix_indicator": "##"})]:
    cases = strings(*[texts(sentence) for sentence in SENTENCES + list(RANDOM)])
    build(f"bert_tokenizer{name}", "BertTokenizer", cases + strings(texts("the cafe", SENTENCES[0])),
          BERT[:3], vocab_file=VOCABULARY, **attributes)
build("bert_tokenizer_offsets", "BertTokenizer", strings(*[texts(sentence) for sentence in SENTENCES]), BERT, vocab_file=VOCABULARY)
build("bert_tokenizer_spaces", "BertTokenizer", strings(*[texts(sentence) for sentence in SENTENCES + list(RANDOM)]), BERT[:3], vocab_file=VOCABULARY,
      do_basic_tokenize=0)
build("hf_bert_tokenizer", "HfBertTokenizer", strings(texts(*SENTENCES[:2]), texts("the cafe", SENTENCES[2])), BERT[:3], vocab_file=VOCABULARY)
for name, attributes in [("", {}), ("_plain", {"do_lower_case": 0, "tokenize_punctuation": 1, "strip_accents": 1}),
                         ("_raw", {"remove_control_chars": 0, "tokenize_chinese_chars": 0})]:
    build(f"basic_tokenizer{name}", "BasicTokenizer", strings(*[texts(sentence) for sentence in SENTENCES + list(RANDOM)]), **attributes)
build("wordpiece_tokenizer", "WordpieceTokenizer",
      [[texts("unaffable the", "", "xthe cafe"), np.array([], np.int64)], [texts("un", "the", "x y"), np.array([0, 2, 3], np.int64)]],
      [STRING, INT64, INT64, INT64], vocab=json.dumps({token: number for number, token in enumerate(VOCABULARY.split("\n"))}),
      suffix_indicator="##", unknown_token="[UNK]")
IDS = np.array([2, 5, 6, 7, 25, 8, 12, 13, 24, 99, 30, 4, 22, 28, 3, 0, 34, 36, 35], np.int64)
for name, attributes in [("", {}), ("_clean", {"skip_special_tokens": 1}), ("_spaced", {"clean_up_tokenization_spaces": 0}),
                         ("_ranges", {"use_indices": 1})]:
    build(f"bert_decoder{name}", "BertTokenizerDecoder", [[IDS, np.array([[0, 6], [4, 9], [3, 3]], np.int64)]], vocab_file=VOCABULARY, **attributes)


def byte_characters():
    """The character of each byte in vocabularies of GPT-2."""
    hidden = [byte for byte in range(256) if byte < 33 or 127 <= byte < 161 or byte == 173]
    return {byte: chr(256 + hidden.index(byte)) if byte in hidden else chr(byte) for byte in range(256)}


MERGES = "#version: 0.2\nh e\nl l\nhe ll\nhell o\nĠ w\nĠw o\nĠwo r\nĠwor l\nĠworl d\ni n\nĠ Ġ\nÃ ¶\nÃ Ł\na a\naa a\n# x\n1 2"
BYTES = byte_characters()
pieces = [BYTES[byte] for byte in range(256)] + [line.replace(" ", "") for line in MERGES.split("\n")[1:]]
CLIP_MERGES = MERGES.replace("hell o", "hell o</w>").replace("i n", "i n</w>").replace("1 2", "l d</w>")
clip = [BYTES[byte] for byte in range(256)] + [BYTES[byte] + "</w>" for byte in range(256)] + [
    line.replace(" ", "") for line in CLIP_MERGES.split("\n")[1:]]
PHRASES = ["hello world  größer it's 12\n  x", "", "  ", "🦦 aaaa\u00a0c They'll", "Hello İNDIA # x\t\thello", "<s>hello</s> <|endoftext|>in"]
for tokenizer, outputs, words, merges in [("GPT2", 2, pieces, MERGES), ("Roberta", 3, pieces, MERGES), ("CLIP", 3, clip, CLIP_MERGES)]:
    attributes = {"vocab": json.dumps({word: number for number, word in enumerate(dict.fromkeys(words))}), "merges": merges}
    # The library crashes at special tokens of CLIP in a text, and leaves the offsets of several strings, of padding and of special tokens uninitialized.
    phrases = PHRASES[:-1] if tokenizer == "CLIP" else PHRASES
    build(f"{tokenizer.lower()}_tokenizer", f"{tokenizer}Tokenizer", strings(texts(*phrases), RANDOM), [INT64] * 2, **attributes)
    if outputs == 3:
        build(f"{tokenizer.lower()}_tokenizer_offsets", f"{tokenizer}Tokenizer", strings(*[texts(phrase) for phrase in [PHRASES[0], *PHRASES[3:5]]]),
              [INT64] * 3, **attributes)
    build(f"{tokenizer.lower()}_tokenizer_padded", f"{tokenizer}Tokenizer", strings(texts(*phrases)), [INT64] * 2, padding_length=60, **attributes)
build("gpt2_tokenizer_cut", "GPT2Tokenizer", strings(texts(*PHRASES)), [INT64] * 2, padding_length=3, vocab=json.dumps(dict(zip(pieces, range(300)))),
      merges=MERGES, added_token="größer=1000\nit=1001")
DECODER = {"id_vocab": "\n".join(pieces + ["<|endoftext|>", "\u4e2d"]), "byte_decoder": "\n".join(f"{ord(c)}\t{b}" for b, c in BYTES.items()),
           "all_special_ids": f"{len(pieces)}", "added_tokens": "1000\t<new>\n"}
for name, attributes in [("", {}), ("_clean", {"skip_special_tokens": 1}), ("_spaced", {"whitespace_token": 1, "unk_token": "?"})]:
    build(f"bpe_decoder{name}", "BpeDecoder", [[np.array([len(pieces), 259, 264, 195, 182, 1000, len(pieces) + 1, 5000, len(pieces)], np.int64)]],
          **DECODER, **attributes)
build("bpe_decoder_pieces", "BpeDecoder", [[np.array([0, 1, 2, 3, 4], np.int64)]], id_vocab="<unk>\n\u2581Hello\n\u2581w\n<0x21>\n<0x0A>",
      byte_decoder="9601\t32")


def sentence_pieces(kind, **options):
    """A small model of SentencePiece with a map of characters of its own."""
    with tempfile.TemporaryDirectory() as folder:
        rules = pathlib.Path(folder) / "rules.tsv"
        rules.write_text("41\t61\n42\t62\nFB01\t66 69\nA0\t20\n65 301\tE9\nAD\t\n")
        lines = ["the cat sat on the mat", "a cat and a hat", "that fat cat ate the ﬁsh", "größer als die Größe", "e\u0301té café", "中文 字漢 中文"] * 20
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_prefix=f"{folder}/m", vocab_size=options.pop("size"), model_type=kind,
            normalization_rule_tsv=str(rules), hard_vocab_limit=False, minloglevel=2, character_coverage=0.98, **options)
        return (pathlib.Path(folder) / "m.model").read_bytes()


PIECES = ["The cat sat on  the mat ", "", "   ", "größer ABC ﬁsh e\u0301te\u00a0café\u00ad", "<mark>中文🦦🦦 the<mark>x", "\n\tthat hat"]
FLAGS = [np.array([0], np.int64), np.array([0], np.float32)]
for name, kind, options, flags in [
        ("unigram", "unigram", {"size": 60, "user_defined_symbols": ["<mark>"]}, (0, 0, 0)),
        ("unigram_ends", "unigram", {"size": 60, "remove_extra_whitespaces": False}, (1, 1, 0)),
        ("unigram_bytes", "unigram", {"size": 300, "byte_fallback": True, "add_dummy_prefix": False}, (0, 1, 1)),
        ("bpe", "bpe", {"size": 60, "user_defined_symbols": ["<mark>"]}, (1, 0, 0)),
        ("bpe_suffix", "bpe", {"size": 320, "byte_fallback": True, "treat_whitespace_as_suffix": True}, (1, 1, 1))]:
    model = sentence_pieces(kind, **options)
    size = sentencepiece.SentencePieceProcessor(model_proto=model).get_piece_size()
    constants = FLAGS + [np.array([flag], bool) for flag in flags]
    # ONNX Runtime ends strings at zeros, which are piece 3 of bytes.
    first = 4 if options.get("byte_fallback") else 3
    build(f"sentencepiece_{name}", "SentencepieceTokenizer", strings(texts(*PIECES), RANDOM, EMPTY), [INT32, INT64, INT32], constants, model=model)
    build(f"sentencepiece_{name}_fairseq", "SentencepieceTokenizer", strings(texts(*PIECES)), [INT32, INT64, INT32],
          constants + [np.array([True])], model=base64.b64encode(model))
    build(f"sentencepiece_{name}_decoder", "SentencepieceDecoder", [[np.array(row, np.int64)] for row in [
        [1, *range(first, size), 0, 2], [random.randrange(first, size) for _ in range(20)], [first], [0, 0]]], model=model)
    build(f"sentencepiece_{name}_decoder_fairseq", "SentencepieceDecoder", [[np.array([0, 1, 2, 3, *range(first + 1, size)], np.int64)]], constants=[np.array([True])], model=model)


def pixels(file, space):
    image = np.asarray(Image.open(io.BytesIO(file.tobytes())).convert("RGB"))
    return [image if space == "rgb" else image[:, :, ::-1]]


def encoded(format, **options):
    image = Image.fromarray((np.indices([9, 7, 3]).sum(0) * 9 % 256).astype(np.uint8))
    stream = io.BytesIO()
    image.save(stream, format, **options)
    return np.frombuffer(stream.getvalue(), np.uint8)


def blurred(image, size, deviation):
    """The blur of OpenCV, for kernels with a deviation."""
    for axis, length, width in [(2, size[1], deviation[0]), (1, size[0], deviation[1] or deviation[0])]:
        half = length // 2
        weights = np.exp(-np.arange(-half, half + 1) ** 2 / (2 * width**2))
        padding = [(half, half) if index == axis else (0, 0) for index in range(4)]
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, padding, mode="reflect"), length, axis)
        image = windows @ (weights / weights.sum())
    return [image.astype(np.float32)]


build("gaussian_blur", "GaussianBlur",
      [[np.random.RandomState(0).rand(1, 9, 8, 3).astype(np.float32), np.array(size, np.int64), np.array(deviation)]
       for size, deviation in [([3, 5], [1.5, 0.5]), ([7, 1], [2.0, 0.0])]], [FLOAT], (), blurred)
build("image_decoder", "ImageDecoder", [[encoded("PNG")]], [UINT8], (), lambda file: pixels(file, "bgr"))
for space in ["bgr", "rgb"]:
    attributes = {} if space == "bgr" else {"color_space": space}
    build(f"decode_image_{space}", "DecodeImage", [[encoded("PNG")], [encoded("BMP")]], [UINT8], (), lambda file: pixels(file, space), **attributes)

lines = [f"{json.dumps(name)}: {json.dumps(cases, ensure_ascii=False)}" for name, cases in expected.items()]
(FOLDER / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
