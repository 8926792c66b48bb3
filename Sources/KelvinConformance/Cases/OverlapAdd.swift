import KelvinGraph

extension ConformanceCase {
  package static let overlapAdd: [ConformanceCase] =
    [
      blocks("plane", [5, 7], [2, 3]),
      blocks("plane", [5, 7], [2, 3], scalar: .float16),
      blocks("padded", [5, 7], [3, 3], before: [1, 2], after: [1, 0]),
      blocks("apart", [6, 11], [2, 3], strides: [2, 3], dilations: [2, 1], before: [0, 1], after: [1, 2]),
      blocks("wider than blocks", [9, 9], [1, 2], strides: [3, 4], planes: 1),
      blocks("line", [13], [4], strides: [2], before: [1], after: [2]),
      blocks(
        "volume", [3, 4, 5], [2, 2, 2], strides: [1, 2, 1], dilations: [1, 1, 2], before: [0, 1, 0], after: [0, 1, 0]),
      blocks("blocks in the padding", [3], [2], strides: [2], before: [4], after: [4]),
      blocks("many columns", [3, 301], [1, 3], before: [0, 1], after: [0, 1]),
    ] + [ScalarType.int8, .uint8, .int16, .int32, .int64].map { blocks("plane", [4, 5], [2, 2], scalar: $0) }

  private static func blocks(
    _ name: String, _ image: [Int], _ block: [Int], strides: [Int]? = nil, dilations: [Int]? = nil,
    before: [Int]? = nil, after: [Int]? = nil, planes: Int = 3, scalar: ScalarType = .float32
  ) -> ConformanceCase {
    let (ones, zeros) = (image.map { _ in 1 }, image.map { _ in 0 })
    let op = OverlapAdd(
      image: image, block: block, strides: strides ?? ones, dilations: dilations ?? ones, before: before ?? zeros,
      after: after ?? zeros)
    let shape: Shape = [2, planes * Shape(block).count, Shape(op.counts).count]
    guard !scalar.isFloatingPoint else { return node(name, op, .input(shape), scalar: scalar) }
    return node("\(name) of \(scalar.rawValue)", op, .exactly(.odd(scalar, shape)))
  }
}
