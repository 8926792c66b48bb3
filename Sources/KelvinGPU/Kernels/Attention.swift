internal import KelvinDevices
package import KelvinGraph

/// Attention on dense operands, by a kernel that reads elements in vectors.
package struct AttentionPlan: Sendable {
  package let op: Attention
  /// From batch to batch, head to head, query to query and key to key, in elements; zeros where there is no mask.
  package let mask: [Int]

  /// - Throws: `.unsupported` where a row has more than `limit` elements, or rows do not lie in whole vectors of
  ///   `lanes`.
  fileprivate init<Target>(_ op: Attention, _ context: KernelContext<Target>, lanes: Int, limit: Int)
    throws(DeviceError)
  {
    self.op = op
    mask = op.hasMask ? context.inputs[3].shape.strides(broadcastTo: op.scores) : [0, 0, 0, 0]
    guard max(op.width, op.valueWidth) <= limit else {
      throw context.unsupported("rows of more than \(limit) elements")
    }
    guard lanes > 1 else { return }
    let rows = [(op.query, op.width), (op.key, op.width), (op.value, op.valueWidth)]
    let isAligned = rows.allSatisfy { view, width in
      width % lanes == 0 && view[4] == 1 && view[..<4].allSatisfy { $0 % lanes == 0 }
    }
    guard isAligned, op.result.allSatisfy({ $0 % lanes == 0 }) else {
      throw context.unsupported("operands that do not lie in vectors of \(lanes)")
    }
  }
}

extension KernelTable {
  mutating func addAttention<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Attention.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let (lanes, limit) = context.target.attentionVectors
      let call = context.target.attention(try AttentionPlan(op, context, lanes: lanes, limit: limit))
      let node = context.node
      return NodeLowering { lowering throws(DeviceError) in
        var reads: [Storage] = []
        for input in node.inputs { reads.append(try lowering.read(input, .dense)) }
        if !op.hasMask { reads.append(reads[0]) }
        lowering.run(call, reads, lowering.write(node.outputs[0], .dense))
      }
    }
  }
}
