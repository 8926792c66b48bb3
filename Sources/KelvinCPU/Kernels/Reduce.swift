import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addReduce() {
    addOffers(Reduce.self) { (op, context) throws(DeviceError) in
      let usesIntegers = try context.usesIntegers()
      let scalar = context.inputs[0].scalar
      if usesIntegers, [.l2, .logSum, .logSumExp].contains(op.function) {
        throw context.unsupported("\(op.function.rawValue) in \(scalar.rawValue) arithmetic")
      }
      // Each stage of a mean of integers would round.
      let isWhole = usesIntegers && op.function == .mean
      let reduction =
        try isWhole ? op.afterCopy(context) : CPUReduction(op.function, op.groups(context.inputs[0].shape))
      let kernel = usesIntegers ? reduction.ofIntegers(scalar) : reduction.ofFloats(context.variant)
      guard !usesIntegers, let blocks = op.onBlocks(context) else { return [KernelOffer(kernel)] }
      return [KernelOffer(kernel), blocks]
    }
  }
}

/// A reduction in stages. Each reduces one group of neighbouring axes.
private struct CPUReduction {
  struct Stage {
    var function: Reduce.Function
    var outer: Int
    var length: Int
    var inner: Int
  }

  private(set) var stages: [Stage] = []
  /// A copy that makes the reduced axes neighbours, and its number of elements.
  var copy: (copy: CPUCopy, count: Int)?

  /// Reduces the last group first, because its elements are the nearest.
  ///
  /// - Parameter groups: the sizes of neighbouring axes, which are all reduced or all kept.
  init(_ function: Reduce.Function, _ groups: [(size: Int, isReduced: Bool)]) {
    var groups = groups
    while let last = groups.lastIndex(where: \.isReduced) {
      let outer = groups[..<last].reduce(1) { $0 * $1.size }
      let inner = groups[(last + 1)...].reduce(1) { $0 * $1.size }
      stages.append(Stage(function: function, outer: outer, length: groups[last].size, inner: inner))
      groups.remove(at: last)
    }
    if stages.isEmpty {
      stages = [Stage(function: function, outer: 1, length: 1, inner: groups.reduce(1) { $0 * $1.size })]
    }
    for index in stages.indices {
      stages[index].function = function.stage(isFirst: index == 0, isLast: index == stages.count - 1)
    }
  }

  func ofFloats(_ variant: CPUVariant) -> CPUKernel {
    let run = variant.kernels.reduce
    let chunk = Int(ck_reduce_chunk)
    return kernel(element: 4) { stage, x, y, list in
      let arguments = ck_reduce_args(
        x: x?.assumingMemoryBound(to: Float.self), y: y.assumingMemoryBound(to: Float.self),
        function: Int(stage.function.code), outer: stage.outer, length: stage.length, inner: stage.inner)
      list.add(
        run, arguments, items: stage.outer * parts(stage.inner, of: chunk), cost: stage.length * min(stage.inner, chunk)
      )
    }
  }

  func ofIntegers(_ scalar: ScalarType) -> CPUKernel {
    kernel(element: scalar.innerByteCount) { stage, x, y, list in
      let arguments = ck_int_reduce_args(
        x: x, y: y, type: scalar.innerCode, function: Int(stage.function.code), outer: stage.outer,
        length: stage.length, inner: stage.inner)
      list.add(ck_int_reduce_run, arguments, items: stage.outer, cost: 2 * stage.length * stage.inner)
    }
  }

  /// The kernel has a temporary for the copy, and one for each stage but the last.
  private func kernel(
    element: Int, _ add: @escaping (Stage, UnsafeRawPointer?, UnsafeMutableRawPointer, CPUTaskList) -> Void
  ) -> CPUKernel {
    var kernel = CPUKernel { operands, list in
      var source = operands.inputs[0]
      var free = operands.temporaries[...]
      if let copy {
        let target = free.removeFirst()
        copy.copy.record(from: source, to: target, list)
        source = UnsafeRawPointer(target)
      }
      for stage in stages {
        let target = free.popFirst() ?? operands.outputs[0]
        add(stage, source, target, list)
        source = UnsafeRawPointer(target)
      }
    }
    kernel.temporaries = (copy.map { [$0.count] } ?? []).map { $0 * element }
    kernel.temporaries += stages.dropLast().map { $0.outer * $0.inner * element }
    return kernel
  }
}

extension Reduce.Function {
  /// Returns the function of one stage of several that together compute this one.
  fileprivate func stage(isFirst: Bool, isLast: Bool) -> Self {
    switch self {
    case .l1, .sumOfSquares: isFirst ? self : .sum
    case .logSum: isLast ? self : .sum
    default: self
    }
  }
}

extension Reduce {
  /// Returns the products of the sizes of neighbouring axes that are all reduced or all kept, without axes of size one.
  fileprivate func groups(_ shape: Shape) -> [(size: Int, isReduced: Bool)] {
    var groups: [(size: Int, isReduced: Bool)] = []
    for axis in shape.dimensions.indices where shape[axis] != 1 {
      let isReduced = axes.contains(axis)
      if let last = groups.last, last.isReduced == isReduced {
        groups[groups.count - 1].size *= shape[axis]
      } else {
        groups.append((shape[axis], isReduced))
      }
    }
    return groups
  }

  /// Returns a reduction in one stage, after a copy unless the reduced axes are neighbours.
  fileprivate func afterCopy(_ context: CPUContext) throws(DeviceError) -> CPUReduction {
    let (shape, scalar) = (context.inputs[0].shape, context.inputs[0].scalar)
    let groups = groups(shape)
    guard groups.count(where: \.isReduced) > 1 else { return CPUReduction(function, groups) }
    let order = shape.dimensions.indices.filter { !axes.contains($0) } + axes
    let sizes = Shape(order.map { shape[$0] })
    let kept = context.outputs[0].count
    var reduction = CPUReduction(function, [(kept, false), (length(context.inputs), true)])
    reduction.copy = (
      try CPUCopy(
        sizes: sizes.dimensions, source: order.map { shape.strides[$0] }, target: sizes.strides,
        element: scalar.innerByteCount, in: context), shape.count
    )
    return reduction
  }

  /// Returns the reduction over all axes after the channels, on blocks of channels; nil for other axes, or if there are
  /// no blocks.
  fileprivate func onBlocks(_ context: CPUContext) -> KernelOffer<CPUKernel>? {
    let (shape, result) = (context.inputs[0].shape, context.outputs[0].shape)
    let lanes = context.variant.kernels.lanes
    guard context.variant.hasBlocks, shape.rank > 2, result.rank > 1, Set(axes) == Set(2..<shape.rank) else {
      return nil
    }
    let blocks = BlockedShape(shape, lanes: lanes)
    let run = context.variant.kernels.reduce
    let kernel = CPUKernel { operands, list in
      let arguments = ck_reduce_args(
        x: operands.floats(0), y: operands.result(), function: Int(code), outer: blocks.batch * blocks.blocks,
        length: blocks.area, inner: lanes)
      list.add(run, arguments, items: arguments.outer, cost: blocks.area * lanes)
    }
    let layouts = KernelLayouts(reads: [.blocks(of: lanes)], writes: [.blocks(of: lanes)])
    return KernelOffer(kernel, "blocks", layouts)
  }
}
