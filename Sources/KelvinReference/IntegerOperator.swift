import KelvinDevices
import KelvinGraph

/// An operator that the reference computes in 64-bit integers if all its inputs and outputs are integers or Booleans.
/// Results are exact beyond 2^53, and sums and products wrap as in the element type.
protocol IntegerOperator: Operator {
  /// Computes the output's elements, of which the element type's low bits are used.
  ///
  /// - Returns: nil if the operator cannot compute the result with integers only.
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) throws(DeviceError) -> [Word]?
}

typealias ReferenceInteger = ReferenceElement & FixedWidthInteger & BitwiseCopyable

extension IntegerOperator {
  /// Returns the output, or nil if it cannot be computed with integers only.
  func integers(_ inputs: [Tensor], _ output: TensorType, node: String) throws(DeviceError) -> Tensor? {
    let types = inputs.map(\.type)
    guard (types + [output]).allSatisfy({ !$0.scalar.isFloatingPoint }) else { return nil }
    let words = inputs.map(\.words)
    // Repeated for each word type: a generic function would convert every element through witness tables.
    if types[0].scalar == .uint64 {
      let values = words.map { $0.map { UInt64(truncatingIfNeeded: $0) } }
      let inputs = ReferenceInputs<UInt64>(node: node, types: types, outputs: [output], values: values)
      return try integers(inputs).map { Tensor(output, wrapping: $0.map { Int64(truncatingIfNeeded: $0) }) }
    }
    let inputs = ReferenceInputs<Int64>(node: node, types: types, outputs: [output], values: words)
    return try integers(inputs).map { Tensor(output, wrapping: $0) }
  }
}

/// An operator that moves elements without interpreting them, so that one function serves all element types.
protocol MovingOperator: IntegerOperator {
  func moved<Element: ReferenceElement>(_ inputs: ReferenceInputs<Element>) throws(DeviceError) -> [Element]
}

extension MovingOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) throws(DeviceError) -> [Word]? {
    try moved(inputs)
  }
}

extension ReferenceTable {
  mutating func add<Op: MovingOperator>(moving type: Op.Type) {
    add(type) { (op, inputs) throws(DeviceError) in [try op.moved(inputs)] }
  }
}
