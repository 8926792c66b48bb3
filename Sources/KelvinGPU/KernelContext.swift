package import KelvinDevices
package import KelvinGraph

/// What is known of a node when it is asked whether, and how, it can be lowered.
package struct KernelContext<Target: GPUTarget>: Sendable {
  package let node: Node
  package let graph: Graph
  package let target: Target
  package let inputs: [TensorType]
  package let outputs: [TensorType]

  package init(_ node: Node, _ graph: Graph, _ target: Target) {
    self.node = node
    self.graph = graph
    self.target = target
    inputs = graph.types(node.inputs)
    outputs = graph.types(node.outputs)
  }

  package func unsupported(_ reason: String) -> DeviceError {
    DeviceError(.unsupported, device: target.device, place: "\(node.op.name) '\(node.name)'", reason: reason)
  }

  package func isConstant(_ input: Int) -> Bool { graph[node.inputs[input]].weight != nil }

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

  /// A lowering to one kernel that reads all inputs and writes the one output, dense.
  package func dense(_ call: Call<Target.Program>) -> NodeLowering<Target> {
    NodeLowering { lowering throws(DeviceError) in try lowering.runDense(call) }
  }

  /// The same between blocked tensors, of the first input alone.
  package func blocked(_ call: Call<Target.Program>) -> NodeLowering<Target> {
    let node = node
    return NodeLowering { lowering throws(DeviceError) in
      lowering.run(call, [try lowering.read(node.inputs[0], .blocked)], lowering.write(node.outputs[0], .blocked))
    }
  }

  /// A lowering to one copy of the only input.
  package func moving(_ copy: StridedCopy) throws(DeviceError) -> NodeLowering<Target> {
    let (scalar, node) = (inputs[0].scalar, node)
    let units = target.byteCount(scalar) / target.copyUnit(scalar)
    let rank = copy.of(units: units).axes.count
    guard rank <= target.copyRank else { throw unsupported("\(rank) axes that cannot be merged") }
    return NodeLowering { lowering throws(DeviceError) in
      lowering.copy(
        copy, of: scalar, from: try lowering.read(node.inputs[0], .dense), to: lowering.write(node.outputs[0], .dense))
    }
  }
}
