package import KelvinGraph

/// Turns a dictionary's numbers into a vector in the order of a vocabulary. A word that the dictionary lacks has the
/// value 0; words that the vocabulary lacks are ignored (ONNX's and Core ML's `DictVectorizer`).
package struct DictionaryVector: OneInputOperation {
  package static let name = "dictionary_vector"
  package let vocabulary: Labels
  /// The type of the tensor, which has as many elements as there are words.
  package let type: TensorType
  package let input: String
  package let output: String
  private let places: [Column.Key: Int]

  /// Creates the operation.
  ///
  /// - Precondition: `type` has as many elements as `vocabulary`.
  package init(_ vocabulary: Labels, _ type: TensorType, input: String, output: String) {
    precondition(type.count == vocabulary.count, "\(type) for \(vocabulary.count) words")
    self.vocabulary = vocabulary
    self.type = type
    self.input = input
    self.output = output
    places = vocabulary.column.places
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] { [.tensor(type)] }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let dictionary = try dictionary(0, inputs)
    guard dictionary.keys.isString == vocabulary.isString || dictionary.keys.count == 0 else {
      let (wanted, got) = vocabulary.isString ? ("strings", "whole numbers") : ("whole numbers", "strings")
      throw refused(
        0, "its keys are \(got), expected \(wanted)", remedy: "give words such as \(vocabulary.column.preview)")
    }
    var vector = [Double](repeating: 0, count: vocabulary.count)
    for (key, value) in zip(dictionary.keys.column.keys, dictionary.values) {
      if let place = places[key] { vector[place] = value }
    }
    return [.tensor(Tensor(type, rounding: vector))]
  }
}

extension Labels {
  /// The labels as a column.
  package var column: Column {
    switch self {
    case .strings(let labels): .strings(labels)
    case .integers(let labels): .integers(labels)
    }
  }
}
