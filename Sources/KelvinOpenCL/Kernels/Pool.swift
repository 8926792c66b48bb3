internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addPool() {
    add(Pool.self) { op, context throws(DeviceError) in
      try context.checkFloats()
      let plane = try PlaneWindow(op.window, context)
      return Emitter { lowering throws(DeviceError) in
        let (x, y) = (lowering.node.inputs[0], lowering.node.outputs[0])
        let shape = lowering.type(x).shape
        let source = try lowering.place(x, .blocked)
        let target = lowering.make(y, .blocked)
        let columns = min(lowering.tuning.columns, plane.width)
        let parts = (plane.width + columns - 1) / columns
        let constants =
          [plane.height, plane.width, plane.inputHeight, plane.inputWidth] + plane.kernel + plane.strides
          + plane.dilations + plane.before + plane.after
          + [columns, parts, op.function == .maximum ? 1 : 0, op.function == .averageIncludingPadding ? 1 : 0]
        lowering.run(
          KernelName(program: "pool", function: "pool"), [source, target], constants.map { .int($0) },
          global: [plane.height * parts, shape[0] * lowering.tuning.blocks(shape[1])])
      }
    }
  }
}

/// A window over one or two spatial axes, as two.
struct PlaneWindow: Sendable {
  let height: Int
  let width: Int
  let inputHeight: Int
  let inputWidth: Int
  let kernel: [Int]
  let strides: [Int]
  let dilations: [Int]
  let before: [Int]
  let after: [Int]

  init(_ window: Window, _ context: NodeContext) throws(DeviceError) {
    guard window.rank <= 2 else { throw context.unsupported("windows over \(window.rank) spatial axes") }
    func plane(_ values: [Int], _ filler: Int) -> [Int] { values.count == 1 ? [filler] + values : values }
    guard zip(window.before, window.after).allSatisfy({ $0 < 1 << 24 && $1 < 1 << 24 }) else {
      throw context.unsupported("padding of 2^24 elements and more")
    }
    let input = plane(Array(context.inputs[0].shape.dimensions.dropFirst(2)), 1)
    let output = plane(Array(context.outputs[0].shape.dimensions.dropFirst(2)), 1)
    (inputHeight, inputWidth) = (input[0], input[1])
    (height, width) = (output[0], output[1])
    kernel = plane(window.kernel, 1)
    strides = plane(window.strides, 1)
    dilations = plane(window.dilations, 1)
    before = plane(window.before, 0)
    after = plane(window.after, 0)
  }
}
