import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addResize() {
    add(Resize.self) { op, context throws(DeviceError) in
      let element = try context.element(context.inputs[0])
      let shape = context.inputs[0].shape
      guard op.axes.allSatisfy({ shape[$0.axis] < 1 << 24 }) else {
        throw context.unsupported("axes of 2^24 elements and more")
      }
      let axes = op.axes.filter { $0.size != shape[$0.axis] || $0.scale != 1 || $0.offset != 0 }
      let node = context.node
      let isSpatial = element.kind == .float && shape.rank > 2 && axes.allSatisfy { $0.axis >= 2 }
      let pass = ResizePass(interpolation: op.interpolation, words: element.words)
      return Kernel { builder throws(DeviceError) in
        if axes.isEmpty { return try builder.rename(node.inputs[0], to: node.outputs[0]) }
        let isBlocked = isSpatial && !builder.has(node.inputs[0], .dense)
        let layout: Layout = isBlocked ? .blocked : .dense
        var x = try builder.read(node.inputs[0], layout)
        // A blocked tensor is one of planes of blocks, whose elements are four channels.
        let blocked = BlockedShape(shape)
        var sizes =
          isBlocked ? [blocked.batch, blocked.blocks] + shape.dimensions.dropFirst(2) : shape.dimensions
        let steps = stride(from: 0, to: axes.count, by: 2).map { Array(axes[$0..<min($0 + 2, axes.count)]) }
        for (index, step) in steps.enumerated() {
          var target = sizes
          for axis in step { target[axis.axis] = axis.size }
          let y =
            index == steps.count - 1
            ? try builder.write(node.outputs[0], layout)
            : builder.temporary(count: target.reduce(1, *) * (isBlocked ? 4 : element.words))
          try pass.build(builder, step, sizes, from: x, to: y, isBlocked: isBlocked)
          (x, sizes) = (y, target)
        }
      }
    }
  }
}

/// One dispatch, which samples one or two axes.
private struct ResizePass: Sendable {
  var interpolation: Resize.Interpolation
  var words: Int

  func build(
    _ builder: SegmentBuilder, _ axes: [ResizeAxis], _ sizes: [Int], from x: Region, to y: Region, isBlocked: Bool
  ) throws(DeviceError) {
    guard let first = axes.first, let last = axes.last else { return }
    // Of a single axis, the inner one of the two is it, and the outer one has one position.
    let isPair = axes.count == 2
    let (inputA, outputA) = isPair ? (sizes[first.axis], first.size) : (1, 1)
    let middle = isPair ? sizes[(first.axis + 1)..<last.axis].reduce(1, *) : 1
    let inner = sizes[(last.axis + 1)...].reduce(1, *) * (isBlocked ? 1 : words)
    let outer = sizes[..<first.axis].reduce(1, *)
    let count = outer * outputA * middle * last.size * inner
    let taps =
      (isPair ? self.taps(first, sizes[first.axis]) : [0, 0, 0, 0]) + self.taps(last, sizes[last.axis])
    let lengths = axes.map { "\(sizes[$0.axis])" }.joined(separator: "+")
    let positions = try builder.weight(
      "resize \(axes) of \(lengths) \(interpolation)/vulkan", count: taps.count
    ) { target in
      for (index, tap) in taps.enumerated() { target[index] = tap }
    }
    var parameters = Parameters()
    parameters.add(count, inputA, outputA, middle, sizes[last.axis], last.size, inner)
    parameters.addInverses(outputA, middle, last.size, inner)
    builder.dispatchFlat(
      isBlocked ? "resize_blocked" : "resize", parameters, count: count,
      reads: [Operand(region: x, format: isBlocked ? .float4 : .uint), Operand(region: positions, format: .float4)],
      write: y)
  }

  /// For each output position: lower source position, upper one, share of the upper one, and a filler.
  private func taps(_ axis: ResizeAxis, _ length: Int) -> [Float] {
    switch interpolation {
    case .linear:
      axis.linearTaps(length: length).flatMap { [Float($0.lower), Float($0.upper), Float($0.fraction), 0] }
    case .nearest(let rounding):
      axis.nearestIndices(length: length, rounding).flatMap { [Float($0), Float($0), 0, 0] }
    }
  }
}
