import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ONNXHostMapper {
  /// Maps a dictionary to a row of values in the order of a vocabulary.
  static let dictVectorizer = ONNXHostMapper("ai.onnx.ml.DictVectorizer") { (node) throws(FormatError) in
    guard let words = node.labels(strings: "string_vocabulary", integers: "int64_vocabulary") else {
      throw node.malformed("it has no vocabulary")
    }
    let type = TensorType(.float32, [1, words.count])
    let step = DictionaryVector(words, type, input: try node.input(0), output: try node.output())
    return [Output(step: step, isHostValue: false)]
  }

  /// Maps a dictionary with integer keys to a row.
  static let castMap = ONNXHostMapper("ai.onnx.ml.CastMap") { (node) throws(FormatError) in
    let attributes = node.node.attributes
    let scalar: ScalarType
    switch node.text("cast_to", default: "TO_FLOAT") {
    case "TO_FLOAT": scalar = .float32
    case "TO_INT64": scalar = .int64
    case let target: throw node.unsupported("its cast_to is '\(target)'", remedy: "cast to TO_FLOAT or TO_INT64")
    }
    var length: Int?
    switch node.text("map_form", default: "DENSE") {
    case "DENSE": break
    case "SPARSE":
      let given = node.integer("max_map", default: 1)
      guard (1...1 << 24).contains(given) else { throw node.malformed("its max_map is \(given)") }
      length = given
    case let form: throw node.malformed("its map_form is '\(form)', expected DENSE or SPARSE")
    }
    let step = DictionaryRow(scalar, length: length, input: try node.input(0), output: try node.output())
    return [Output(step: step, isHostValue: false)]
  }

  /// Maps categories to one-hot vectors.
  static let oneHotEncoder = ONNXHostMapper("ai.onnx.ml.OneHotEncoder") { (node) throws(FormatError) in
    guard let categories = node.labels(strings: "cats_strings", integers: "cats_int64s") else {
      throw node.malformed("it has no categories")
    }
    let step = OneHotVector(
      categories.column, ignoresUnknown: node.flag("zeros", default: true), input: try node.input(0),
      output: try node.output())
    return [Output(step: step, isHostValue: false)]
  }

  /// Maps rows of scores to dictionaries.
  static let zipMap = ONNXHostMapper("ai.onnx.ml.ZipMap") { (node) throws(FormatError) in
    guard let labels = node.labels(strings: "classlabels_strings", integers: "classlabels_int64s") else {
      throw node.malformed("it has no labels")
    }
    let step = LabelDictionary(labels, scores: try node.input(0), output: try node.output(), rows: .each)
    return [Output(step: step, isHostValue: true)]
  }
}
