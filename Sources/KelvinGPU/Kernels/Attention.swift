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
    op.operandsLieInVectors(of: lanes) && op.result.allSatisfy { $0 % lanes == 0 }
  }
}

extension Attention {
  /// The longest chain of steps of a group, each of which waits for reads, while compute units may be idle.
  private static let longestChain = 32
  /// Two groups for each compute unit of a large card.
  private static let manyGroups = 264
  /// The most groups that share the keys of a query.
  private static let mostParts = 16

  /// Whether the rows of every operand can be read in vectors of this many elements.
  func operandsLieInVectors(of lanes: Int) -> Bool {
    [(query, width), (key, width), (value, valueWidth)].allSatisfy { view, width in
      width % lanes == 0 && view[4] == 1 && view[..<4].allSatisfy { $0 % lanes == 0 }
    }
  }

  /// Returns the number of groups that share the keys of a query. Adding their sums takes a kernel of its own.
  ///
  /// - Parameters:
  ///   - slabs: the slabs of keys that a group reads one after another.
  ///   - steps: the steps of a slab.
  ///   - groups: the groups if they share nothing.
  package static func parts(slabs: Int, steps: Int, groups: Int) -> Int {
    guard groups < manyGroups, slabs * steps > longestChain else { return 1 }
    let each = max(longestChain / steps, (slabs + mostParts - 1) / mostParts, 1)
    return (slabs + each - 1) / each
  }
}

extension KernelTable {
  mutating func addAttention<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Attention.self) { op, context throws(DeviceError) in
      try context.requireFloats(Array(context.inputs[..<(op.hasMask ? 4 : 3)]))
      let rows = AttentionRows(op, context).map { rows in
        KernelOffer(
          context.attention(op, context.target.dispatch(rows.kernel), parts: rows.parts), AttentionRows.implementation)
      }
      do throws(DeviceError) {
        guard !op.hasLengths else { throw context.unsupported("lengths for so many queries or elements") }
        let plan = try AttentionPlan(op, context)
        let staged = rows == nil ? context.target.stagedAttention(plan) : nil
        let best =
          rows ?? staged.map { KernelOffer(context.attention(op, $0.call, parts: $0.parts), "staged") }
        // Invocations without a query of their own are idle, and each reads all keys by itself.
        let idle = best == nil ? 0 : 8 * Double(op.scores.count) * Double(op.width + op.valueWidth)
        let plain = KernelOffer(context.attention(op, context.target.attention(plan)), extraCost: idle)
        return (best.map { [$0] } ?? []) + [plain]
      } catch {
        guard let rows else { throw error }
        return [rows]
      }
    }
  }
}

extension KernelContext {
  /// Returns a lowering to a kernel, which reads the queries in place of a mask that the node does not have, and to the
  /// sum of the parts of keys if groups share them.
  fileprivate func attention(
    _ op: Attention, _ call: KernelDispatch<Target.Program>, parts: Int = 1
  ) -> NodeLowering<Target> {
    let node = node
    return NodeLowering { lowering throws(DeviceError) in
      var reads: [Storage] = []
      for input in node.inputs { reads.append(try lowering.read(input, .dense)) }
      if reads.count == 3 { reads.append(reads[0]) }
      let result = lowering.write(node.outputs[0], .dense)
      guard parts > 1 else {
        lowering.run(call, reads, result)
        return
      }
      let rows = op.batch * op.heads * op.queries
      let sums = lowering.temporary(wide: parts * rows * (op.valueWidth + 2))
      lowering.run(call, reads, sums)
      lowering.run(
        GPUKernel(
          "attention_sum", reads: [.wideFloats], Parameters([op.heads, op.queries, parts] + op.result), rows: rows,
          of: op.valueWidth), [sums], result)
    }
  }
}
