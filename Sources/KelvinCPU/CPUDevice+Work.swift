import Glibc
package import KelvinGraph

/// The work of nodes for estimates. Kernels that compute element by element are slower than memory and than products.
/// Their costs are bytes that memory moves meanwhile, for each element, measured against the rate of element-wise sums.
extension CPUDevice {
  package func work(of node: Node, in graph: Graph) -> Work {
    var work = graph.work(of: node)
    let (inputs, outputs) = (graph.types(node.inputs), graph.types(node.outputs))
    guard let correction = (node.op as? any CPUWorkCorrecting)?.correction(inputs, outputs) else { return work }
    work.operations *= correction.operations
    if let bytes = correction.bytes { work.bytes = correction.replacesBytes ? bytes : max(work.bytes, bytes) }
    return work
  }
}

/// How a node's work differs from the work that its operator counts.
struct WorkCorrection {
  /// The factor of operations.
  var operations = 1.0
  /// Bytes that memory moves in the time of the node.
  var bytes: Double?
  /// Whether the node moves fewer bytes than its operands have.
  var replacesBytes = false
}

/// An operator whose kernel's time does not follow from its operations and operands.
private protocol CPUWorkCorrecting: Operator {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection
}

extension Unary: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: (Self.bytes[function.kind] ?? 0) * Double(outputs[0].count))
  }

  private static let bytes: [UnaryFunction.Kind: Double] = [
    .sinh: 790, .cosh: 330, .tan: 560, .asinh: 1000, .acosh: 780, .atanh: 900, .erf: 33, .softplus: 42, .log: 18,
    .tanh: 17, .sin: 17, .cos: 17, .gelu: 16, .geluTanh: 23, .sigmoid: 16, .silu: 14, .elu: 14, .selu: 14, .exp: 11,
    .asin: 13, .acos: 13, .atan: 13,
  ]
}

extension Binary: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let isFloat = inputs[0].scalar.isFloatingPoint
    let bytes: Double =
      switch function {
      case .power: 225
      case .modulo, .remainder, .floorDivide: isFloat ? 97 : 125
      case .divide: isFloat ? 0 : 125
      case .shiftLeft, .shiftRight: 33
      default: 0
      }
    return WorkCorrection(bytes: bytes * Double(outputs[0].count))
  }
}

extension Reduce: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let bytes: Double = function == .logSumExp ? 16 : inputs[0].scalar.isFloatingPoint ? 0 : 45
    return WorkCorrection(bytes: bytes * Double(inputs[0].count))
  }
}

extension ArgReduce: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: (inputs[0].shape.around(axis).inner == 1 ? 14 : 95) * Double(inputs[0].count))
  }
}

extension CumulativeReduce: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: inputs[0].shape.around(axis).inner == 1 ? 150 * Double(inputs[0].count) : 0)
  }
}

extension TopK: CPUWorkCorrecting {
  /// Most elements fall to a comparison, unless most are taken and all are sorted.
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let (elements, length) = (Double(inputs[0].count), Double(max(inputs[0].shape[axis], 1)))
    let taken = Double(count)
    guard taken * 8 < length else { return WorkCorrection(bytes: 350 * elements * log2(max(taken, 2))) }
    return WorkCorrection(bytes: 7 * elements + 2800 * elements / length * taken * log(length / max(taken, 1)))
  }
}

extension Unique: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: 580 * Double(inputs[0].count) * log2(Double(max(inputs[0].count, 2))))
  }
}

extension NonZero: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: 350 * Double(inputs[0].count))
  }
}

/// The elements of x that are read are as many as those of the result.
private func gathering(_ inputs: [TensorType], _ outputs: [TensorType], perElement bytes: Double) -> WorkCorrection {
  let moved = Double(inputs[1].byteCount + outputs[0].byteCount + min(inputs[0].byteCount, outputs[0].byteCount))
  return WorkCorrection(bytes: max(moved, bytes * Double(outputs[0].count)), replacesBytes: true)
}

