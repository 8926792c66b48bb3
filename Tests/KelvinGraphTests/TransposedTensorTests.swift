import KelvinBasics
import KelvinGraph
import Testing

struct TransposedTensorTests {
  @Test("a weight whose axes are exchanged back is the weight itself")
  func exchangesBack() {
    let tensor = Tensor((0..<24).map { Float($0) }, [2, 3, 4])
    let weight = Weight(tensor).transposed([1, 2, 0])
    guard case .dense(let back) = weight.transposed([2, 0, 1]).encoding else {
      Issue.record("the weight is computed")
      return
    }
    #expect(back == tensor)
    #expect(weight.transposed([1, 2, 0]).dense() == tensor.transposed([2, 0, 1]))
    #expect(Weight(tensor).transposed([0, 2, 1]).transposed([0, 2, 1]).dense() == tensor)
  }

  @Test("a transposed tensor has its axes exchanged", arguments: ScalarType.allCases)
  func exchangesAxes(_ scalar: ScalarType) {
    var random = SeededGenerator(seed: 7)
    for trial in 0..<40 {
      let rank = trial % 6
      let sizes = (0..<rank).map { _ in [1, 2, 3, 5, 17, 33][Int.random(in: 0..<(rank > 3 ? 4 : 6), using: &random)] }
      let permutation = Array(0..<rank).shuffled(using: &random)
      let type = TensorType(scalar, Shape(sizes))
      let tensor = Tensor(
        type,
        Bytes((0..<type.byteCount).map { _ in UInt8.random(in: 0...255, using: &random) }))
      let result = tensor.transposed(permutation)
      #expect(result.shape == Shape(permutation.map { sizes[$0] }))
      let size = scalar.byteCount
      let (from, to) = (tensor.bytes.withUnsafeBytes { Array($0) }, result.bytes.withUnsafeBytes { Array($0) })
      for index in 0..<result.count {
        var (rest, source) = (index, 0)
        for axis in (0..<rank).reversed() {
          let place = rest % result.shape[axis]
          rest /= result.shape[axis]
          source += place * tensor.shape.strides[permutation[axis]]
        }
        #expect(
          to[index * size..<(index + 1) * size] == from[source * size..<(source + 1) * size],
          "\(sizes) by \(permutation), element \(index)")
      }
    }
  }
}
