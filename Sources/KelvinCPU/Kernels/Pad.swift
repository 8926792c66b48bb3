import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addPad() {
    add(Pad.self) { (op, context) throws(DeviceError) in
      let (x, y) = (context.inputs[0], context.outputs[0])
      let element = x.scalar.innerByteCount
      var copies: [CPUCopy] = []
      for pieces in combinations(op.pieces(x.shape)) {
        var source = 0
        var target = 0
        for (axis, piece) in pieces.enumerated() {
          source += piece.from * x.shape.strides[axis]
          target += piece.to * y.shape.strides[axis]
        }
        copies.append(
          try CPUCopy(
            sizes: pieces.map(\.count), source: zip(pieces, x.shape.strides).map { $0.step * $1 },
            target: y.shape.strides, sourceOffset: source, targetOffset: target, element: element, in: context))
      }
      return CPUKernel { [copies] operands, list in
        if case .constant(let value) = op.mode {
          let arguments = ck_fill_args(
            target: operands.outputs[0], element: element, count: y.count, value: x.scalar.innerBits(of: value))
          list.add(
            ck_fill_run, arguments, items: parts(y.count, of: Int(ck_map_chunk)), cost: Int(ck_map_chunk))
        }
        for copy in copies { copy.record(from: operands.inputs[0], to: operands.outputs[0], list) }
      }
    }
  }
}

/// Elements of one axis that are copied with one step: `count` elements, from position `from` to position `to`.
private struct PadCopy {
  var from: Int
  var to: Int
  var count: Int
  var step = 1
}

extension Pad {
  /// Returns, for each axis, the copies that fill its positions.
  fileprivate func pieces(_ shape: Shape) -> [[PadCopy]] {
    shape.dimensions.enumerated().map { axis, size in
      var pieces = [PadCopy(from: 0, to: before[axis], count: size)]
      switch mode {
      case .constant: break
      case .edge:
        pieces.append(PadCopy(from: 0, to: 0, count: before[axis], step: 0))
        pieces.append(PadCopy(from: size - 1, to: before[axis] + size, count: after[axis], step: 0))
      case .reflect:
        pieces.append(PadCopy(from: before[axis], to: 0, count: before[axis], step: -1))
        pieces.append(PadCopy(from: size - 2, to: before[axis] + size, count: after[axis], step: -1))
      case .wrap:
        pieces.append(PadCopy(from: size - before[axis], to: 0, count: before[axis]))
        pieces.append(PadCopy(from: 0, to: before[axis] + size, count: after[axis]))
      }
      return pieces.filter { $0.count > 0 }
    }
  }
}

private func combinations(_ axes: [[PadCopy]]) -> [[PadCopy]] {
  axes.reduce([[]]) { result, pieces in result.flatMap { prefix in pieces.map { prefix + [$0] } } }
}

extension ScalarType {
  /// Returns the bits of a value as an element inside a segment.
  fileprivate func innerBits(of value: Float) -> UInt64 {
    let scalar = self == .float16 ? .float32 : self
    var bits: UInt64 = 0
    withUnsafeMutableBytes(of: &bits) { Tensor.store([Double(value)], as: scalar, in: $0) }
    return bits
  }
}