extension Gather: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let inner = inputs[0].shape.around(axis).inner
    let isFar = inner == 1 && inputs[0].shape[axis] * inputs[0].scalar.byteCount > 1 << 18
    return gathering(inputs, outputs, perElement: isFar ? 110 : 0)
  }
}

extension GatherElements: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let isNear = axis == inputs[0].shape.rank - 1 && inputs[0].shape[axis] * inputs[0].scalar.byteCount <= 1 << 15
    return gathering(inputs, outputs, perElement: isNear ? 45 : 148)
  }
}

extension GatherND: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let tuples = inputs[1].count / max(inputs[1].shape.dimensions.last ?? 1, 1)
    return gathering(inputs, outputs, perElement: outputs[0].count == tuples ? 465 : 0)
  }
}

extension ScatterElements: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: 115 * Double(inputs[1].count))
  }
}

extension ScatterND: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let tuples = inputs[1].count / max(inputs[1].shape.dimensions.last ?? 1, 1)
    return WorkCorrection(bytes: inputs[2].count == tuples ? 380 * Double(tuples) : 0)
  }
}

extension RandomUniform: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: 140 * Double(outputs[0].count))
  }
}

extension Softmax: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: 22 * Double(outputs[0].count))
  }
}

extension LocalResponseNormalization: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: 52 * Double(outputs[0].count))
  }
}

extension Resize: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: 17 * Double(outputs[0].count))
  }
}

extension Transpose: CPUWorkCorrecting {
  /// Tiles are transposed at the speed of memory, unless rows are short or map to the same lines of a cache.
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let (shape, strides) = (outputs[0].shape, inputs[0].shape.strides)
    let layout = StridedLayout(shape.dimensions, [permutation.map { strides[$0] }, shape.strides])
    guard layout.rank > 1, layout.strides[0].last != 1 else { return WorkCorrection() }
    let isSlow = layout.rank > 2 || (layout.strides[0].last ?? 0) * inputs[0].scalar.byteCount % 4096 == 0
    return WorkCorrection(bytes: isSlow ? 22 * Double(outputs[0].count) : 0)
  }
}

extension Slice: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: (steps.last ?? 1) < 0 ? 16 * Double(outputs[0].count) : 0)
  }
}

extension Pool: CPUWorkCorrecting {
  /// A pool joins windows along one axis after the other, and twice as many positions in each pass.
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let passes = window.kernel.reduce(0.0) { $0 + log2(Double(max($1, 2))) }
    let elements = max(Double(outputs[0].count), Double(inputs[0].count) / 3)
    let bytes = (inputs[0].scalar.isFloatingPoint ? 12 : 24) * passes * elements
    return WorkCorrection(operations: 0, bytes: bytes)
  }
}

extension MatMulInteger: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection { WorkCorrection(operations: 0.6) }
}

extension Attention: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection { WorkCorrection(operations: 1.4) }
}

extension MatMul: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let rank = inputs[0].shape.rank
    return ofProduct(length: inputs[0].shape[transposesX ? rank - 2 : rank - 1])
  }
}

extension Linear: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    ofProduct(length: inputs[1].shape[1])
  }
}

/// Sums of few products are stored as often as those of many.
private func ofProduct(length: Int) -> WorkCorrection { WorkCorrection(operations: 1 + 64 / Double(max(length, 1))) }

extension Convolution: CPUWorkCorrecting {
  /// Blocks and tiles have two axes, and groups have few channels.
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let channels = inputs[1].shape[1]
    return WorkCorrection(operations: channels == 1 ? 1 : (window.count > 2 ? 2 : 1) * (channels < 16 ? 2 : 1))
  }
}

extension ConvolutionInteger: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(operations: window.count > 2 ? 3 : 1)
  }
}

extension ConvolutionTranspose: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(operations: window.count > 2 ? 3 : 1.5)
  }
}
