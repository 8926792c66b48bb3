/// A transposed convolution as an ordinary one for each phase of its stride. Position q of phase r is output `q *
/// stride + r - before` along each axis, where positions begin at `before / stride`. It multiplies tap `t * stride + r`
/// by input `q - t * dilation`, for each t of the phase.
package struct TransposedPhases: Hashable, Sendable {
  package let strides: [Int]
  package let kernel: [Int]
  /// The number of positions of a phase along each axis; some may be outside the output.
  package let positions: [Int]

  /// Returns nil if an axis has both a stride and a dilation, or if most of the room for taps would be empty.
  package init?(_ window: SpatialWindow) {
    (strides, kernel) = (window.strides, window.kernel)
    positions = (0..<2).map { axis in
      let (before, stride) = (window.before[axis], window.strides[axis])
      return (before + window.output[axis] - 1) / stride - before / stride + 1
    }
    guard (0..<2).allSatisfy({ window.strides[$0] == 1 || window.dilations[$0] == 1 }),
      count * taps <= 16 * window.taps
    else { return nil }
  }

  package var count: Int { strides[0] * strides[1] }

  /// The largest number of taps of a phase.
  package var taps: Int { phaseKernel(0, axis: 0) * phaseKernel(0, axis: 1) }

  /// Returns the number of taps of a phase along an axis.
  private func phaseKernel(_ phase: Int, axis: Int) -> Int {
    (kernel[axis] - phase + strides[axis] - 1) / strides[axis]
  }

  /// Returns the phase of a tap, and the index of the tap in the phase.
  func place(ofTap tap: Int) -> (phase: Int, tap: Int) {
    let (y, x) = tap.quotientAndRemainder(dividingBy: kernel[1])
    let (phaseY, phaseX) = (y % strides[0], x % strides[1])
    let own = y / strides[0] * phaseKernel(phaseX, axis: 1) + x / strides[1]
    return (phaseY * strides[1] + phaseX, own)
  }
}
