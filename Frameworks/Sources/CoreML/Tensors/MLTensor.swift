public import Kelvin

/// An array of numbers of any rank, computed when the program needs its numbers.
///
/// Operators and methods do not compute: they note what to compute, with the result's shape and scalar type.
/// ``shapedArray(of:)`` runs the noted operations as a model of Kelvin. Equal operations on equal shapes are compiled
/// once in a process.
///
/// Shapes, axes and types are checked when an operation is noted, as preconditions. Operands of two types get a common
/// type: floating point precedes integers, integers precede Booleans, and a wider type precedes a narrower one. A literal
/// takes the type of the other operand.
public struct MLTensor: Sendable {
  let handle: TensorHandle

  var node: TensorNode { handle.node }
  var type: MultiArrayDataType { node.type }

  /// The size of each dimension, outermost first; empty for a scalar.
  public var shape: [Int] { node.shape }
  /// The number of dimensions.
  public var rank: Int { shape.count }
  /// The number of elements.
  public var scalarCount: Int { shape.reduce(1, *) }
  /// Whether the tensor has no dimensions.
  public var isScalar: Bool { shape.isEmpty }

  /// The type of the elements.
  public var scalarType: any MLTensorScalar.Type {
    guard let scalar = type.tensorScalar else { preconditionFailure("a tensor has no elements of \(type.rawValue)") }
    return scalar
  }

  init(_ node: TensorNode) { handle = TensorHandle(node) }

  /// Creates a tensor that has its numbers. The array must not change.
  init(_ value: MultiArray, isLiteral: Bool = false) { self.init(TensorNode(value, isLiteral: isLiteral)) }

  /// Notes an operator of ONNX. A result without elements needs no run.
  init(
    _ kind: String, _ inputs: [TensorOperation.Input],
    _ attributes: KeyValuePairs<String, TensorOperation.Attribute> = [:], output: Int = 0, shape: [Int],
    type: MultiArrayDataType
  ) {
    if shape.contains(0) {
      self.init(MultiArray.filled(type, shape) { _ in })
    } else {
      let operation = TensorOperation(kind: kind, inputs: inputs, attributes: attributes, output: output)
      self.init(TensorNode(operation, shape: shape, type: type))
    }
  }

  /// Computes the tensor, unless it was computed before, and returns its numbers.
  ///
  /// Operands that the program still holds keep their numbers as well. Cancelling the task does not end the computation.
  ///
  /// - Precondition: `scalarType` is the tensor's scalar type, and Kelvin can compute the operations.
  public func shapedArray<Scalar: MLShapedArrayScalar & MLTensorScalar>(
    of scalarType: Scalar.Type
  ) async -> MLShapedArray<Scalar> {
    precondition(
      type == Scalar.multiArrayDataType,
      "the tensor holds \(self.scalarType), not \(Scalar.self): cast(to:) converts it")
    do { return MLShapedArray(try await TensorProgram.values(of: [node])[0]) } catch {
      preconditionFailure("a tensor of shape \(shape) was not computed: \(error)")
    }
  }

  /// Converts the elements to another type. Fractions are cut off, and any number but 0 is `true`.
  public func cast<Scalar: MLTensorScalar>(to scalarType: Scalar.Type) -> MLTensor { cast(Scalar.multiArrayDataType) }

  /// Converts the elements to the type of another tensor.
  public func cast(like other: MLTensor) -> MLTensor { cast(other.type) }

  func cast(_ target: MultiArrayDataType) -> MLTensor {
    if type == target { return self }
    if node.isLiteral, let value = node.value {
      let converted = MultiArray.filled(target, shape) { _ in }
      do { try value.transfer(to: converted) } catch { preconditionFailure("\(error)") }
      return MLTensor(converted, isLiteral: true)
    }
    return MLTensor("Cast", [.node(node)], ["to": .integer(ONNXWriter.elementType(target))], shape: shape, type: target)
  }

  /// Returns an axis as an index of a dimension.
  ///
  /// - Precondition: the axis is in `-rank..<rank`.
  func index(ofAxis axis: Int, extra: Int = 0, _ caller: String = #function) -> Int {
    let count = rank + extra
    precondition(-count..<count ~= axis, "\(caller): axis \(axis) of a tensor of rank \(count)")
    return axis < 0 ? axis + count : axis
  }

  func indices(ofAxes axes: [Int], extra: Int = 0, _ caller: String = #function) -> [Int] {
    let found = axes.map { index(ofAxis: $0, extra: extra, caller) }
    precondition(Set(found).count == found.count, "\(caller): axes \(axes) name a dimension twice")
    return found
  }
}

extension MLTensor: CustomStringConvertible, CustomReflectable {
  /// The shape and the scalar type. The numbers may not have been computed.
  public var description: String { "MLTensor(shape: \(shape), scalarType: \(scalarType))" }
  public var customMirror: Mirror { Mirror(self, children: ["shape": shape, "scalarType": scalarType]) }
}

extension MultiArray {
  /// Creates a dense array of zeros and fills it.
  ///
  /// - Precondition: the shape has no negative size and fits memory.
  static func filled(
    _ type: MultiArrayDataType, _ shape: [Int], _ fill: (UnsafeMutableRawBufferPointer) throws -> Void
  ) rethrows -> MultiArray {
    let array: MultiArray
    do { array = try MultiArray(shape: shape, dataType: type) } catch { preconditionFailure("\(error)") }
    try array.withUnsafeMutableBytes { bytes, _ in try fill(bytes) }
    return array
  }
}
