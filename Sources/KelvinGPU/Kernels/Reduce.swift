internal import KelvinDevices
internal import KelvinGraph

/// A kernel of lines combined by groups that share them: all of a reduction, or one of the two that lines in parts take.
package struct ReducePass: Sendable {
  package let groups: RowGroups
  /// Whether elements are what is combined, else what the pass before made of them.
  package let isFirst: Bool
  /// Whether results are what the reduction is for.
  package let isLast: Bool
  /// Elements of a line.
  package let length: Int
}

extension KernelTable {
  mutating func addReduce<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Reduce.self) { op, context throws(DeviceError) in
      let scalar = context.inputs[0].scalar
      guard scalar.isFloatingPoint || op.function.keepsIntegers else {
        throw context.unsupported("\(op.function.rawValue) of \(scalar.rawValue) values")
      }
      let alone = try context.target.offers(op, context)
      guard scalar.isFloatingPoint else { return alone }
      let (dense, blocked, blocks) = (context.groups(of: op), context.groupsOfBlocks(of: op), context.target.blocks)
      let shared = [
        dense.map { context.offer(context.reducing(op, $0), .dense, isShared: true) },
        blocked.map { context.offer(context.reducing(op, $0, from: blocks, to: blocks), blocks, isShared: true) },
        context.groupsOfChannels(of: op).map {
          KernelOffer(context.reducing(op, $0, from: blocks), RowGroups.blockedImplementation, KernelLayouts(reads: [blocks]))
        },
      ].compactMap { $0 }
      return shared
        + alone.map { offer in
          var offer = offer
          if let groups = offer.layouts == .dense ? dense : blocked { offer.handicap += context.handicap(of: groups) }
          return offer
        }
    }
  }
}

extension KernelContext {
  /// How groups share the lines of a reduction; nil where axes are reduced that are no neighbours.
  fileprivate func groups(of op: Reduce) -> RowGroups? {
    let shape = inputs[0].shape
    let reduced = op.axes.filter { shape[$0] != 1 }
    guard let first = reduced.first, let last = reduced.last,
      (first...last).allSatisfy({ shape[$0] == 1 || op.axes.contains($0) })
    else { return nil }
    return groups(sharing: ReductionRows(shape, axes: first..<last + 1))
  }

  /// The same for planes of a tensor in blocks, of which lanes that hold no channel stay zero where they have to.
  fileprivate func groupsOfBlocks(of op: Reduce) -> RowGroups? {
    let shape = inputs[0].shape
    guard readsElementsOfBlocks, op.axes == Array(2..<shape.rank), !target.clearsLanes || op.function.keepsZeros else {
      return nil
    }
    return groups(sharing: ReductionRows(shape, axes: 2..<shape.rank, inBlocksOf: target.lanes))
  }

  /// The same for the channels of a tensor in blocks; what is left has none.
  fileprivate func groupsOfChannels(of op: Reduce) -> RowGroups? {
    let shape = inputs[0].shape
    guard readsElementsOfBlocks, op.axes == [1] else { return nil }
    return groups(sharing: ReductionRows(shape, axes: 1..<2, inBlocksOf: target.lanes))
  }

  fileprivate func reducing(
    _ op: Reduce, _ groups: RowGroups, from source: ValueLayout = .dense, to layout: ValueLayout = .dense
  ) -> NodeLowering<Target> {
    let (node, length) = (node, groups.lines.length)
    return NodeLowering { lowering throws(DeviceError) in
      let target = lowering.target
      var x = try lowering.read(node.inputs[0], source)
      var last = groups
      if groups.parts > 1 {
        let first = ReducePass(groups: groups, isFirst: true, isLast: false, length: length)
        last = RowGroups(groups.ofParts, group: nil)
        x = lowering.run(
          target.reduce(op.function, first), [x], lowering.temporary(wide: groups.lines.count * groups.parts))
      }
      let pass = ReducePass(groups: last, isFirst: groups.parts == 1, isLast: true, length: length)
      lowering.run(target.reduce(op.function, pass), [x], lowering.write(node.outputs[0], layout))
    }
  }
}

extension Reduce.Function {
  /// Whether it combines integers to an integer, as kernels of integers do.
  fileprivate var keepsIntegers: Bool {
    switch self {
    case .sum, .mean, .maximum, .minimum, .product, .l1, .sumOfSquares: true
    case .l2, .logSum, .logSumExp: false
    }
  }

  /// Whether zeros come to zero.
  fileprivate var keepsZeros: Bool {
    switch self {
    case .logSum, .logSumExp: false
    default: true
    }
  }
}
