internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addCast() {
    add(Cast.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      return Emitter { lowering throws(DeviceError) in
        let (x, y) = (lowering.node.inputs[0], lowering.node.outputs[0])
        let (from, to) = (lowering.type(x).scalar, op.scalar)
        let source = try lowering.place(x, .dense)
        let count = lowering.type(x).count
        if from == to || (from == .float16 && to == .float32) {
          lowering.alias(y, .dense, source)
        } else if from == .float32, to == .float16 {
          let target = lowering.make(y, .dense)
          lowering.convert("round_to_half", source, target, count: count)
        } else {
          let target = lowering.make(y, .dense)
          lowering.cast(from, to, source, target, count: count)
        }
      }
    }
  }
}

extension Lowering {
  fileprivate mutating func cast(_ from: ScalarType, _ to: ScalarType, _ source: Int, _ target: Int, count: Int) {
    let convert =
      switch (from, to) {
      case (_, .bool): "0!="
      case (_, .float32), (_, .float16): "convert_float"
      default: "convert_\(to.kernelName)\(from.isFloatingPoint ? "_sat_rtz" : "")"
      }
    let defines = ["SOURCE=\(from.kernelName)", "TARGET=\(to.kernelName)", "CONVERT=\(convert)"]
    run(
      KernelName(program: "cast", defines: defines, function: "cast"), [source, target],
      [.int(count), .int(tuning.run)], global: [(count + tuning.run - 1) / tuning.run])
  }
}
