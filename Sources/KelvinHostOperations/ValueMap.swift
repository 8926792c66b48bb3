package import KelvinGraph

/// Maps each element by a table: from a string to an index, or from an index to a string (ONNX's `LabelEncoder` and
/// `CategoryMapper`, Core ML's `CategoricalMapping`). The shape stays.
package struct ValueMap: OneInputOperation {
  package static let name = "value_map"
  package let keys: Column
  package let values: Column
  /// The value for elements that are not in the table, a column of one; nil refuses these elements.
  package let otherwise: Column?
  package let input: String
  package let output: String
  private let places: [Column.Key: Int]

  /// Creates the operation.
  ///
  /// - Precondition: There are as many values as keys, and `otherwise` has one value if it is not nil.
  package init(_ keys: Column, to values: Column, otherwise: Column?, input: String, output: String) {
    precondition(keys.count == values.count && otherwise.map { $0.count == 1 } ?? true)
    self.keys = keys
    self.values = values
    self.otherwise = otherwise
    self.input = input
    self.output = output
    places = keys.places
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    guard let shape = inputs[0].shape else { return [.unknown] }
    switch values {
    case .strings: return [.strings(shape)]
    case .integers: return [.tensor(TensorType(.int64, shape))]
    case .floats: return [.tensor(TensorType(.float32, shape))]
    }
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    if case .strings = values, case .tensor(let numbers) = inputs[0], !StringTensor.takes(numbers.shape) {
      throw refused(0, "\(numbers.type) is more than \(StringTensor.countLimit) strings", remedy: "give fewer numbers")
    }
    let (elements, shape) = try keys.elements(inputs[0], of: self, 0)
    var found: [Int?] = []
    found.reserveCapacity(elements.count)
    for element in elements {
      let place = places[element]
      guard place != nil || otherwise != nil else {
        throw refused(0, "\(element.description) is not known", remedy: "give one of \(keys.preview)")
      }
      found.append(place)
    }
    switch (values, otherwise) {
    case (.strings(let values), let other):
      let standard = if case .strings(let strings)? = other { strings[0] } else { "" }
      return [.strings(StringTensor(found.map { $0.map { values[$0] } ?? standard }, shape))]
    case (.integers(let values), let other):
      let standard: Int64 = if case .integers(let numbers)? = other { numbers[0] } else { 0 }
      return [.tensor(Tensor(found.map { $0.map { values[$0] } ?? standard }, shape))]
    case (.floats(let values), let other):
      let standard: Float = if case .floats(let numbers)? = other { numbers[0] } else { 0 }
      return [.tensor(Tensor(found.map { $0.map { values[$0] } ?? standard }, shape))]
    }
  }
}
