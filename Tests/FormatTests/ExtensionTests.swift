import KelvinBasics
import KelvinGraph
import KelvinImport
import KelvinONNX
import TestSupport
import Testing

/// Operators of onnxruntime-extensions that are refused, each with the node, the operator and a remedy or what is wrong.
@Suite struct ExtensionTests {
  private static let vocabulary = "[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]"

  private func refusal(
    _ kind: String, inputs: [String] = ["x"], outputs: [String] = ["y"], type: Int = 8,
    _ attributes: KeyValuePairs<String, ONNXFile.Attribute> = [:]
  ) -> String {
    var file = ONNXFile()
    for name in Set(inputs).sorted() { file.input(name, [1], type: type) }
    file.node(kind, inputs, outputs, domain: "ai.onnx.contrib", attributes)
    file.output("y", [1], type: 8)
    do {
      _ = try readONNX(Bytes(file.bytes), path: "extension.onnx")
      return "nothing"
    } catch { return "\(error)" }
  }

  @Test(
    arguments: [
      ("BlingFireSentenceBreaker", [:], "compiled BlingFire model"),
      ("ImageReader", [:], "use DecodeImage"),
      ("HfJsonTokenizer", [:], "ai.onnx.contrib.HfJsonTokenizer"),
      ("TrieTokenizer", [:], "ai.onnx.contrib.TrieTokenizer"),
      ("BertTokenizer", [:], "it has no vocab_file"),
      ("BertTokenizer", ["vocab_file": .text("a\nb")], "vocab_file of 2 tokens has no '[PAD]'"),
      ("GPT2Tokenizer", [:], "it has no vocab"),
      ("GPT2Tokenizer", ["vocab": .text("{\"a\": 1"), "merges": .text("a b")], "not a JSON object"),
      ("GPT2Tokenizer", ["vocab": .text("{\"a\": 1}"), "merges": .text("ab")], "has no space"),
      (
        "GPT2Tokenizer", ["vocab": .text("{}"), "merges": .text("a b"), "padding_length": .integer(0)],
        "its padding_length is 0"
      ),
      (
        "GPT2Tokenizer", ["vocab": .text("{}"), "merges": .text("a b"), "model_name": .text("Other")],
        "use GPT2, CodeGen, Roberta or CLIP"
      ),
      ("BpeDecoder", ["id_vocab": .text("a")], "it has no byte_decoder"),
      ("BpeDecoder", ["id_vocab": .text("a"), "byte_decoder": .text("97\t300")], "expected a byte"),
      ("StringMapping", ["map": .text("a b")], "1 fields between tabs, expected 2"),
      ("StringToVector", ["map": .text("a\t1 2"), "unk": .text("0")], "not equally many"),
      ("StringToVector", ["map": .text("a\tx"), "unk": .text("0")], "'x', expected an integer"),
      ("VectorToString", ["map": .text("a\t1 2\nb\t1")], "differ in length"),
      ("DecodeImage", ["color_space": .text("gray")], "expected bgr or rgb"),
      ("EncodeImage", ["format": .text("gif")], "expected png or jpg"),
      ("StringUpper", [:], "nothing"),
    ] as [(String, KeyValuePairs<String, ONNXFile.Attribute>, String)])
  func invalidAttributesAreNamed(kind: String, attributes: KeyValuePairs<String, ONNXFile.Attribute>, reason: String) {
    let refusal = refusal(kind, attributes)
    #expect(refusal.contains(reason), "\(refusal)")
    #expect(refusal == "nothing" || refusal.contains(kind))
  }

  @Test func numbersOfInputsAndOutputsAreChecked() {
    #expect(refusal("StringUpper", inputs: ["x", "w"]).contains("it has 2 inputs, expected 1"))
    #expect(refusal("StringSplit").contains("it has 1 inputs, expected 3"))
    #expect(refusal("StringUpper", outputs: ["y", "z"]).contains("it has 2 outputs, expected at most 1"))
    let offsets = refusal(
      "BertTokenizer", outputs: ["y", "a", "b", "c"],
      ["vocab_file": .text(Self.vocabulary), "do_basic_tokenize": .integer(0)])
    #expect(offsets.contains("set do_basic_tokenize"))
  }

  @Test(arguments: ["", "\u{8}\u{1}", "not a model"]) func sentencePieceModelsAreChecked(model: String) {
    #expect(refusal("SentencepieceDecoder", type: ONNXFile.int64, ["model": .text(model)]).contains("Sentencepiece"))
  }
}
