import KelvinDevices
import KelvinGraph

extension CPUKernel {
  /// Brings a tensor from one of the layouts of this device's kernels, dense and rows, to the other.
  static func conversion(_ type: TensorType, from: ValueLayout, to: ValueLayout) -> CPUKernel {
    if from.coincides(with: to, type.shape) { return alias() }
    let (batch, channels, area) = (type.shape[0], type.shape[1], type.shape.pixels)
    let strides = [from, to].map { layout in
      switch layout {
      case .dense: [channels * area, area, 1]
      case .rows: [channels * area, 1, channels]
      case .blocks: preconditionFailure("no kernel of this device works on blocks")
      }
    }
    let copy = CPUCopy(StridedLayout([batch, channels, area], strides), element: type.scalar.innerByteCount)
    return CPUKernel { operands, list in copy.record(from: operands.inputs[0], to: operands.outputs[0], list) }
  }
}
