package import KelvinGraph

/// Reinterprets the bits of a tensor's elements as another type of the same size (ONNX's `BitCast`).
package struct TensorBits: OneInputOperation {
  package static let name = "tensor_bits"
  package let scalar: ScalarType
  package let input: String
  package let output: String

  package init(as scalar: ScalarType, input: String, output: String) {
    self.scalar = scalar
    self.input = input
    self.output = output
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    guard case .tensor(let type) = inputs[0] else { return [.unknown] }
    return [.tensor(try recast(type))]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let tensor = try tensor(0, inputs)
    return [.tensor(Tensor(try recast(tensor.type), tensor.bytes))]
  }

  private func recast(_ type: TensorType) throws(HostOperationError) -> TensorType {
    guard type.scalar.byteCount == scalar.byteCount, scalar != .bool || type.scalar == .bool else {
      throw refused(0, "the bits of \(type) cannot be read as \(scalar)")
    }
    return TensorType(scalar, type.shape)
  }
}
