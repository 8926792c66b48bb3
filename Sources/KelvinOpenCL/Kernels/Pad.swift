internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addPad() {
    add(Pad.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      let rank = 8
      let (from, to) = (context.inputs[0], context.outputs[0])
      guard to.shape.rank <= rank else { throw context.unsupported("padding of more than \(rank) axes") }
      let missing = Array(repeating: 1, count: rank - to.shape.rank)
      let (mode, bits) = encode(op.mode, from.scalar)
      return Emitter { lowering throws(DeviceError) in
        let (x, y) = (lowering.node.inputs[0], lowering.node.outputs[0])
        let source = try lowering.place(x, .dense)
        let target = lowering.make(y, .dense)
        let length = to.shape.dimensions.last ?? 1
        let rows = to.shape.dimensions.dropLast().reduce(1, *)
        let run = min(lowering.tuning.run, max(length, 1))
        let constants: [Int] =
          [length, run, mode, Int(UInt32(truncatingIfNeeded: bits)), Int(UInt32(truncatingIfNeeded: bits >> 32))]
          + missing + to.shape.dimensions + missing + from.shape.dimensions + missing.map { _ in 0 } + op.before
        let element = lowering.elementName(lowering.internalByteCount(from.scalar))
        lowering.run(
          KernelName(program: "pad", defines: ["ELEMENT=\(element)"], function: "pad"), [source, target],
          constants.map { .int($0) }, global: [(length + run - 1) / run, rows])
      }
    }
  }
}

/// The mode's number in the kernel, and the bits of an element of padding.
private func encode(_ mode: Pad.Mode, _ scalar: ScalarType) -> (mode: Int, bits: UInt64) {
  switch mode {
  case .reflect: return (1, 0)
  case .edge: return (2, 0)
  case .constant(let value):
    if scalar.isFloatingPoint {
      let rounded = scalar == .float16 ? Float(halfBits: Double(value).halfBits) : value
      return (0, UInt64(rounded.bitPattern))
    }
    let element = Tensor(TensorType(scalar, []), rounding: [Double(value)])
    return element.bytes.withUnsafeBytes { raw in
      (0, raw.enumerated().reduce(0) { $0 | UInt64($1.element) << (8 * $1.offset) })
    }
  }
}
