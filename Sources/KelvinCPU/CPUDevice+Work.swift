import Glibc
import KelvinDevices
package import KelvinGraph

/// The work of nodes for estimates. Kernels that compute element by element are slower than memory and than products.
/// Their costs are bytes that memory moves meanwhile, for each element, measured against the rate of element-wise sums.
extension CPUDevice {
  package func work(of node: Node, in graph: Graph) -> Work {
    var work = graph.work(of: node)
    let (inputs, outputs) = (graph.types(node.inputs), graph.types(node.outputs))
    if node.op is Linear, let columns = CodedColumns(of: 1, CPUContext(KernelRequest(node, in: graph), variant)) {
      work.bytes -= Double(inputs[1].byteCount - columns.byteCount)
      // Codes are unpacked once for all rows, in about the time of one row's products.
      work.operations *= 1 + Double(outputs[0].shape.dimensions.last ?? 1) / Double(max(outputs[0].count, 1))
    }
    guard let op = node.op as? any CPUWorkCorrecting else { return work }
    let sources = node.inputs.map { id -> OperandSource in
      graph[id].weight != nil ? .constant : graph.inputs.contains(id) ? .given : .computed
    }
    let correction = op.correction(inputs, outputs, sources)
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

/// The origin of a node's operand in its graph.
enum OperandSource {
  case constant, given, computed
}

/// An operator whose kernel's time does not follow from its operations and operands.
private protocol CPUWorkCorrecting: Operator {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection
  func correction(
    _ inputs: [TensorType], _ outputs: [TensorType], _ sources: [OperandSource]
  ) -> WorkCorrection
}

extension CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection { WorkCorrection() }

  func correction(
    _ inputs: [TensorType], _ outputs: [TensorType], _ sources: [OperandSource]
  ) -> WorkCorrection { correction(inputs, outputs) }
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
  /// The lanes of a vector are combined one by one at the end of each row.
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let bytes: Double = function == .logSumExp ? 16 : inputs[0].scalar.isFloatingPoint ? 0 : 45
    let elements = bytes * Double(inputs[0].count)
    guard axes.contains(inputs[0].shape.rank - 1), inputs[0].scalar.isFloatingPoint else {
      return WorkCorrection(bytes: elements)
    }
    let perRow: Double = function == .maximum || function == .minimum ? 2200 : 400
    let rows = perRow * Double(outputs[0].count)
    return WorkCorrection(bytes: max(elements, Double(inputs[0].byteCount)) + rows)
  }
}

extension ArgReduce: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let line = inputs[0].shape.around(axis)
    return WorkCorrection(bytes: (line.inner > 1 ? 20 : line.length < 32 ? 30 : 14) * Double(inputs[0].count))
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
    WorkCorrection(bytes: 170 * Double(inputs[0].count * inputs[0].shape.rank))
  }
}

/// The elements of x that are read are as many as those of the result.
private func gathering(_ inputs: [TensorType], _ outputs: [TensorType], perElement bytes: Double) -> WorkCorrection {
  let moved = Double(inputs[1].byteCount + outputs[0].byteCount + min(inputs[0].byteCount, outputs[0].byteCount))
  return WorkCorrection(bytes: max(moved, bytes * Double(outputs[0].count)), replacesBytes: true)
}

extension Gather: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    guard inputs[0].shape.around(axis).inner == 1 else { return gathering(inputs, outputs, perElement: 0) }
    let isFar = inputs[0].shape[axis] * inputs[0].scalar.byteCount > 1 << 18
    return gathering(inputs, outputs, perElement: isFar ? 80 : 26)
  }
}

extension GatherElements: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let length = inputs[0].shape[axis]
    // Few elements of a row lie in cache lines of their own.
    if axis == inputs[0].shape.rank - 1, outputs[0].shape[axis] * 16 < length {
      return gathering(inputs, outputs, perElement: 340)
    }
    return gathering(inputs, outputs, perElement: isNear(axis, inputs[0]) ? 28 : 110)
  }
}

/// Whether the elements along an axis are close together.
private func isNear(_ axis: Int, _ x: TensorType) -> Bool {
  axis == x.shape.rank - 1 && x.shape[axis] * x.scalar.byteCount <= 1 << 15
}

extension GatherND: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let tuples = inputs[1].count / max(inputs[1].shape.dimensions.last ?? 1, 1)
    return gathering(inputs, outputs, perElement: outputs[0].count == tuples ? 465 : 0)
  }
}

extension ScatterElements: CPUWorkCorrecting {
  func correction(
    _ inputs: [TensorType], _ outputs: [TensorType], _ sources: [OperandSource]
  ) -> WorkCorrection {
    // One axis holds the elements of an image, and most indices name neighbors of those before.
    let perElement = isNear(axis, inputs[0]) ? 40.0 : inputs[0].shape.rank == 1 ? 60 : 115
    return scattering(inputs, sources, perElement: perElement)
  }
}

extension ScatterND: CPUWorkCorrecting {
  func correction(
    _ inputs: [TensorType], _ outputs: [TensorType], _ sources: [OperandSource]
  ) -> WorkCorrection {
    let tuples = inputs[1].count / max(inputs[1].shape.dimensions.last ?? 1, 1)
    return scattering(inputs, sources, perElement: inputs[2].count == tuples ? 380 : 0)
  }
}

