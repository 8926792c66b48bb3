internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func offers(_ op: Convolution, _ window: SpatialWindow, _ context: KernelContext<Self>) throws(DeviceError)
    -> [GPUOffer<Self>]
  {
    try context.requireConstants(1..<2, "weights")
    if op.epilogue.hasBias { try context.requireConstants(2..<3, "biases") }
    if op.isDepthwise(context.inputs), context.inputs[1].shape[0] == op.groups {
      let kernel = NodeLowering<Self> { lowering throws(DeviceError) in try lowering.depthwise(op, window) }
      return [context.blocked(kernel, "depthwise")]
    }
    let (x, y) = (context.inputs[0].shape, context.outputs[0].shape)
    if op.groups == 1, window.taps == 1, window.outputCount == 1, window.inputCount == 1 {
      let rows = RowProduct(vectors: x[0], inputs: x[1], outputs: y[1], lanes: lanes)
      if sharesRows(rows) {
        let vector = NodeLowering<Self> { lowering throws(DeviceError) in
          try rows.lower(lowering, op.epilogue, lowering.target.blocks)
        }
        return [context.blocked(vector, "vector")]
      }
    }
    func offer(
      _ key: String, from: ValueLayout, to: ValueLayout, extraCost: Double, windows: StridedCopy? = nil
    ) -> GPUOffer<Self> {
      let residual = context.inputs.indices.map { $0 > 1 ? to : from }
      return KernelOffer(
        NodeLowering<Self> { lowering throws(DeviceError) in
          try lowering.convolution(op, window, windows, from: from, to: to)
        }, key, KernelLayouts(reads: residual, writes: [to]), extraCost: extraCost)
    }
    let (channels, outputs) = (x[1] / op.groups, y[1] / op.groups)
    guard op.groups == 1 || (channels % lanes == 0 && outputs % lanes == 0) else {
      return [offer("planes", from: .dense, to: .dense, extraCost: 0)]
    }
    let inputFillers = Double(blocks.count(of: x) - x.count)
    let outputFillers = Double(blocks.count(of: y) - y.count)
    // Storing elements one by one is about half the work of moving them.
    let scattering = Double(y.count) / 2
    let winograd =
      context.winogradTile == .small
      ? WinogradConvolution.best(op, window, images: x[0], inputs: x[1], outputs: y[1], self) : nil
    let tiled = winograd.map { implementation, _ in
      KernelOffer(
        NodeLowering<Self> { lowering throws(DeviceError) in try implementation.lower(lowering) },
        WinogradTile.small.implementation,
        KernelLayouts(reads: context.inputs.map { _ in blocks }, writes: [blocks]),
        extraCost: inputFillers + outputFillers)
    }
    let saving = winograd?.saving ?? 0
    let offers =
      (tiled.map { [$0] } ?? []) + [
        offer("blocks", from: blocks, to: blocks, extraCost: inputFillers + outputFillers + saving),
        offer("blocks to dense", from: blocks, to: .dense, extraCost: inputFillers + scattering + saving),
      ]
    guard op.groups == 1, channels <= lanes / 2 else { return offers }
    let windows = context.keepsQuantized ? nil : StridedCopy(windowsOf: window, images: x[0], channels: x[1])
    let implementation = windows == nil ? "planes" : "windows"
    return offers + [
      offer("\(implementation) to blocks", from: .dense, to: blocks, extraCost: outputFillers, windows: windows),
      offer(implementation, from: .dense, to: .dense, extraCost: scattering, windows: windows),
    ]
  }
}

extension StridedCopy {
  /// Returns the copy that brings the windows of dense images to rows, which hold their elements by channels. Returns
  /// nil unless windows do not overlap and have no padding.
  fileprivate init?(windowsOf window: SpatialWindow, images: Int, channels: Int) {
    guard window.taps > 1, zip(window.kernel, window.strides).allSatisfy({ $0 <= $1 }), window.dilations == [1, 1],
      (window.before + window.after).allSatisfy({ $0 == 0 })
    else { return nil }
    let (area, width) = (window.inputCount, window.input[1])
    let sizes = Shape([images] + window.output + [channels] + window.kernel)
    self.init(
      sizes: sizes.dimensions,
      source: [channels * area, window.strides[0] * width, window.strides[1], area, width, 1], target: sizes.strides)
  }
}

