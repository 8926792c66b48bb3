internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addArgReduce<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(ArgReduce.self) { op, context throws(DeviceError) in
      let lines = Lines(context.inputs[0].shape, axis: op.axis)
      let bits = op.scalar.byteCount * 8
      guard bits >= 32 || lines.length <= 1 << (bits - 1) else {
        throw context.unsupported("positions up to \(lines.length - 1) as \(op.scalar.rawValue)")
      }
      return context.dense(context.target.argReduce(op, lines, of: context.inputs[0].scalar))
    }
  }
}
