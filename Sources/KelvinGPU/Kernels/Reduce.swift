package import KelvinDevices
package import KelvinGraph

extension GPUKernel {
  /// The kernel that reduces rows shared by groups: a whole reduction, or one of its two passes over rows in parts.
  ///
  /// - Parameters:
  ///   - length: elements of a row.
  ///   - isFirst: whether the kernel combines elements; otherwise it combines the results of the previous pass.
  ///   - isLast: whether the kernel writes the final results of the reduction.
  init(reducing groups: RowGroups, _ function: Reduce.Function, length: Int, isFirst: Bool, isLast: Bool) {
    self.init(
      "reduce", reads: [.floats],
      Parameters(Int(function.code), isFirst ? 1 : 0, isLast ? 1 : 0).floats(Float(length)), sharing: groups,
      makesParts: !isFirst || !isLast)
  }
}

extension KernelTable {
  mutating func addReduce<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Reduce.self) { op, context throws(DeviceError) in
      let scalar = context.inputs[0].scalar
      guard scalar.isFloatingPoint || op.function.keepsIntegers else {
        throw context.unsupported("\(op.function.rawValue) of \(scalar.rawValue) values")
      }
      guard scalar.isFloatingPoint else {
        let kernel = try context.reducing(op) { lines in
          let code = Int(op.function.code)
          return context.target.dispatch(
            GPUKernel(
              "reduce_of_integers", [.number(scalar)], constants: [("SELECTED", code)], reads: [.elements],
              Parameters(code, lines.length), rows: lines.outer, of: lines.inner, cost: lines.length))
        }
        return [KernelOffer(kernel)]
      }
      let alone = try context.target.offers(op, context)
      let (dense, blocked, blocks) = (context.groups(of: op), context.groupsOfBlocks(of: op), context.target.blocks)
      let shared = [
        dense.map { context.offer(context.reducing(op, $0), .dense, isShared: true) },
        blocked.map { context.offer(context.reducing(op, $0, from: blocks, to: blocks), blocks, isShared: true) },
        context.groupsOfChannels(of: op).map {
          KernelOffer(
            context.reducing(op, $0, from: blocks), RowGroups.blockedImplementation, KernelLayouts(reads: [blocks]))
        },
      ].compactMap { $0 }
      return shared
        + alone.map { offer in
          var offer = offer
          if let groups = offer.layouts == .dense ? dense : blocked { offer.extraCost += context.extraCost(of: groups) }
          return offer
        }
    }
  }
}

extension KernelContext {
  /// Returns a lowering to one kernel over the rows of the reduced axes, dense. If these axes are not neighbours, a copy
  /// brings them together.
  package func reducing(
    _ op: Reduce, _ kernel: (ReductionRows) -> KernelDispatch<Target.Program>
  ) throws(DeviceError) -> NodeLowering<Target> {
    let (node, scalar, shape) = (node, inputs[0].scalar, inputs[0].shape)
    if zip(op.axes, op.axes.dropFirst()).allSatisfy({ $1 == $0 + 1 }) {
      let first = op.axes.first ?? shape.rank
      return dense(kernel(ReductionRows(shape, axes: first..<first + op.axes.count)))
    }
    let kept = (0..<shape.rank).filter { !op.axes.contains($0) }
    let order = kept + op.axes
    let copy = StridedCopy(
      sizes: order.map { shape[$0] }, source: order.map { shape.strides[$0] },
      target: Shape(order.map { shape[$0] }).strides)
    guard copy.axes.count <= StridedCopy.limit else {
      throw unsupported("reducing over more than \(StridedCopy.limit) axes")
    }
    let call = kernel(
      ReductionRows(outer: kept.reduce(1) { $0 * shape[$1] }, length: op.length(inputs), inner: 1))
    return NodeLowering { lowering throws(DeviceError) in
      let rows = lowering.temporary(shape.count, of: scalar)
      lowering.copy(copy, of: scalar, from: try lowering.read(node.inputs[0], .dense), to: rows)
      lowering.run(call, [rows], lowering.write(node.outputs[0], .dense))
    }
  }

  /// Returns how groups share the rows of a reduction; nil if the reduced axes are not neighbours.
  fileprivate func groups(of op: Reduce) -> RowGroups? {
    let shape = inputs[0].shape
    let reduced = op.axes.filter { shape[$0] != 1 }
    guard let first = reduced.first, let last = reduced.last,
      (first...last).allSatisfy({ shape[$0] == 1 || op.axes.contains($0) })
    else { return nil }
    return groups(sharing: ReductionRows(shape, axes: first..<last + 1))
  }

  /// Returns how groups share the planes of a tensor in blocks. Lanes without a channel stay zero if the target
  /// requires it.
  fileprivate func groupsOfBlocks(of op: Reduce) -> RowGroups? {
    let shape = inputs[0].shape
    guard readsElementsOfBlocks, op.axes == Array(2..<shape.rank), !target.clearsLanes || op.function.keepsZeros else {
      return nil
    }
    return groups(sharing: ReductionRows(shape, axes: 2..<shape.rank, inBlocksOf: target.lanes))
  }

  /// Returns how groups share the channels of a tensor in blocks; the result has no channels.
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
      var x = try lowering.read(node.inputs[0], source)
      var last = groups
      if groups.parts > 1 {
        let first = GPUKernel(reducing: groups, op.function, length: length, isFirst: true, isLast: false)
        last = RowGroups(groups.ofParts, group: nil)
        x = lowering.run(first, [x], lowering.temporary(wide: groups.lines.count * groups.parts))
      }
      let pass = GPUKernel(reducing: last, op.function, length: length, isFirst: groups.parts == 1, isLast: true)
      lowering.run(pass, [x], lowering.write(node.outputs[0], layout))
    }
  }
}

extension Reduce.Function {
  /// Whether the function combines integers to an integer in integer kernels.
  fileprivate var keepsIntegers: Bool {
    switch self {
    case .sum, .mean, .maximum, .minimum, .product, .l1, .sumOfSquares: true
    case .l2, .logSum, .logSumExp: false
    }
  }

  /// Whether the function of zeros is zero.
  fileprivate var keepsZeros: Bool {
    switch self {
    case .logSum, .logSumExp: false
    default: true
    }
  }
}
