internal import KelvinDevices
internal import KelvinGraph

/// What a kernel needs to know of its node to say whether it serves it.
struct NodeContext: Sendable {
  let node: Node
  let graph: Graph
  let tuning: Tuning
  let device: String

  var inputs: [TensorType] { graph.types(node.inputs) }
  var outputs: [TensorType] { graph.types(node.outputs) }

  /// Throws unless the node's tensors fit 32-bit indices and none is float64.
  func checkSizes() throws(DeviceError) {
    for type in inputs + outputs {
      guard type.scalar != .float64 else { throw unsupported("float64") }
      let channels = type.shape.rank > 2 ? max(type.shape[1], 1) : 1
      let stored = type.shape.rank > 2 ? tuning.blocks(channels) * tuning.lanes : 1
      guard type.count <= 1 << 30, type.count / channels * stored <= 1 << 30 else {
        throw unsupported("tensors of more than 2^30 elements, whole blocks of channels counted, got \(type)")
      }
    }
  }

  /// Throws unless all tensors of the node are floating-point.
  func checkFloats() throws(DeviceError) {
    try checkSizes()
    for type in inputs + outputs where !type.scalar.isFloatingPoint {
      throw unsupported("arithmetic on \(type.scalar.rawValue)")
    }
  }

  func checkConstant(_ input: Int, _ what: String) throws(DeviceError) {
    guard graph[node.inputs[input]].weight != nil else { throw unsupported("\(what) that are not constant") }
  }

  func unsupported(_ reason: String) -> DeviceError {
    DeviceError(.unsupported, device: device, place: "\(node.op.name) '\(node.name)'", reason: reason)
  }
}

/// Adds a node's dispatches to a segment.
struct Emitter: Sendable {
  let emit: @Sendable (inout Lowering) throws(DeviceError) -> Void

  init(_ emit: @escaping @Sendable (inout Lowering) throws(DeviceError) -> Void) { self.emit = emit }
}
typealias Kernels = KernelTable<NodeContext, Emitter>
