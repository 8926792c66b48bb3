import KelvinBasics
import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// The operators of onnxruntime-extensions on strings.
extension ONNXHostMapper {
  static let extensionStrings: [ONNXHostMapper] = [
    extended("StringLower", strings: [0]) { StringChange(.lower, $1) },
    extended("StringUpper", strings: [0]) { StringChange(.upper, $1) },
    extended("StringStrip", strings: [0]) { StringChange(.stripped, $1) },
    extended("StringLength") { StringMeasure(.length, $1) },
    extended("StringToHashBucket", inputs: 2...2) { StringMeasure(.bucket(.tensorFlow), $1) },
    extended("StringToHashBucketFast", inputs: 2...2) { StringMeasure(.bucket(.gnu), $1) },
    extended("StringJoin", inputs: 3...3, strings: [0]) { StringReduction($1) },
    extended("StringSplit", inputs: 3...3, outputs: 3, strings: [1]) { StringSparseSplit($1) },
    extended("StringRegexSplitWithOffsets", inputs: 2...3, outputs: 4, strings: [0]) { StringDelimiters($1) },
    extended("StringRegexReplace", inputs: 3...3, strings: [0]) { node, slots in
      StringReplacement(.re2, isGlobal: node.flag("global_replace", default: true), slots)
    },
    extended("StringECMARegexReplace", inputs: 3...3, strings: [0]) { node, slots in
      StringReplacement(
        .ecmaScript(foldsCase: node.flag("ignore_case")), isGlobal: node.flag("global_replace", default: true), slots)
    },
    extended("MaskedFill", inputs: 2...2, strings: [0]) { StringFilter($1) },
    extensionConcat, extensionEqual, stringMapping, stringToVector, vectorToString,
  ]

  private static let extensionConcat = ONNXHostMapper("ai.onnx.contrib.StringConcat") { (node) throws(FormatError) in
    let step = StringConcatenation(
      StringPair(try node.strings(0), try node.strings(1)), output: try node.output())
    return [Output(step: step, isHostValue: true)]
  }

  private static let extensionEqual = ONNXHostMapper("ai.onnx.contrib.StringEqual") { (node) throws(FormatError) in
    let step = StringEquality(StringPair(try node.strings(0), try node.strings(1)), output: try node.output())
    return [Output(step: step, isHostValue: false)]
  }

  private static let stringMapping = extended("StringMapping", strings: [0]) { (node, slots) throws(FormatError) in
    let pairs = try node.pairs("map").map { (ExactString($0.key), ExactString($0.value)) }
    return StringChange(.mapped(Dictionary(pairs) { $1 }), slots)
  }

  private static let stringToVector = extended("StringToVector") { (node, slots) throws(FormatError) in
    var vectors: [ExactString: [Int64]] = [:]
    let unknown = try node.numbers(node.text("unk", default: ""), of: "unk")
    for (key, value) in try node.pairs("map") { vectors[ExactString(key)] = try node.numbers(value, of: "map") }
    guard !unknown.isEmpty, vectors.values.allSatisfy({ $0.count == unknown.count }) else {
      throw node.malformed("the integers of its map and of its unk are not equally many")
    }
    return StringVectors(vectors, unknown: unknown, slots)
  }

  private static let vectorToString = extended("VectorToString", strings: [0]) { (node, slots) throws(FormatError) in
    var strings: [[Int64]: ExactString] = [:]
    for (key, value) in try node.pairs("map") { strings[try node.numbers(value, of: "map")] = ExactString(key) }
    guard let length = strings.keys.first?.count, length > 0, strings.keys.allSatisfy({ $0.count == length }) else {
      throw node.malformed("the lists of its map are empty or differ in length")
    }
    return VectorStrings(strings, length: length, unknown: ExactString(node.text("unk", default: "")), slots)
  }
}
