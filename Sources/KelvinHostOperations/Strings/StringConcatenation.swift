package import KelvinGraph

/// Concatenates each string of one tensor with its counterpart in another (ONNX's `StringConcat`).
package struct StringConcatenation: OneOutputOperation {
  package static let name = "string_concatenation"
  package let pair: StringPair
  package let output: String

  package init(_ pair: StringPair, output: String) {
    self.pair = pair
    self.output = output
  }

  package var inputs: [String] { pair.slots }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    [try pair.shape(inputs, of: self).map { .strings($0) } ?? .unknown]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (pairs, shape) = try pair.pairs(inputs, of: self)
    guard pairs.reduce(0, { $0 + $1.0.utf8.count + $1.1.utf8.count }) <= StringTensor.byteLimit else {
      throw refused(
        0, "\(pairs.count) strings are more than \(StringTensor.byteLimit) bytes", remedy: "give fewer or shorter ones")
    }
    return [.strings(StringTensor(pairs.map { $0 + $1 }, shape))]
  }
}
