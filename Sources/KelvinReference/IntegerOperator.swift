import KelvinDevices
import KelvinGraph

/// An operator that the reference computes in 64-bit integers where all its inputs and outputs are integers or truth
/// values: nothing is lost beyond 2^53, and sums and products wrap as they do in the element type.
protocol IntegerOperator: Operator {
  /// - Returns: the output's elements, of which the element type's low bits count; nil where the result is not made of
  ///   integers alone.
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) throws(DeviceError) -> [Word]?
}

typealias ReferenceInteger = ReferenceElement & FixedWidthInteger & BitwiseCopyable

extension IntegerOperator {
  /// The output, or nil where it is not one of integers alone.
  func integers(_ inputs: [Tensor], _ output: TensorType, node: String) throws(DeviceError) -> Tensor? {
    let types = inputs.map(\.type)
    guard (types + [output]).allSatisfy({ !$0.scalar.isFloatingPoint }) else { return nil }
    let words = inputs.map(\.words)
    // Written out for each word: a generic function here would convert element by element through witness tables.
    if types[0].scalar == .uint64 {
      let values = words.map { $0.map { UInt64(truncatingIfNeeded: $0) } }
      let inputs = ReferenceInputs<UInt64>(node: node, types: types, outputs: [output], values: values)
      return try integers(inputs).map { Tensor(output, wrapping: $0.map { Int64(truncatingIfNeeded: $0) }) }
    }
    let inputs = ReferenceInputs<Int64>(node: node, types: types, outputs: [output], values: words)
    return try integers(inputs).map { Tensor(output, wrapping: $0) }
  }
}
