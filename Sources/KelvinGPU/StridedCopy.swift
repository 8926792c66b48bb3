/// A copy of elements between two tensors that are described by strides. Transposition, slices, joins and repetition
/// are such copies.
package struct StridedCopy: Hashable, Sendable {
  package struct Axis: Hashable, Sendable {
    package var size: Int
    package var source: Int
    package var target: Int
  }

  /// The axes, outermost first, at least one. Neighbouring axes that are contiguous in both tensors are merged.
  package private(set) var axes: [Axis] = []
  package private(set) var sourceOffset: Int
  package private(set) var targetOffset: Int

  package init(contiguous count: Int) { self.init(sizes: [count], source: [1], target: [1]) }

  package init(sizes: [Int], source: [Int], target: [Int], sourceOffset: Int = 0, targetOffset: Int = 0) {
    self.sourceOffset = sourceOffset
    self.targetOffset = targetOffset
    for index in sizes.indices where sizes[index] != 1 {
      let axis = Axis(size: sizes[index], source: source[index], target: target[index])
      if let last = axes.last, last.source == axis.source &* axis.size, last.target == axis.target &* axis.size {
        axes[axes.count - 1] = Axis(size: last.size * axis.size, source: axis.source, target: axis.target)
      } else {
        axes.append(axis)
      }
    }
    if axes.isEmpty { axes = [Axis(size: 1, source: 1, target: 1)] }
  }

  package var count: Int { axes.reduce(1) { $0 * $1.size } }

  /// Returns the same copy of elements that consist of several units.
  package func of(units: Int) -> StridedCopy {
    guard units > 1 else { return self }
    return StridedCopy(
      sizes: axes.map(\.size) + [units], source: axes.map { $0.source &* units } + [1],
      target: axes.map { $0.target &* units } + [1], sourceOffset: sourceOffset &* units,
      targetOffset: targetOffset &* units)
  }
}
