import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ONNXHostMapper {
  /// Reinterprets the bits of elements; no graph operator does this.
  static let bitCast = ONNXHostMapper("BitCast") { (node) throws(FormatError) in
    let target = node.integer("to", default: 0)
    guard let scalar = ScalarType(onnx: target), target != ONNXSchema.TensorProto.DataType.bfloat16 else {
      throw node.unsupported("it asks for the bits of the element type \(target)")
    }
    if let type = node.lowPrecisionTypes[try node.input(0)] {
      throw node.unsupported("it asks for the bits of \(type), whose values are held in \(type.scalar)")
    }
    let step = TensorBits(as: scalar, input: try node.input(0), output: try node.output())
    return [Output(step: step, isHostValue: false)]
  }
}
