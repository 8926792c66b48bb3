internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addResize() {
    add(Resize.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      let (shape, scalar) = (context.inputs[0].shape, context.inputs[0].scalar)
      guard op.axes.allSatisfy({ shape[$0.axis] < 1 << 24 }) else {
        throw context.unsupported("axes of 2^24 elements and more")
      }
      let axes = op.axes.filter { $0.size != shape[$0.axis] || $0.scale != 1 || $0.offset != 0 }
      let isSpatial = shape.rank > 2 && axes.allSatisfy { $0.axis >= 2 }
      return Emitter { lowering throws(DeviceError) in
        let (input, output) = (lowering.node.inputs[0], lowering.node.outputs[0])
        let staysBlocked = isSpatial && lowering.isBlocked(input) && !lowering.isOnlyOutput(output)
        let layout: Layout = staysBlocked ? .blocked : .dense
        var x = try lowering.place(input, layout)
        if axes.isEmpty { return lowering.alias(output, layout, x) }
        let (blocks, lanes) = (lowering.tuning.blocks(shape.rank > 1 ? shape[1] : 1), lowering.tuning.lanes)
        var sizes =
          layout == .dense ? shape.dimensions : [shape[0], blocks] + shape.dimensions.dropFirst(2) + [lanes]
        let steps = stride(from: 0, to: axes.count, by: 2).map { Array(axes[$0..<min($0 + 2, axes.count)]) }
        for (index, step) in steps.enumerated() {
          var target = sizes
          for axis in step { target[axis.axis] = axis.size }
          let words = (lowering.internalByteCount(scalar) + 3) / 4
          let y =
            index == steps.count - 1
            ? lowering.make(output, layout) : lowering.scratch(elements: target.reduce(1, *) * words)
          try lowering.resize(step, op.interpolation, sizes, scalar, from: x, to: y)
          (x, sizes) = (y, target)
        }
      }
    }
  }
}

extension Lowering {
  /// Samples one or two axes of a dense tensor of these sizes.
  fileprivate mutating func resize(
    _ axes: [ResizeAxis], _ interpolation: Resize.Interpolation, _ sizes: [Int], _ scalar: ScalarType, from x: Int,
    to y: Int
  ) throws(DeviceError) {
    guard let first = axes.first, let last = axes.last else { return }
    // Of a single axis, the inner one of the two is it, and the outer one has one position.
    let isPair = axes.count == 2
    let (inputA, outputA) = isPair ? (sizes[first.axis], first.size) : (1, 1)
    let middle = isPair ? sizes[(first.axis + 1)..<last.axis].reduce(1, *) : 1
    let inner = sizes[(last.axis + 1)...].reduce(1, *)
    let outer = sizes[..<first.axis].reduce(1, *)
    let taps =
      (isPair ? interpolation.taps(first, sizes[first.axis]) : [0, 0, 0])
      + interpolation.taps(last, sizes[last.axis])
    let lengths = axes.map { "\(sizes[$0.axis])" }.joined(separator: "+")
    let positions = try packed("resize \(axes) of \(lengths) \(interpolation)/taps", count: taps.count) { target in
      for (index, tap) in taps.enumerated() { target[index] = tap }
    }
    let element = scalar.isFloatingPoint ? "float" : elementName(scalar.byteCount)
    let defines = ["ELEMENT=\(element)", "LINEAR=\(interpolation == .linear ? 1 : 0)"]
    let run = max(tuning.run / max(inner, 1), 1)
    let constants = [inputA, outputA, middle, sizes[last.axis], last.size, inner, run]
    self.run(
      KernelName(program: "resize", defines: defines, function: "resize"), [x, positions, y],
      constants.map { .int($0) }, global: [(last.size + run - 1) / run, outer * outputA * middle])
  }
}

extension Resize.Interpolation {
  /// For each output position: lower source position, upper one, share of the upper one.
  fileprivate func taps(_ axis: ResizeAxis, _ length: Int) -> [Float] {
    switch self {
    case .linear: axis.linearTaps(length: length).flatMap { [Float($0.lower), Float($0.upper), Float($0.fraction)] }
    case .nearest(let rounding):
      axis.nearestIndices(length: length, rounding).flatMap { [Float($0), Float($0), 0] }
    }
  }
}