/// A tensor that the graph computes is updated in place.
private func scattering(
  _ inputs: [TensorType], _ sources: [OperandSource], perElement bytes: Double
) -> WorkCorrection {
  let moved = Double(inputs[1].byteCount + 2 * inputs[2].byteCount)
  return WorkCorrection(
    bytes: max(moved, bytes * Double(inputs[2].count)), replacesBytes: sources[0] == .computed)
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
    let (layout, width) = StridedLayout(shape.dimensions, [permutation.map { strides[$0] }, shape.strides])
      .widened(element: inputs[0].scalar.byteCount)
    guard layout.rank > 1, layout.strides[0].last != 1 else { return WorkCorrection() }
    let isSlow =
      layout.rank > 2 || (layout.strides[0].last ?? 0) * inputs[0].scalar.byteCount * width % 4096 == 0
    return WorkCorrection(bytes: isSlow ? 22 * Double(outputs[0].count) : 0)
  }
}

extension Slice: CPUWorkCorrecting {
  /// Only the elements that are kept are read, and those in the same lines of a cache.
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    let step = steps.last ?? 1
    let moved = Double(1 + min(max(step, 1), 16)) * Double(outputs[0].byteCount)
    return WorkCorrection(bytes: step < 0 ? max(moved, 16 * Double(outputs[0].count)) : moved, replacesBytes: true)
  }
}

extension Quantize: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: axis.isOfShortRuns(inputs[0]) ? 12 * Double(outputs[0].count) : nil)
  }
}

extension Dequantize: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: axis.isOfShortRuns(inputs[0]) ? 10 * Double(outputs[0].count) : nil)
  }
}

extension QuantizationAxis {
  /// Whether scales change after every few elements of a row.
  fileprivate func isOfShortRuns(_ x: TensorType) -> Bool { blockSize > 1 && axis == x.shape.rank - 1 }
}

extension OverlapAdd: CPUWorkCorrecting {
  /// Neighboring blocks are added by vectors, others element by element.
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(bytes: (strides.last == 1 ? 9 : 20) * Double(inputs[0].count))
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

/// The rates of products relative to the general rate of operations, in which small tiles of convolutions save
/// most multiplications.
private let product = 1.55

extension LinearInteger: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection { WorkCorrection(operations: 0.5) }
}

extension MatMulInteger: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection { WorkCorrection(operations: 0.5) }
}

extension Attention: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(operations: 1.25 * product)
  }
}

extension Recurrence: CPUWorkCorrecting {
  /// The products of each step are small.
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(operations: 1.4 * product)
  }
}

extension MatMul: CPUWorkCorrecting {
  /// A right operand that is not constant is packed. Large ones come from memory, at half the rate of caches.
  func correction(
    _ inputs: [TensorType], _ outputs: [TensorType], _ sources: [OperandSource]
  ) -> WorkCorrection {
    let rank = inputs[0].shape.rank
    var correction = ofProduct(length: inputs[0].shape[transposesX ? rank - 2 : rank - 1])
    let rows = rank < 2 ? 1 : inputs[0].shape[transposesX ? rank - 1 : rank - 2]
    let isPacked = sources[1] != .constant && rows > 1
    if isPacked || inputs[1].byteCount > 1 << 23 {
      correction.bytes = (isPacked ? 19 : 8) * Double(inputs[1].count)
    }
    return correction
  }
}

extension Linear: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    ofProduct(length: inputs[1].shape[1])
  }
}

/// Sums of few products are stored as often as those of many.
private func ofProduct(length: Int) -> WorkCorrection {
  WorkCorrection(operations: product * (1 + 8 / Double(max(length, 1))))
}

extension Convolution: CPUWorkCorrecting {
  /// Blocks and tiles have two axes, and groups have few channels.
  func correction(
    _ inputs: [TensorType], _ outputs: [TensorType], _ sources: [OperandSource]
  ) -> WorkCorrection {
    let (channels, isDeep) = (inputs[1].shape[1], window.rank > 2)
    if groups > 1, channels < 16 {
      let isLine = [3, 5, 7].contains(window.kernel.last) && window.strides.last == 1 && window.dilations.last == 1
      return WorkCorrection(operations: (isLine ? 1 + 6 / Double(window.count) : 2.6) * product)
    }
    if window.count == 1, !isDeep { return WorkCorrection() }
    let takesTiles =
      window.kernel == [3, 3] && window.strides == [1, 1] && window.dilations == [1, 1] && groups == 1
      && min(channels, outputs[0].shape[1]) >= 32 && sources[1] == .constant
    return WorkCorrection(operations: takesTiles ? 0.6 : isDeep ? 1.5 * product : 1.15 * product)
  }
}

extension ConvolutionInteger: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(operations: window.rank > 2 ? 3.8 : 1.1)
  }
}

extension ConvolutionTranspose: CPUWorkCorrecting {
  func correction(_ inputs: [TensorType], _ outputs: [TensorType]) -> WorkCorrection {
    WorkCorrection(operations: window.rank > 2 ? 3.8 : 1.9)
  }
}
