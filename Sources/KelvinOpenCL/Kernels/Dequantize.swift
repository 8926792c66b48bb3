internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addDequantize() {
    add(Dequantize.self) { op, context throws(DeviceError) in
      try quantizing(context, "dequantize", op.axis, integers: context.inputs[0].scalar)
    }
  }
}
