package import KelvinGraph

/// Turns the numbers of a dictionary with integer keys into one row: in the order of the keys, or each at the index
/// given by its key (ONNX's `CastMap`).
package struct DictionaryRow: OneInputOperation {
  package static let name = "dictionary_row"
  package let scalar: ScalarType
  /// The length of the row if keys are indices; nil for a row in the order of the keys.
  package let length: Int?
  package let input: String
  package let output: String

  package init(_ scalar: ScalarType, length: Int?, input: String, output: String) {
    self.scalar = scalar
    self.length = length
    self.input = input
    self.output = output
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    [length.map { .tensor(TensorType(scalar, [1, $0])) } ?? .unknown]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let dictionary = try dictionary(0, inputs)
    guard case .integers(let keys) = dictionary.keys else {
      throw refused(0, "its keys are strings, expected whole numbers", remedy: "give whole numbers from 0 on")
    }
    var row = [Double](repeating: 0, count: length ?? keys.count)
    for (place, entry) in zip(keys, dictionary.values).sorted(by: { $0.0 < $1.0 }).enumerated() {
      let column = length == nil ? place : Int(entry.0)
      guard row.indices.contains(column) else {
        throw refused(
          0, "the key \(entry.0) is outside \(row.count) elements", remedy: "give keys from 0 to \(row.count - 1)")
      }
      row[column] = entry.1
    }
    return [.tensor(Tensor(TensorType(scalar, [1, row.count]), rounding: row))]
  }
}
