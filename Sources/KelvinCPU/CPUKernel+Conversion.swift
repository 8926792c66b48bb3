import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension CPUKernel {
  /// Returns a kernel that converts a tensor between layouts of this device's kernels.
  static func conversion(_ type: TensorType, from: ValueLayout, to: ValueLayout) -> CPUKernel {
    if from.coincides(with: to, type.shape) { return view() }
    switch (from, to) {
    case _ where type.scalar.innerByteCount != 1 && type.scalar.innerByteCount != 4:
      return copies(type, from: from, to: to)
    case (.dense, .blocks(let size)): return blocks(type, lanes: size, ck_blocks_from_planes_run)
    case (.blocks(let size), .dense): return blocks(type, lanes: size, ck_planes_from_blocks_run)
    default: return copies(type, from: from, to: to)
    }
  }

  private static func blocks(_ type: TensorType, lanes: Int, _ run: @escaping ck_run) -> CPUKernel {
    let blocked = BlockedShape(type.shape, lanes: lanes)
    let element = type.scalar.innerByteCount
    return CPUKernel { operands, list in
      let arguments = ck_blocks_args(
        x: operands.inputs[0], y: operands.outputs[0], element: element, channels: blocked.channels, area: blocked.area,
        lanes: lanes)
      list.add(
        run, arguments, items: blocked.area == 0 ? 0 : blocked.batch * blocked.blocks, cost: blocked.area * lanes)
    }
  }

  /// Padding lanes of blocks are not written, because kernels do not read them.
  private static func copies(_ type: TensorType, from: ValueLayout, to: ValueLayout) -> CPUKernel {
    let (batch, channels, area) = (type.shape[0], type.shape[1], type.shape.pixels)
    // The size of a block in either layout, and the channels that remain after whole blocks.
    let lanes = [from, to].reduce(channels) { lanes, layout in
      if case .blocks(let size) = layout { size } else { lanes }
    }
    func strides(_ layout: ValueLayout) -> [Int] {
      switch layout {
      case .dense: [channels * area, lanes * area, area, 1]
      case .rows: [channels * area, lanes, 1, channels]
      case .blocks: [parts(channels, of: lanes) * lanes * area, lanes * area, 1, lanes]
      }
    }
    let (source, target) = (strides(from), strides(to))
    let (whole, rest) = (channels / max(lanes, 1), channels % max(lanes, 1))
    let element = type.scalar.innerByteCount
    let copies = [
      CPUCopy(StridedLayout([batch, whole, lanes, area], [source, target]), element: element),
      CPUCopy(
        StridedLayout([batch, 1, rest, area], [source, target]), sourceOffset: whole * source[1],
        targetOffset: whole * target[1], element: element),
    ]
    return CPUKernel { operands, list in
      for copy in copies { copy.record(from: operands.inputs[0], to: operands.outputs[0], list) }
    }
  }
}
