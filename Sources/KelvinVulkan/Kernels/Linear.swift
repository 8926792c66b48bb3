import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addLinear() {
    add(Linear.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      try context.requireConstants(1..<2, "weights")
      if op.epilogue.hasBias { try context.requireConstants(2..<3, "biases") }
      let weights = context.inputs[1].shape
      let node = context.node
      let product = RowProduct(
        rows: context.outputs[0].count / max(weights[0], 1), depth: weights[1], columns: weights[0],
        inputStride: weights[1], outputStride: weights[0])
      return Kernel { builder throws(DeviceError) in try product.build(builder, node, op.epilogue, .dense) }
    }
  }
}

/// Rows times packed weights, with an epilogue.
struct RowProduct: Sendable {
  var rows, depth, columns: Int
  /// Elements from row to row.
  var inputStride, outputStride: Int

  /// - Parameter layout: of the rows read and written; weights `[columns, depth]` are the node's second input.
  func build(
    _ builder: SegmentBuilder, _ node: Node, _ epilogue: Epilogue, _ layout: Layout
  ) throws(DeviceError) {
    let traits = builder.traits
    let weight = builder.graph[node.inputs[1]]
    let packed = try builder.weight(
      "\(weight.name)/vulkan-rows", count: (depth + 3) / 4 * columns * 4
    ) { target in
      guard let source = weight.weight?.dense().floats else { return }
      for column in 0..<columns {
        for k in 0..<depth { target[(k / 4 * columns + column) * 4 + k % 4] = source[column * depth + k] }
      }
    }
    let x = try builder.read(node.inputs[0], layout)
    let bias = try builder.bias(epilogue.hasBias ? node.inputs[2] : nil, channels: columns)
    var reads = [
      Operand(region: x, format: .float), Operand(region: packed, format: .float4),
      Operand(region: bias, format: .float),
    ]
    if epilogue.addsResidual, let id = node.inputs.last {
      reads.append(Operand(region: try builder.read(id, layout), format: .float))
    }
    let rowTile = rows > 1 ? traits.linearRows : 1
    var parameters = Parameters()
    parameters.add(rows, depth, columns, inputStride, outputStride)
    parameters.add(epilogue.activation?.a ?? 0, epilogue.activation?.b ?? 0)
    let (y, z) = builder.folded((rows + rowTile - 1) / rowTile)
    builder.dispatch(
      traits.usesShuffles ? "linear_shuffle" : "linear", group: traits.tileGroup,
      constants: [
        traits.lanes, rowTile, epilogue.addsResidual ? 1 : 0, Int(epilogue.activation?.code ?? UnaryFunction.noneCode),
      ],
      parameters, groups: [(outputStride + traits.tileGroup - 1) / traits.tileGroup, y, z], reads: reads,
      write: try builder.write(node.outputs[0], layout))
  }
}
