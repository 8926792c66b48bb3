import Glibc
package import KelvinGraph

/// The work of nodes for estimates. Kernels that compute element by element are slower than memory and than products.
/// Their costs are bytes that memory moves meanwhile, for each element, measured against the rate of element-wise sums.
extension CPUDevice {
  package func work(of node: Node, in graph: Graph) -> Work {
    var work = graph.work(of: node)
    let (inputs, outputs) = (graph.types(node.inputs), graph.types(node.outputs))
    guard let effort = (node.op as? any CPUEffort)?.effort(inputs, outputs) else { return work }
    work.operations *= effort.operations
    if let bytes = effort.bytes { work.bytes = effort.replacesBytes ? bytes : max(work.bytes, bytes) }
    return work
  }
}

/// How a node's work differs from the work that its operator counts.
struct Effort {
  /// The factor of operations.
  var operations = 1.0
  /// Bytes that memory moves in the time of the node.
  var bytes: Double?
  /// Whether the node moves fewer bytes than its operands have.
  var replacesBytes = false
}

/// An operator whose kernel's time does not follow from its operations and operands.
private protocol CPUEffort: Operator {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort
}

extension Unary: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    Effort(bytes: (Self.bytes[function.kind] ?? 0) * Double(outputs[0].count))
  }

  private static let bytes: [UnaryFunction.Kind: Double] = [
    .sinh: 790, .cosh: 330, .tan: 560, .asinh: 1000, .acosh: 780, .atanh: 900, .erf: 33, .softplus: 42, .log: 18,
    .tanh: 17, .sin: 17, .cos: 17, .gelu: 16, .geluTanh: 23, .sigmoid: 16, .silu: 14, .elu: 14, .selu: 14, .exp: 11,
    .asin: 13, .acos: 13, .atan: 13,
  ]
}

extension Binary: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    let isFloat = inputs[0].scalar.isFloatingPoint
    let bytes: Double =
      switch function {
      case .power: 225
      case .modulo, .remainder, .floorDivide: isFloat ? 97 : 125
      case .divide: isFloat ? 0 : 125
      case .shiftLeft, .shiftRight: 33
      default: 0
      }
    return Effort(bytes: bytes * Double(outputs[0].count))
  }
}

extension Reduce: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    let bytes: Double = function == .logSumExp ? 16 : inputs[0].scalar.isFloatingPoint ? 0 : 45
    return Effort(bytes: bytes * Double(inputs[0].count))
  }
}

extension ArgReduce: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    Effort(bytes: (inputs[0].shape.around(axis).inner == 1 ? 14 : 95) * Double(inputs[0].count))
  }
}

extension CumulativeReduce: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    Effort(bytes: inputs[0].shape.around(axis).inner == 1 ? 150 * Double(inputs[0].count) : 0)
  }
}

extension TopK: CPUEffort {
  /// Most elements fall to a comparison, unless most are taken and all are sorted.
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    let (elements, length) = (Double(inputs[0].count), Double(max(inputs[0].shape[axis], 1)))
    let taken = Double(count)
    guard taken * 8 < length else { return Effort(bytes: 350 * elements * log2(max(taken, 2))) }
    return Effort(bytes: 7 * elements + 2800 * elements / length * taken * log(length / max(taken, 1)))
  }
}

extension Unique: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    Effort(bytes: 580 * Double(inputs[0].count) * log2(Double(max(inputs[0].count, 2))))
  }
}

extension NonZero: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    Effort(bytes: 350 * Double(inputs[0].count))
  }
}

/// The elements of x that are read are as many as those of the result.
private func gathering(_ inputs: [TensorType], _ outputs: [TensorType], perElement bytes: Double) -> Effort {
  let moved = Double(inputs[1].byteCount + outputs[0].byteCount + min(inputs[0].byteCount, outputs[0].byteCount))
  return Effort(bytes: max(moved, bytes * Double(outputs[0].count)), replacesBytes: true)
}

