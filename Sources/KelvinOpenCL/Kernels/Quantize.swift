internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addQuantize() {
    add(Quantize.self) { op, context throws(DeviceError) in
      try quantizing(context, "quantize", op.axis, integers: op.scalar)
    }
  }
}