extension OpenCLLowering {
  /// - Parameter windows: the copy of the dense input's windows to rows, if the product reads rows.
  fileprivate func convolution(
    _ op: Convolution, _ window: SpatialWindow, _ windows: StridedCopy?, from: ValueLayout, to: ValueLayout
  ) throws(DeviceError) {
    let (x, y) = (node.inputs[0], node.outputs[0])
    let (images, channels, outputs) = (type(x).shape[0], type(x).shape[1] / op.groups, type(y).shape[1] / op.groups)
    var source = try read(x, from)
    var plan = ConvolutionPlan(
      window, images: images, groups: op.groups, channels: channels, outputs: outputs, from: from, to: to)
    if let windows {
      let rows = temporary(windows.count, of: type(x).scalar)
      copy(windows, of: type(x).scalar, from: source, to: rows)
      source = rows
      plan = ConvolutionPlan(windowsOf: window, images: images, channels: channels, outputs: outputs, to: to)
    }
    let residual = try residual(op.epilogue, to)
    let count = to == .dense ? type(y).count : blocked(y).count
    try convolve(plan, op.epilogue, source, residual: residual, write(y, to), count: count)
  }

  fileprivate func depthwise(_ op: Convolution, _ window: SpatialWindow) throws(DeviceError) {
    let (x, y, tuning) = (node.inputs[0], node.outputs[0], target.tuning)
    let blocks = tuning.blocks(op.groups)
    let weights = try depthwiseWeights(channels: op.groups, taps: window.taps)
    let bias = try op.epilogue.hasBias ? biases(groups: 1, outputs: op.groups, count: blocks * tuning.lanes) : weights
    let source = try read(x, target.blocks)
    let residual = try residual(op.epilogue, target.blocks)
    let output = write(y, target.blocks)
    let columns = min(tuning.columns, window.output[1])
    let parts = target.pieces(window.output[1], of: columns)
    let activation = KernelActivation(op.epilogue)
    let numbers =
      [blocks] + window.output + window.input + window.geometry + [
        columns, parts, op.epilogue.hasBias ? 1 : 0, residual == nil ? 0 : 1, activation.code,
      ]
    let call = target.call(
      KernelName(program: "depthwise", function: "depthwise"), Parameters(numbers).floats(activation.a, activation.b),
      items: window.output[0] * parts, blocks, type(x).shape[0])
    run(call, [source, weights, bias, residual ?? source], output)
    finish(activation, output, count: blocked(y).count)
  }
}

/// An activation. Kernels of convolutions fuse it if `isFusedByKernels`.
struct KernelActivation {
  /// The code that the kernel receives.
  var code: Int { Int(fused?.code ?? UnaryFunction.noneCode) }
  var a: Float { fused?.a ?? 0 }
  var b: Float { fused?.b ?? 0 }
  /// The activation to run in a kernel of its own.
  let separate: UnaryFunction?
  private let fused: UnaryFunction?

  init(_ epilogue: Epilogue) {
    let isFused = epilogue.activation?.isFusedByKernels == true
    fused = isFused ? epilogue.activation : nil
    separate = isFused ? nil : epilogue.activation
  }
}

extension OpenCLLowering {
  /// Applies the part of an activation that was not fused, in place.
  func finish(_ activation: KernelActivation, _ result: Storage, count: Int) {
    guard let function = activation.separate else { return }
    run(.unary(function, count: count), [result], result)
  }

  /// Returns the node's bias as `[group][count]`, with zeros after each group's outputs.
  func biases(groups: Int, outputs: Int, count: Int) throws(DeviceError) -> Storage {
    let (name, constant) = try constantWeight(2)
    return weight("\(name)/vector-\(count)x\(groups)", count: groups * count) { target in
      let source = constant.floats()
      for group in 0..<groups {
        for output in 0..<outputs { target[group * count + output] = source[group * outputs + output] }
      }
    }
  }
}
