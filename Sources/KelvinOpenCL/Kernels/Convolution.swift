internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addConvolution() {
    add(Convolution.self) { op, context throws(DeviceError) in
      try context.checkFloats()
      try context.checkConstant(1, "weights")
      if op.epilogue.hasBias { try context.checkConstant(2, "biases") }
      let plane = try PlaneWindow(op.window, context)
      let isDepthwise = op.isDepthwise(context.inputs) && context.inputs[1].shape[0] == op.groups
      return Emitter { lowering throws(DeviceError) in
        if isDepthwise {
          try lowering.depthwise(op, plane)
        } else {
          try lowering.convolution(op, plane)
        }
      }
    }
  }
}

extension Lowering {
  fileprivate mutating func convolution(_ op: Convolution, _ plane: PlaneWindow) throws(DeviceError) {
    let (x, y) = (node.inputs[0], node.outputs[0])
    let (channels, outputs) = (type(x).shape[1] / op.groups, type(y).shape[1] / op.groups)
    let fitsBlocks = op.groups == 1 || (channels % tuning.lanes == 0 && outputs % tuning.lanes == 0)
    let isShallow = op.groups == 1 && channels <= tuning.lanes / 2 && !isBlocked(x)
    let from: Layout = fitsBlocks && !isShallow ? .blocked : .dense
    let to: Layout = fitsBlocks && !isOnlyOutput(y) ? .blocked : .dense
    let source = try place(x, from)
    let residual = op.epilogue.addsResidual ? try residual(to) : nil
    let target = make(y, to)
    let plan = ConvolutionPlan(
      plane, images: type(x).shape[0], groups: op.groups, channels: channels, outputs: outputs, from: from, to: to,
      lanes: tuning.lanes)
    let count = to == .dense ? type(y).count : blockedCount(type(y).shape)
    try convolve(plan, op.epilogue, source, residual: residual, target, count: count)
  }

  fileprivate mutating func depthwise(_ op: Convolution, _ plane: PlaneWindow) throws(DeviceError) {
    let (x, y) = (node.inputs[0], node.outputs[0])
    let (lanes, channels, taps) = (tuning.lanes, op.groups, plane.kernel[0] * plane.kernel[1])
    let blocks = tuning.blocks(channels)
    guard let weight = graph[node.inputs[1]].weight else { throw error(.unsupported, "weights that are not constant") }
    let name = graph[node.inputs[1]].name
    let weights = try packed("\(name)/depthwise-\(lanes)", count: blocks * taps * lanes) { target in
      let source = weight.floats()
      for channel in 0..<channels {
        let start = channel / lanes * taps * lanes + channel % lanes
        for tap in 0..<taps { target[start + tap * lanes] = source[channel * taps + tap] }
      }
    }
    let bias = try op.epilogue.hasBias ? paddedVector(node.inputs[2], count: blocks * lanes) : weights
    let source = try place(x, .blocked)
    let residual = op.epilogue.addsResidual ? try residual(.blocked) : nil
    let target = make(y, .blocked)
    let columns = min(tuning.columns, plane.width)
    let parts = (plane.width + columns - 1) / columns
    let fused = op.epilogue.activation.flatMap { $0.isFusedByKernels ? $0 : nil }
    let constants: [Constant] =
      ([blocks, plane.height, plane.width, plane.inputHeight, plane.inputWidth] + plane.kernel + plane.strides
      + plane.dilations + plane.before
      + [
        columns, parts, op.epilogue.hasBias ? 1 : 0, residual == nil ? 0 : 1,
        Int(fused?.code ?? UnaryFunction.noneCode),
      ])
      .map { .int($0) } + [.float(fused?.a ?? 0), .float(fused?.b ?? 0)]
    run(
      KernelName(program: "convolution", function: "depthwise"), [source, weights, bias, residual ?? source, target],
      constants, global: [plane.height * parts, blocks, type(x).shape[0]])
    if let activation = op.epilogue.activation, fused == nil {
      unary(activation, target, target, count: blockedCount(type(y).shape))
    }
  }

  /// The epilogue's last input in a layout.
  mutating func residual(_ layout: Layout) throws(DeviceError) -> Int {
    guard let value = node.inputs.last else { throw error(.execution, "the node has no inputs") }
    return try place(value, layout)
  }

  /// A vector of constants, zeros after its end.
  mutating func paddedVector(_ value: ValueID, count: Int) throws(DeviceError) -> Int {
    guard let weight = graph[value].weight else { throw error(.unsupported, "biases that are not constant") }
    return try packed("\(graph[value].name)/vector-\(count)", count: count) { weight.fill($0) }
  }
}
