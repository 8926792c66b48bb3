import KelvinDevices
import KelvinGraph

/// What builds the steps of one node.
struct Kernel {
  let build: (SegmentBuilder) throws(DeviceError) -> Void
}

/// Every operator this device has kernels for.
let kernelCatalog: KernelTable<KernelContext, Kernel> = {
  var table = KernelTable<KernelContext, Kernel>()
  table.addArgReduce()
  table.addBatchNormalization()
  table.addBinary()
  table.addCast()
  table.addCompare()
  table.addConcat()
  table.addConvolution()
  table.addConvolutionTranspose()
  table.addCumulativeSum()
  table.addDequantize()
  table.addExpand()
  table.addGather()
  table.addGatherElements()
  table.addGatherND()
  table.addLayerNormalization()
  table.addLinear()
  table.addLocalResponseNormalization()
  table.addMatMul()
  table.addPad()
  table.addPool()
  table.addQuantize()
  table.addReduce()
  table.addReshape()
  table.addResize()
  table.addSelect()
  table.addSlice()
  table.addSoftmax()
  table.addTranspose()
  table.addUnary()
  return table
}()

/// What a kernel is told of its node. A kernel that cannot serve it throws `.unsupported`.
struct KernelContext: Sendable {
  let node: Node
  let inputs: [TensorType]
  let outputs: [TensorType]
  /// Whether each input is a constant.
  let isConstant: [Bool]
  let traits: VulkanTraits

  init(_ node: Node, _ graph: Graph, _ traits: VulkanTraits) {
    self.node = node
    inputs = graph.types(node.inputs)
    outputs = graph.types(node.outputs)
    isConstant = node.inputs.map { graph[$0].weight != nil }
    self.traits = traits
  }

  /// The first tensor that is too large for a storage buffer, in either layout, or a texel buffer.
  var firstOversized: TensorType? {
    for (type, isConstant) in zip(inputs + outputs, isConstant + outputs.map { _ in false }) {
      let blocked = type.shape.rank >= 2 ? BlockedShape(type.shape).count : 0
      let byteCount = isConstant ? 0 : max(type.words * 4, blocked * 16)
      if type.words > traits.texelLimit || byteCount > traits.byteLimit { return type }
    }
    return nil
  }

  func unsupported(_ reason: String) -> DeviceError {
    DeviceError(.unsupported, device: "vulkan", place: "\(node.op.name) '\(node.name)'", reason: reason)
  }

  /// - Throws: `.unsupported` unless all these are float32 or float16.
  func requireFloats(_ types: [TensorType]) throws(DeviceError) {
    for type in types where type.scalar != .float32 && type.scalar != .float16 {
      throw unsupported("\(type.scalar.rawValue) values")
    }
  }

  func requireFloats() throws(DeviceError) { try requireFloats(inputs + outputs) }

  /// How the elements of a type lie inside a segment.
  ///
  /// - Throws: `.unsupported` for float64.
  func element(_ type: TensorType) throws(DeviceError) -> Element {
    guard let element = Element(type.scalar) else { throw unsupported("\(type.scalar.rawValue) values") }
    return element
  }

  /// - Throws: `.unsupported` unless all these lie in words of 32 bits.
  func requireElements() throws(DeviceError) {
    for type in inputs + outputs { _ = try element(type) }
  }

  func requireConstants(_ indices: Range<Int>, _ what: String) throws(DeviceError) {
    for index in indices where !isConstant[index] { throw unsupported("\(what) that are not constant") }
  }
}
