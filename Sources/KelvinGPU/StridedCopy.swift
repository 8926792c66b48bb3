internal import KelvinGraph

/// A copy of elements between two tensors that are described by strides. Transposition, slices, joins and repetition
/// are such copies.
package struct StridedCopy: Hashable, Sendable {
  package struct Axis: Hashable, Sendable {
    package var size: Int
    package var source: Int
    package var target: Int
  }

  /// The largest number of axes that the kernel takes.
  package static let limit = 8

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

  /// The kernel that copies elements of a type.
  func kernel(of scalar: ScalarType) -> GPUKernel {
    let (outer, row) = (axes.dropLast().reversed(), axes[axes.count - 1])
    func list(_ value: (Axis) -> Int, filler: Int) -> [Int] {
      outer.map(value) + Array(repeating: filler, count: Self.limit - axes.count)
    }
    let lists = list(\.size, filler: 1) + list(\.source, filler: 0) + list(\.target, filler: 0)
    return GPUKernel(
      "copy", [.moved(scalar)], constants: [("AXES", outer.count)], reads: [.elements],
      Parameters([sourceOffset, targetOffset, row.source, row.target] + lists),
      rows: outer.reduce(1) { $0 * $1.size }, of: row.size)
  }
}
