package import KelvinGraph

/// Compares each string of one tensor with its counterpart in another, scalar by scalar (ONNX's `Equal` of strings).
package struct StringEquality: OneOutputOperation {
  package static let name = "string_equality"
  package let pair: StringPair
  package let output: String

  package init(_ pair: StringPair, output: String) {
    self.pair = pair
    self.output = output
  }

  package var inputs: [String] { pair.slots }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    [try pair.shape(inputs, of: self).map { .tensor(TensorType(.bool, $0)) } ?? .unknown]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (pairs, shape) = try pair.pairs(inputs, of: self)
    let equal = pairs.map { $0.unicodeScalars.elementsEqual($1.unicodeScalars) ? 1.0 : 0 }
    return [.tensor(Tensor(TensorType(.bool, shape), rounding: equal))]
  }
}
