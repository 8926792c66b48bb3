internal import KelvinDevices
package import KelvinGraph

/// The limits of a device's attention kernel.
package struct AttentionLimits: Sendable {
  /// Elements of the vectors in which the kernel reads rows, whose elements then are contiguous; 1 for any strides.
  package let lanes: Int
  /// The largest number of elements of a row of queries, keys or values.
  package let width: Int
  /// Keys that an invocation processes together.
  package let keys: Int
  /// The largest number of queries of a head.
  package let queries: Int

  package init(lanes: Int, width: Int, keys: Int, queries: Int = .max) {
    self.lanes = lanes
    self.width = width
    self.keys = keys
    self.queries = queries
  }
}

/// Attention on dense operands.
package struct AttentionPlan: Sendable {
  package let op: Attention
  /// The mask's strides from batch to batch, head to head, query to query and key to key, in elements; zeros without a
  /// mask.
  package let mask: [Int]

  /// - Throws: `.unsupported` beyond the device's limits.
  fileprivate init<Target>(_ op: Attention, _ context: KernelContext<Target>) throws(DeviceError) {
    let limits = context.target.attentionLimits
    let lanes = limits.lanes
    self.op = op
    mask = op.hasMask ? context.inputs[3].shape.strides(broadcastTo: op.scores) : [0, 0, 0, 0]
    guard max(op.width, op.valueWidth) <= limits.width else {
      throw context.unsupported("rows of more than \(limits.width) elements")
    }
    guard op.queries <= limits.queries else { throw context.unsupported("more than \(limits.queries) queries") }
    // For each group of keys, the loop runs over the width in steps of four.
    if let fault = context.fault(ofIterations: (op.keys / limits.keys + 1) * (op.width / 4 + 2)) {
      throw context.unsupported(fault)
    }
    guard lanes == 1 || liesInVectors(of: lanes) else {
      throw context.unsupported("operands that are not aligned to vectors of \(lanes)")
    }
  }

  /// Whether the rows of every operand and of the result can be read in vectors of this many elements.
  package func liesInVectors(of lanes: Int) -> Bool {
    let rows = [(op.query, op.width), (op.key, op.width), (op.value, op.valueWidth)]
    let areAligned = rows.allSatisfy { view, width in
      width % lanes == 0 && view[4] == 1 && view[..<4].allSatisfy { $0 % lanes == 0 }
    }
    return areAligned && op.result.allSatisfy { $0 % lanes == 0 }
  }
}

extension KernelTable {
  mutating func addAttention<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Attention.self) { op, context throws(DeviceError) in
      try context.requireFloats(Array(context.inputs[..<(op.hasMask ? 4 : 3)]))
      let rows = AttentionRows(op, context).map { rows in
        KernelOffer(context.attention(context.target.dispatch(rows.kernel)), AttentionRows.implementation)
      }
      do throws(DeviceError) {
        guard !op.hasLengths else { throw context.unsupported("lengths for so many queries or elements") }
        let plan = try AttentionPlan(op, context)
        // Invocations without a query of their own are idle.
        let idle = rows == nil ? 0 : 8 * Double(op.scores.count) * Double(op.width + op.valueWidth)
        let plain = KernelOffer(context.attention(context.target.attention(plan)), extraCost: idle)
        return (rows.map { [$0] } ?? []) + [plain]
      } catch {
        guard let rows else { throw error }
        return [rows]
      }
    }
  }
}

extension KernelContext {
  /// Returns a lowering to one kernel, which reads the queries in place of a mask that the node does not have.
  fileprivate func attention(_ call: KernelDispatch<Target.Program>) -> NodeLowering<Target> {
    let node = node
    return NodeLowering { lowering throws(DeviceError) in
      var reads: [Storage] = []
      for input in node.inputs { reads.append(try lowering.read(input, .dense)) }
      if reads.count == 3 { reads.append(reads[0]) }
      lowering.run(call, reads, lowering.write(node.outputs[0], .dense))
    }
  }
}
