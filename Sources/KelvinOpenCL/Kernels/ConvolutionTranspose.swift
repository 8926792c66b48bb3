internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addConvolutionTranspose() {
    add(ConvolutionTranspose.self) { op, context throws(DeviceError) in
      try context.checkFloats()
      let plane = try PlaneWindow(op.window, context)
      let channels = context.inputs[0].shape[1]
      let isDepthwise = op.groups > 1 && op.groups == channels && context.outputs[0].shape[1] == channels
      let isConstant = context.graph[context.node.inputs[1]].weight != nil
      return Emitter { lowering throws(DeviceError) in
        if isConstant, op.groups == 1 || isDepthwise {
          try lowering.transposed(plane, isDepthwise: isDepthwise)
        } else {
          try lowering.transposed(plane, groups: op.groups)
        }
      }
    }
  }
}

extension Lowering {
  /// On blocked tensors.
  fileprivate mutating func transposed(_ plane: PlaneWindow, isDepthwise: Bool) throws(DeviceError) {
    let (x, y) = (node.inputs[0], node.outputs[0])
    let (inputs, outputs, lanes) = (type(x).shape[1], type(y).shape[1], tuning.lanes)
    let (taps, blocks) = (plane.kernel[0] * plane.kernel[1], tuning.blocks(outputs))
    let depth = isDepthwise ? 1 : inputs
    guard let weight = graph[node.inputs[1]].weight else { throw error(.unsupported, "weights that are not constant") }
    let weights = try packed(
      "\(graph[node.inputs[1]].name)/transposed-\(isDepthwise ? "depthwise-" : "")\(lanes)",
      count: (blocks * taps * depth + 1) * lanes
    ) { target in
      for (index, element) in weight.floats().enumerated() {
        let (plane, tap) = index.quotientAndRemainder(dividingBy: taps)
        let (from, to) = isDepthwise ? (0, plane) : plane.quotientAndRemainder(dividingBy: outputs)
        target[((to / lanes * taps + tap) * depth + from) * lanes + to % lanes] = element
      }
    }
    let source = try place(x, .blocked)
    let target = make(y, .blocked)
    let (columns, parts) = columns(plane)
    run(
      KernelName(program: "convolution_transpose", function: "convolution_transpose"), [source, weights, target],
      (plane.transposedGeometry + [inputs, blocks, columns, parts, isDepthwise ? 1 : 0]).map { .int($0) },
      global: [plane.height * parts, blocks, type(x).shape[0]])
  }

  /// Any groups and weights, on dense tensors.
  fileprivate mutating func transposed(_ plane: PlaneWindow, groups: Int) throws(DeviceError) {
    let (x, y) = (node.inputs[0], node.outputs[0])
    let source = try place(x, .dense)
    let weights = try place(node.inputs[1], .dense)
    let target = make(y, .dense)
    let (inputs, outputs) = (type(x).shape[1], type(y).shape[1])
    let (columns, parts) = columns(plane)
    run(
      KernelName(program: "convolution_transpose", function: "convolution_transpose_grouped"),
      [source, weights, target],
      (plane.transposedGeometry + [inputs / groups, outputs / groups, groups, columns, parts]).map { .int($0) },
      global: [plane.height * parts, type(x).shape[0] * outputs])
  }

  /// The pixels of a row that one work item computes, a whole number of strides where there are several items.
  private func columns(_ plane: PlaneWindow) -> (columns: Int, parts: Int) {
    let columns = min(tuning.columns * plane.strides[1], plane.width)
    return (columns, (plane.width + columns - 1) / columns)
  }
}

extension PlaneWindow {
  fileprivate var transposedGeometry: [Int] {
    [height, width, inputHeight, inputWidth] + kernel + strides + dilations + before
  }
}
