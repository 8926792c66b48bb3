package import KelvinDevices
package import KelvinGraph

/// One kernel of a resize, which samples two axes of `[outer, inputA, middle, inputB, inner]`. A single axis is the
/// second of the two, and the first one then has one position.
package struct ResizePass: Sendable {
  package let outer: Int
  package let inputA, outputA: Int
  package let middle: Int
  package let inputB, outputB: Int
  package let inner: Int
  package let interpolation: Resize.Interpolation
  package let scalar: ScalarType
  /// The layout of the tensors. In a blocked tensor the lanes are the last part of `inner`.
  package let layout: ValueLayout

  fileprivate init(
    _ axes: ArraySlice<ResizeAxis>, _ sizes: [Int], _ interpolation: Resize.Interpolation, _ scalar: ScalarType,
    _ layout: ValueLayout
  ) {
    let (first, last) = (axes[axes.startIndex], axes[axes.endIndex - 1])
    let isPair = axes.count == 2
    (inputA, outputA) = isPair ? (sizes[first.axis], first.size) : (1, 1)
    (inputB, outputB) = (sizes[last.axis], last.size)
    middle = isPair ? sizes[(first.axis + 1)..<last.axis].reduce(1, *) : 1
    inner = sizes[(last.axis + 1)...].reduce(1, *)
    outer = sizes[..<first.axis].reduce(1, *)
    self.interpolation = interpolation
    self.scalar = scalar
    self.layout = layout
  }
}

extension KernelTable {
  mutating func addResize<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Resize.self) { op, context throws(DeviceError) in
      let (shape, scalar) = (context.inputs[0].shape, context.inputs[0].scalar)
      // Positions are float32, which is exact below 2^24.
      guard op.axes.allSatisfy({ shape[$0.axis] < 1 << 24 }) else {
        throw context.unsupported("axes of 2^24 elements and more")
      }
      let axes = op.axes.filter { $0.size != shape[$0.axis] || $0.scale != 1 || $0.offset != 0 }
      let isSpatial = scalar.isFloatingPoint && shape.rank > 2 && axes.allSatisfy { $0.axis >= 2 }
      if axes.isEmpty { return context.renaming() }
      func resizing(_ layout: ValueLayout) -> NodeLowering<Target> {
        NodeLowering { lowering throws(DeviceError) in
          try lowering.resize(axes, op.interpolation, scalar, shape.dimensions, layout)
        }
      }
      let dense = KernelOffer(resizing(.dense))
      return isSpatial ? [dense, context.blocked(resizing(context.target.blocks))] : [dense]
    }
  }
}

extension Lowering {
  /// Samples the node's input in passes over two axes each.
  fileprivate func resize(
    _ axes: [ResizeAxis], _ interpolation: Resize.Interpolation, _ scalar: ScalarType, _ dimensions: [Int],
    _ layout: ValueLayout
  ) throws(DeviceError) {
    let blocked = blocked(node.inputs[0])
    var x = try read(node.inputs[0], layout)
    var sizes = dimensions
    if layout != .dense { sizes = [blocked.batch, blocked.blocks] + sizes.dropFirst(2) + [blocked.lanes] }
    for start in stride(from: 0, to: axes.count, by: 2) {
      let pair = axes[start..<min(start + 2, axes.count)]
      let pass = ResizePass(pair, sizes, interpolation, scalar, layout)
      let positions = try positions(pair, sizes, interpolation)
      for axis in pair { sizes[axis.axis] = axis.size }
      let isLast = pair.endIndex == axes.count
      let y =
        isLast
        ? write(node.outputs[0], layout) : temporary(sizes.reduce(1, *), of: scalar)
      x = run(target.resize(pass), [x, positions], y)
    }
  }

  /// Returns, for each output position of each axis, outer axis first: lower source position, upper one, weight of the
  /// upper one, padding.
  fileprivate func positions(_ axes: ArraySlice<ResizeAxis>, _ sizes: [Int], _ interpolation: Resize.Interpolation)
    throws(DeviceError) -> Storage
  {
    let numbers = target.numbersPerTap
    var taps: [Tap] = axes.count == 2 ? [] : [Tap(lower: 0, upper: 0, share: 0)]
    for axis in axes { taps += interpolation.taps(axis, sizes[axis.axis]) }
    let lengths = axes.map { "\(sizes[$0.axis])" }.joined(separator: "+")
    let key = "resize \(Array(axes)) of \(lengths) \(interpolation)/gpu-taps-\(numbers)"
    return weight(key, count: taps.count * numbers) { target in
      for (index, tap) in taps.enumerated() {
        target[index * numbers] = Float(tap.lower)
        target[index * numbers + 1] = Float(tap.upper)
        target[index * numbers + 2] = tap.share
      }
    }
  }
}

/// The source positions of an output position.
private struct Tap {
  var lower: Int
  var upper: Int
  var share: Float
}

extension Resize.Interpolation {
  fileprivate func taps(_ axis: ResizeAxis, _ length: Int) -> [Tap] {
    switch self {
    case .linear:
      axis.linearTaps(length: length).map { Tap(lower: $0.lower, upper: $0.upper, share: Float($0.fraction)) }
    case .nearest(let rounding):
      axis.nearestIndices(length: length, rounding).map { Tap(lower: $0, upper: $0, share: 0) }
    }
  }
}
