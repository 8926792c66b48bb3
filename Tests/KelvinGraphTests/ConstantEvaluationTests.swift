import KelvinBasics
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// Constants that the reference computes, against loops over positions.
@Suite struct ConstantEvaluationTests {
  /// Every position of a shape, in row-major order.
  private func positions(_ shape: Shape) -> [[Int]] {
    shape.dimensions.reduce([[]]) { prefixes, size in prefixes.flatMap { prefix in (0..<size).map { prefix + [$0] } } }
  }

  private func element(_ tensor: Tensor, _ position: [Int]) -> Double {
    let own = zip(position.suffix(tensor.shape.rank), tensor.shape.dimensions).map { $1 == 1 ? 0 : $0 }
    return tensor.doubles[zip(own, tensor.shape.strides).reduce(0) { $0 + $1.0 * $1.1 }]
  }

  private func tensor(_ shape: Shape, _ random: inout SeededGenerator) -> Tensor {
    Tensor((0..<shape.count).map { _ in random.signedUnit() }, shape)
  }

  @Test(arguments: Tier.seeds(40, of: 400)) func operandsAreReadInOrder(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let sizes = (0..<random.index(below: 5)).map { _ in [0, 1, 2, 3, 5][random.index(below: 5)] }
    let shape = Shape(sizes)
    let smaller = Shape(sizes.dropFirst(random.index(below: 3)).map { random.index(below: 2) == 0 ? 1 : $0 })
    let (x, y) = (tensor(shape, &random), tensor(smaller, &random))
    let all = positions(shape)
    let difference = try ReferenceEvaluator().evaluate(Binary(.subtract), [x, y])[0]
    #expect(difference.floats == all.map { Float(element(x, $0) - element(y, $0)) }, "seed \(seed)")

    let order = Array(sizes.indices).shuffled(using: &random)
    let transposed = try ReferenceEvaluator().evaluate(Transpose(order), [x])[0]
    let exchanged = positions(transposed.shape).map { position in
      Float(element(x, sizes.indices.map { axis in position[order.firstIndex(of: axis) ?? 0] }))
    }
    #expect(transposed.floats == exchanged, "seed \(seed)")

    let axes = sizes.indices.filter { _ in random.index(below: 2) == 0 }
    for function in [Reduce.Function.sum, .mean] {
      let reduced = try ReferenceEvaluator().evaluate(Reduce(function, axes: axes, keepsDimensions: true), [x])[0]
      for position in positions(reduced.shape) {
        let group = all.filter { other in sizes.indices.allSatisfy { axes.contains($0) || other[$0] == position[$0] } }
        let sum = group.reduce(0) { $0 + element(x, $1) }
        let expected = function == .sum ? sum : sum / Double(group.count)
        let actual = element(reduced, position)
        #expect(actual == Double(Float(expected)) || actual.isNaN && expected.isNaN, "seed \(seed)")
      }
    }
  }

  /// The step of an axis of one element has no effect, however large it is.
  @Test func slicesOfOneElementMayHaveAnyStep() throws {
    let x = Tensor((0..<24).map { Float($0) }, [2, 3, 4])
    let slice = Slice(starts: [1, 2, 3], counts: [1, 1, 2], steps: [.max, .min, -2])
    #expect(try ReferenceEvaluator().evaluate(slice, [x])[0].floats == [23, 21])
    let none = Slice(starts: [.max, 0, 0], counts: [0, 3, 4], steps: [.max, 1, 1])
    #expect(try ReferenceEvaluator().evaluate(none, [x])[0].count == 0)
  }
}
