import KelvinDevices
import KelvinGraph

/// Words of 32 bits moved between dense tensors by strides: what transposition, slices, joins and repetition come
/// down to.
struct StridedCopy: Sendable {
  /// Sizes of the block moved, and strides in source and target for each of its axes, outermost first.
  var sizes: [Int]
  var source: [Int]
  var target: [Int]
  /// Offsets of the first element.
  var from = 0
  var to = 0

  static let axisLimit = 6

  /// Axes that lie one inside the other in both tensors are one; those of size 1 are none.
  var merged: StridedCopy {
    var copy = StridedCopy(sizes: [], source: [], target: [], from: from, to: to)
    for axis in sizes.indices where sizes[axis] != 1 {
      if let last = copy.sizes.indices.last, copy.source[last] == source[axis] * sizes[axis],
        copy.target[last] == target[axis] * sizes[axis]
      {
        copy.sizes[last] *= sizes[axis]
        copy.source[last] = source[axis]
        copy.target[last] = target[axis]
      } else {
        copy.sizes.append(sizes[axis])
        copy.source.append(source[axis])
        copy.target.append(target[axis])
      }
    }
    return copy
  }

  /// The same for elements of several words.
  func of(words: Int) -> StridedCopy {
    guard words > 1 else { return self }
    return StridedCopy(
      sizes: sizes + [words], source: source.map { $0 &* words } + [1], target: target.map { $0 &* words } + [1],
      from: from * words, to: to * words)
  }

  /// - Throws: `.unsupported` where too many axes remain.
  func check(_ context: KernelContext) throws(DeviceError) {
    let count = merged.sizes.count
    guard count <= Self.axisLimit else { throw context.unsupported("\(count) axes that cannot be merged") }
  }

  func build(_ builder: SegmentBuilder, _ x: Region, to y: Region) {
    let copy = merged
    let count = sizes.reduce(1, *)
    let rest = Self.axisLimit - copy.sizes.count
    let zeros = [Int](repeating: 0, count: rest)
    var parameters = Parameters()
    parameters.add(count, from, to)
    parameters.add(copy.sizes.reversed() + zeros.map { _ in 1 })
    parameters.add(copy.source.reversed() + zeros)
    parameters.add(copy.target.reversed() + zeros)
    builder.dispatchFlat(
      "copy", constants: [0], parameters, count: count, reads: [Operand(region: x, format: .uint)], write: y)
  }
}

extension KernelContext {
  /// A kernel that moves the one input to the one output.
  func kernel(_ copy: StridedCopy) throws(DeviceError) -> Kernel {
    try requireElements()
    let copy = copy.of(words: try element(inputs[0]).words)
    try copy.check(self)
    let node = node
    return Kernel { builder throws(DeviceError) in
      copy.build(builder, try builder.read(node.inputs[0], .dense), to: try builder.write(node.outputs[0], .dense))
    }
  }
}
