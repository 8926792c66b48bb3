import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addGatherND() {
    add(GatherND.self) { op, context throws(DeviceError) in
      let words = try context.element(context.inputs[0]).words
      let kind = try context.element(context.inputs[1]).kind.rawValue
      let (x, indices) = (context.inputs[0].shape, context.inputs[1].shape)
      let limit = 8
      let depth = indices[indices.rank - 1]
      guard depth <= limit else { throw context.unsupported("indices into more than \(limit) axes") }
      let batch = op.batchDimensions
      let axes = batch..<batch + depth
      let inner = x.dimensions[axes.upperBound...].reduce(1, *) * words
      let rows = indices.dimensions[batch..<indices.rank - 1].reduce(1, *)
      let count = context.outputs[0].words
      let rest = [Int](repeating: 1, count: limit - depth)
      var parameters = Parameters()
      parameters.add(count, inner, rows, x.dimensions[batch...].reduce(1, *) * words)
      parameters.add(axes.map { x[$0] } + rest)
      parameters.add(axes.map { x.strides[$0] * words } + rest)
      parameters.addInverses(inner, rows)
      let finished = parameters
      let node = context.node
      return Kernel { builder throws(DeviceError) in
        let source = Operand(region: try builder.read(node.inputs[0], .dense), format: .uint)
        builder.dispatchFlat(
          "gather_nd", constants: [depth, kind], finished, count: count,
          reads: [source, try builder.elements(node.inputs[1])], write: try builder.write(node.outputs[0], .dense))
      }
    }
  }
}
