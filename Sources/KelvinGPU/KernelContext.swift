package import KelvinDevices
package import KelvinGraph

/// A node and its target, for deciding whether and how the node can be lowered.
package struct KernelContext<Target: GPUTarget>: Sendable {
  package let request: KernelRequest
  package let target: Target

  package init(_ request: KernelRequest, _ target: Target) {
    self.request = request
    self.target = target
  }

  package var node: Node { request.node }
  package var inputs: [TensorType] { request.inputs }
  package var outputs: [TensorType] { request.outputs }

  /// The inputs as kernels see them: floats stored as float16 have that type.
  var storedInputs: [TensorType] {
    inputs.map { target.isHalf($0.scalar) ? TensorType(.float16, $0.shape) : $0 }
  }

  /// Whether operands or results lose digits in storage.
  var roundsFloats: Bool { target.isHalf(.float32) && (inputs + outputs).contains { $0.scalar == .float32 } }

  package func unsupported(_ reason: String) -> DeviceError {
    DeviceError(.unsupported, device: target.device, place: "\(node.op.name) '\(node.name)'", reason: reason)
  }

  package func isConstant(_ input: Int) -> Bool { request.isConstant(input) }

  /// Whether the second input is a quantized weight that may stay quantized. Implementations that need it as floats
  /// would expand it permanently.
  package var keepsQuantized: Bool { keepsQuantized(of: 1) }

  func keepsQuantized(of input: Int) -> Bool {
    target.unpacksWeights && request.graph[node.inputs[input]].weight?.isBlockQuantized == true
  }

  /// The Winograd tile by which a convolution may be computed; nil if the weight stays quantized. Values stored as
  /// float16 have one only at low precision, with points in float32; constants are not stored so.
  package var winogradTile: WinogradTile? {
    guard !keepsQuantized else { return nil }
    guard target.isHalf(inputs[0].scalar) else { return .small }
    return target.isHalf(.float32) && !isConstant(0) ? .large : nil
  }

  /// - Throws: `.unsupported` unless all these inputs are constant.
  package func requireConstants(_ indices: Range<Int>, _ what: String) throws(DeviceError) {
    for index in indices where !isConstant(index) { throw unsupported("\(what) that are not constant") }
  }

  /// - Throws: `.unsupported` unless all these are float32 or float16.
  package func requireFloats(_ types: [TensorType]) throws(DeviceError) {
    for type in types where type.scalar != .float32 && type.scalar != .float16 {
      throw unsupported("\(type.scalar.rawValue) values")
    }
  }

  package func requireFloats() throws(DeviceError) { try requireFloats(inputs + outputs) }

  /// Returns a lowering to one kernel that reads all inputs and writes the only output, dense.
  package func dense(_ call: KernelDispatch<Target.Program>) -> NodeLowering<Target> {
    NodeLowering { lowering throws(DeviceError) in try lowering.runDense(call) }
  }

  /// Returns an implementation that reads its inputs in the given layouts, dense if not listed, and writes the first
  /// output in blocks. Lanes without a channel count as elements moved.
  package func blocked(
    _ kernel: NodeLowering<Target>, _ key: String = "blocks", reads: [ValueLayout]? = nil, extraCost: Double = 0
  ) -> GPUOffer<Target> {
    let fillers = target.blocks.count(of: outputs[0].shape) - outputs[0].count
    let reads = reads ?? inputs.map { target.blocks.fits($0.shape) ? target.blocks : .dense }
    return KernelOffer(
      kernel, key, KernelLayouts(reads: reads, writes: [target.blocks]), extraCost: extraCost + Double(fillers))
  }

  /// Returns an implementation of one kernel that reads the first input alone and writes blocks.
  package func blocked(_ kernel: GPUKernel) -> GPUOffer<Target> { blocked(target.dispatch(kernel)) }

  /// The same for a dispatch.
  package func blocked(_ call: KernelDispatch<Target.Program>) -> GPUOffer<Target> {
    let (node, blocks) = (node, target.blocks)
    return blocked(
      NodeLowering { lowering throws(DeviceError) in
        lowering.run(call, [try lowering.read(node.inputs[0], blocks)], lowering.write(node.outputs[0], blocks))
      })
  }

  /// Returns an implementation whose operands and result are all in one of the two layouts.
  ///
  /// - Parameter isShared: whether groups share rows.
  func offer(
    _ kernel: NodeLowering<Target>, _ layout: ValueLayout, isShared: Bool = false, extraCost: Double = 0
  ) -> GPUOffer<Target> {
    layout == .dense
      ? KernelOffer(kernel, isShared ? RowGroups.implementation : "dense", extraCost: extraCost)
      : blocked(kernel, isShared ? RowGroups.blockedImplementation : "blocks", extraCost: extraCost)
  }

  /// Whether kernels that read elements one by one can read the first input in blocks.
  var readsElementsOfBlocks: Bool {
    let (shape, blocks) = (inputs[0].shape, target.blocks)
    return shape.rank > 2 && target.seesElements(blocks.count(of: shape))
  }

  /// Whether the channels of the first input, which has at least two axes, fill all lanes of its blocks.
  var fillsBlocks: Bool { inputs[0].shape[1] % target.lanes == 0 }

  /// Returns the implementations of a node whose output is its first input under another name.
  package func renaming() -> [GPUOffer<Target>] {
    let (node, blocks) = (node, target.blocks)
    func renaming(_ layout: ValueLayout) -> NodeLowering<Target> {
      NodeLowering(takesAnySize: true) { lowering throws(DeviceError) in
        try lowering.rename(node.inputs[0], to: node.outputs[0], layout)
      }
    }
    let (from, to) = (inputs[0], outputs[0])
    guard from.scalar.isFloatingPoint, from.shape.rank >= 2, to.shape.rank >= 2,
      BlockedShape(from.shape, lanes: target.lanes) == BlockedShape(to.shape, lanes: target.lanes)
    else { return [KernelOffer(renaming(.dense))] }
    return [
      KernelOffer(renaming(.dense)),
      KernelOffer(renaming(blocks), "blocks", KernelLayouts(reads: [blocks], writes: [blocks])),
    ]
  }

  /// Returns a lowering to one copy of the only input.
  package func moving(_ copy: StridedCopy) throws(DeviceError) -> NodeLowering<Target> {
    let (scalar, node) = (inputs[0].scalar, node)
    let rank = copy.axes.count
    guard rank <= StridedCopy.limit else { throw unsupported("\(rank) axes that cannot be merged") }
    return NodeLowering { lowering throws(DeviceError) in
      lowering.copy(
        copy, of: scalar, from: try lowering.read(node.inputs[0], .dense), to: lowering.write(node.outputs[0], .dense))
    }
  }
}