extension Gather: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    let inner = inputs[0].shape.around(axis).inner
    let isFar = inner == 1 && inputs[0].shape[axis] * inputs[0].scalar.byteCount > 1 << 18
    return gathering(inputs, outputs, perElement: isFar ? 110 : 0)
  }
}

extension GatherElements: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    let isNear = axis == inputs[0].shape.rank - 1 && inputs[0].shape[axis] * inputs[0].scalar.byteCount <= 1 << 15
    return gathering(inputs, outputs, perElement: isNear ? 45 : 148)
  }
}

extension GatherND: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    let tuples = inputs[1].count / max(inputs[1].shape.dimensions.last ?? 1, 1)
    return gathering(inputs, outputs, perElement: outputs[0].count == tuples ? 465 : 0)
  }
}

extension ScatterElements: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    Effort(bytes: 115 * Double(inputs[1].count))
  }
}

extension ScatterND: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    let tuples = inputs[1].count / max(inputs[1].shape.dimensions.last ?? 1, 1)
    return Effort(bytes: inputs[2].count == tuples ? 380 * Double(tuples) : 0)
  }
}

extension RandomUniform: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    Effort(bytes: 140 * Double(outputs[0].count))
  }
}

extension Softmax: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    Effort(bytes: 22 * Double(outputs[0].count))
  }
}

extension LocalResponseNormalization: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    Effort(bytes: 52 * Double(outputs[0].count))
  }
}

extension Resize: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    Effort(bytes: 17 * Double(outputs[0].count))
  }
}

extension Transpose: CPUEffort {
  /// Tiles are transposed at the speed of memory, unless rows are short or map to the same lines of a cache.
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    let (shape, strides) = (outputs[0].shape, inputs[0].shape.strides)
    let layout = StridedLayout(shape.dimensions, [permutation.map { strides[$0] }, shape.strides])
    guard layout.rank > 1, layout.strides[0].last != 1 else { return Effort() }
    let isSlow = layout.rank > 2 || (layout.strides[0].last ?? 0) * inputs[0].scalar.byteCount % 4096 == 0
    return Effort(bytes: isSlow ? 22 * Double(outputs[0].count) : 0)
  }
}

extension Slice: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    Effort(bytes: (steps.last ?? 1) < 0 ? 16 * Double(outputs[0].count) : 0)
  }
}

extension Pool: CPUEffort {
  /// A pool joins windows along one axis after the other, and twice as many positions in each pass.
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    let passes = window.kernel.reduce(0.0) { $0 + log2(Double(max($1, 2))) }
    let elements = max(Double(outputs[0].count), Double(inputs[0].count) / 3)
    let bytes = (inputs[0].scalar.isFloatingPoint ? 12 : 24) * passes * elements
    return Effort(operations: 0, bytes: bytes)
  }
}

extension MatMulInteger: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort { Effort(operations: 0.6) }
}

extension Attention: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort { Effort(operations: 1.4) }
}

extension MatMul: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    let rank = inputs[0].shape.rank
    return ofProduct(length: inputs[0].shape[transposesX ? rank - 2 : rank - 1])
  }
}

extension Linear: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort { ofProduct(length: inputs[1].shape[1]) }
}

/// Sums of few products are stored as often as those of many.
private func ofProduct(length: Int) -> Effort { Effort(operations: 1 + 64 / Double(max(length, 1))) }

extension Convolution: CPUEffort {
  /// Blocks and tiles have two axes, and groups have few channels.
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    let channels = inputs[1].shape[1]
    return Effort(operations: channels == 1 ? 1 : (window.count > 2 ? 2 : 1) * (channels < 16 ? 2 : 1))
  }
}

extension ConvolutionInteger: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    Effort(operations: window.count > 2 ? 3 : 1)
  }
}

extension ConvolutionTranspose: CPUEffort {
  func effort(_ inputs: [TensorType], _ outputs: [TensorType]) -> Effort {
    Effort(operations: window.count > 2 ? 3 : 1.5)
  }
}
