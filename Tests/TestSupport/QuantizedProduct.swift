package import KelvinDevices
package import KelvinGraph
import Synchronization

/// A product whose weights are codes, or slices of such weights, and the share of float32's memory that a device may take
/// for them.
package struct QuantizedProduct: Sendable, CustomStringConvertible {
  package let description: String
  package let share: Double
  package let graph: Graph
  /// The bytes of the codes as devices pack them, in 1, 2, 4 or 8 bits.
  package let codeBytes: Int

  private static let operators: [any Operator] = [
    Linear(), Convolution(window: Window(kernel: [1, 1]), groups: 1, epilogue: Epilogue()), Gather(axis: 0),
  ]

  package static let all: [QuantizedProduct] = operators.flatMap { op in
    [
      QuantizedProduct("int8 for each output", share: 0.3, op, blocks: [256, 1], bits: 8),
      QuantizedProduct("int4 by 32 inputs", share: 0.17, op, blocks: [256, 8], bits: 4),
      QuantizedProduct("table of 16", share: 0.17, op, blocks: [1, 1], bits: 4, hasTable: true),
      QuantizedProduct("tables of 64 for each 16 outputs", share: 0.3, op, blocks: [16, 1], bits: 6, hasTable: true),
    ]
  }

  /// 256 inputs and outputs, at one position; or 256 slices of 256 elements, of which two are gathered.
  private init(
    _ name: String, share: Double, _ op: any Operator, blocks: [Int], bits: Int, hasTable: Bool = false
  ) {
    description = "\(op.name) of \(name)"
    self.share = share
    codeBytes = 256 * 256 * (bits == 6 ? 8 : bits) / 8
    let rest = op is Convolution ? [1, 1] : []
    do {
      let codes = Weight(
        try PackedIntegers(
          Bytes(count: 256 * 256 * bits / 8) { raw in for place in raw.indices { raw[place] = UInt8(place * 7 & 0xFF) }
          },
          bits: bits, isSigned: !hasTable, shape: Shape([256, 256] + rest)))
      let shape = Shape(blocks + rest + (hasTable ? [1 << bits, 1] : []))
      let numbers = Weight(
        Tensor(TensorType(.float32, shape), rounding: (0..<shape.count).map { Double($0 % 17 - 8) / 64 }))
      let weight = try hasTable ? Weight(palettized: codes, table: numbers) : Weight(affine: codes, scale: numbers)
      var graph = Graph()
      let isGather = op is Gather
      let input = isGather ? TensorType(.int32, [2]) : TensorType(.float32, Shape([1, 256] + rest))
      let x = graph.addValue(Value(name: "x", type: input))
      let w = graph.addValue(Value(name: "w", type: weight.type, weight: weight))
      let operands = isGather ? [w, x] : [x, w]
      let type = try op.infer(graph.types(operands))[0]
      let y = graph.addValue(Value(name: "y", type: type))
      graph.inputs = [x]
      graph.outputs = [y]
      graph.nodes = [Node(name: "product", op: op, inputs: operands, outputs: [y], origins: [])]
      try graph.verify()
      self.graph = graph
    } catch { preconditionFailure("'\(description)' is not a valid graph: \(error)") }
  }

  /// Returns the bytes that a device packs for the product, as a share of its weights in float32.
  package func packedShare(on device: any Device) throws(DeviceError) -> Double {
    let weights = MeasuredWeights()
    _ = try device.compile(
      Segment(
        graph: graph, precision: .full, threads: 1, isDeterministic: true, weights: weights, blobs: NoBlobCache()))
    return Double(weights.byteCount) / (256 * 256 * 4)
  }
}

/// Packed weights of this process, of which it is known how much they took.
private final class MeasuredWeights: PackedWeights {
  private let memory = MemoryPackedWeights()
  private let sizes = Mutex<[String: Int]>([:])
  var byteCount: Int { sizes.withLock { $0.values.reduce(0, +) } }

  func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    sizes.withLock { $0[key] = byteCount }
    return try memory.packed(key, byteCount: byteCount, fill: fill)
  }
}
