import KelvinBasics
import KelvinGPU
import KelvinGraph
import Testing

/// Merging axes changes the iteration, never the set of elements.
struct MergingTests {
  @Test(arguments: UInt64(0)..<200)
  func mergedAxesCopyTheSameElements(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let sizes = (0..<Int.random(in: 0...5, using: &random)).map { _ in Int.random(in: 1...3, using: &random) }
    let order = sizes.indices.shuffled(using: &random)
    let repeats = Bool.random(using: &random)
    let source = order.map { repeats && $0 == 0 ? 0 : Shape(sizes).strides[$0] }
    let extents = order.map { sizes[$0] }
    let copy = StridedCopy(
      sizes: extents, source: source, target: Shape(extents).strides, sourceOffset: 7, targetOffset: 2)
    let reads = places(extents, source).map { $0 + 7 }
    let writes = places(extents, Shape(extents).strides).map { $0 + 2 }
    #expect(moves(copy) == Dictionary(uniqueKeysWithValues: zip(writes, reads)), "seed \(seed)")
  }

  @Test func compatibleAdjacentAxesAreMerged() {
    let strides = Shape([2, 3, 5]).strides
    #expect(StridedCopy(sizes: [2, 3, 5], source: strides, target: strides) == StridedCopy(contiguous: 30))
    #expect(StridedIteration([2, 3, 5], [[2, 3, 5], [5]]).axes.map(\.size) == [6, 5])
    #expect(StridedIteration([2, 3, 5], [[2, 3, 5], [1, 3, 1]]).axes.map(\.size) == [2, 3, 5])
  }

  @Test(arguments: UInt64(0)..<200)
  func stridedIterationFollowsBroadcasting(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let sizes = (0..<Int.random(in: 0...5, using: &random)).map { _ in Int.random(in: 1...3, using: &random) }
    let operands = (0..<3).map { _ in
      let own = sizes.suffix(Int.random(in: 0...sizes.count, using: &random))
      return Shape(own.map { Bool.random(using: &random) ? $0 : 1 })
    }
    let iteration = StridedIteration(Shape(sizes), operands)
    for (index, operand) in operands.enumerated() {
      let walked = places(iteration.axes.map(\.size), iteration.axes.map { $0.strides[index] })
      let missing = sizes.count - operand.rank
      let expected = positions(sizes).map { position in
        (0..<operand.rank).reduce(0) { place, axis in
          place + (operand[axis] == 1 ? 0 : position[missing + axis]) * operand.strides[axis]
        }
      }
      #expect(walked == expected, "seed \(seed)")
    }
  }
}

/// Every position of a tensor, in row-major order.
private func positions(_ sizes: [Int]) -> [[Int]] {
  sizes.reduce([[]]) { heads, size in heads.flatMap { head in (0..<size).map { head + [$0] } } }
}

/// Returns the offset of each element, by strides.
private func places(_ sizes: [Int], _ strides: [Int]) -> [Int] {
  positions(sizes).map { zip($0, strides).reduce(0) { $0 + $1.0 * $1.1 } }
}

/// The element read for each one written.
private func moves(_ copy: StridedCopy) -> [Int: Int] {
  let sizes = copy.axes.map(\.size)
  let writes = places(sizes, copy.axes.map(\.target)).map { $0 + copy.targetOffset }
  let reads = places(sizes, copy.axes.map(\.source)).map { $0 + copy.sourceOffset }
  return Dictionary(uniqueKeysWithValues: zip(writes, reads))
}
