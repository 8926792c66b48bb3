import FoundationEssentials
import KelvinBasics
import KelvinFeatures
import KelvinGraph
import KelvinImport

extension FeatureReader {
  /// Reads a dictionary from JSON such as `{"a": 1}`, given directly or as the path of a .json file.
  func dictionary(_ text: String, _ keys: FeatureKind.KeyType, _ feature: Feature) throws -> [ClassLabel: Double] {
    let remedy = keys == .string ? "give JSON such as '{\"key\": 1}'" : "give JSON such as '{\"7\": 1}'"
    guard let entries = try? JSONText.decode([String: Double].self, from: try document(text, feature)) else {
      throw mismatch(feature, "'\(text)'", remedy)
    }
    var dictionary: [ClassLabel: Double] = [:]
    for (key, number) in entries {
      guard keys == .int64 else {
        dictionary[.string(key)] = number
        continue
      }
      guard let whole = Int64(key) else { throw mismatch(feature, "the key '\(key)'", remedy) }
      dictionary[.int64(whole)] = number
    }
    return dictionary
  }

  /// Reads a sequence of strings or integers from JSON such as `["a", "b"]`, given directly or as the path of a .json
  /// file, or from a .npy file. An array of strings with several axes is given as nested lists.
  func sequence(_ text: String, _ elements: FeatureKind.KeyType, _ feature: Feature) throws
    -> FeatureSequence
  {
    if text.hasSuffix(".npy") { return try sequence(ofArray: text, elements, feature) }
    let data = try document(text, feature)
    if elements == .string, let texts = try? JSONText.decode(StringArrayDocument.self, from: data) {
      return texts.sequence
    }
    if elements == .int64, let numbers = try? JSONText.decode([Int64].self, from: data) {
      return FeatureSequence(int64s: numbers)
    }
    throw mismatch(
      feature, "'\(text)'", elements == .string ? "give JSON such as '[\"a\", \"b\"]'" : "give JSON such as '[1, 2]'")
  }

  private func sequence(
    ofArray path: String, _ elements: FeatureKind.KeyType, _ feature: Feature
  ) throws -> FeatureSequence {
    switch (try NPY.contents(Bytes(reading: OpenFile(path)), name: path), elements) {
    case (.strings(let strings, let shape), .string):
      return FeatureSequence(strings: strings, shape: shape.dimensions)
    case (.numbers(let tensor), .int64)
    where tensor.shape.rank == 1 && !tensor.type.scalar.isFloatingPoint && tensor.type.scalar != .uint64:
      return FeatureSequence(int64s: tensor.words)
    case (.numbers(let tensor), _):
      throw mismatch(
        feature, "\(tensor.type)",
        elements == .string ? "save array.astype('U')" : "save one axis of integers: array.astype('int64')")
    case (.strings(_, let shape), .int64):
      throw mismatch(feature, "strings[\(shape)]", "save array.astype('int64')")
    }
  }

  private func document(_ text: String, _ feature: Feature) throws -> Data {
    text.hasSuffix(".json") ? try LocalFile.read(text) : Data(text.utf8)
  }
}
