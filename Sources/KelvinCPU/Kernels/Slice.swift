import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addSlice() {
    add(Slice.self) { (op, context) throws(DeviceError) in
      let strides = context.inputs[0].shape.strides
      let isEmpty = op.counts.contains(0)
      if let offset = op.runOffset(context), offset % SlotAnchors.line == 0 { return CPUKernel.view(at: offset) }
      let copy = try CPUCopy(
        sizes: op.counts, source: zip(strides, op.steps).map { isEmpty ? 0 : $0 * $1 },
        target: context.outputs[0].shape.strides,
        sourceOffset: isEmpty ? 0 : zip(strides, op.starts).reduce(0) { $0 + $1.0 * $1.1 },
        element: context.inputs[0].scalar.innerByteCount, in: context)
      return CPUKernel { operands, list in copy.record(from: operands.inputs[0], to: operands.outputs[0], list) }
    }
  }
}

extension Slice {
  /// Returns the offset, in bytes, of elements that are contiguous in the input; nil if they are not contiguous.
  fileprivate func runOffset(_ context: CPUContext) -> Int? {
    let (from, to) = (context.inputs[0].shape.strides, context.outputs[0].shape.strides)
    guard !counts.contains(0), counts.indices.allSatisfy({ counts[$0] == 1 || steps[$0] * from[$0] == to[$0] }) else {
      return nil
    }
    return zip(from, starts).reduce(0) { $0 + $1.0 * $1.1 } * context.inputs[0].scalar.innerByteCount
  }
}
