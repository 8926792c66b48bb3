import KelvinGraph

extension ConformanceCase {
  package static let reshape: [ConformanceCase] = [ScalarType.float32, .float16].map {
    node("flatten", Reshape([2, 105]), .input([2, 3, 5, 7]), scalar: $0)
  }

  package static let transpose: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        node("matrix", Transpose([1, 0]), .input([13, 37]), scalar: scalar),
        node("NCHW to NHWC", Transpose([0, 2, 3, 1]), .input([2, 5, 7, 3]), scalar: scalar),
        node("NHWC to NCHW", Transpose([0, 3, 1, 2]), .input([2, 7, 3, 5]), scalar: scalar),
        node("five axes", Transpose([4, 2, 0, 3, 1]), .input([2, 3, 5, 2, 3]), scalar: scalar),
        // Tiles of the first and the last axis, with others between them.
        node("tiles", Transpose([1, 0]), .input([37, 53]), scalar: scalar),
        node("tiles apart", Transpose([3, 2, 1, 0]), .input([19, 3, 2, 21]), scalar: scalar),
        node("tiles of pairs", Transpose([2, 0, 1, 3]), .input([19, 3, 21, 2]), scalar: scalar),
        node("pixels", Transpose([0, 1, 4, 2, 5, 3]), .input([2, 3, 2, 3, 17, 5]), scalar: scalar),
      ]
    }
    + [ScalarType.uint8, .int16, .int64, .bool].map { scalar in
      node(
        "tiles of \(scalar.rawValue)", Transpose([2, 1, 0]),
        .exactly(
          Tensor(
            TensorType(scalar, [19, 2, 37]), rounding: (0..<1406).map { Double($0 * 7 % (scalar == .bool ? 2 : 97)) })))
    }

  package static let concat: [ConformanceCase] = [ScalarType.float32, .float16].flatMap { scalar in
    [
      node(
        "channels", Concat(axis: 1), .input([2, 3, 5, 7]), .input([2, 4, 5, 7]), .weight([2, 1, 5, 7]), scalar: scalar),
      node("rows", Concat(axis: 0), .input([1, 5]), .input([4, 5]), scalar: scalar),
      node("last axis", Concat(axis: 2), .input([2, 3, 1]), .input([2, 3, 4]), scalar: scalar),
    ]
  }

  package static let slice: [ConformanceCase] = [ScalarType.float32, .float16].flatMap { scalar in
    [
      node(
        "crop", Slice(starts: [0, 1, 2], counts: [2, 2, 3], steps: [1, 1, 1]), .input([2, 4, 7]), scalar: scalar),
      node("steps", Slice(starts: [0, 6], counts: [3, 3], steps: [2, -3]), .input([5, 7]), scalar: scalar),
    ]
  }

  package static let pad: [ConformanceCase] = [ScalarType.float32, .float16].flatMap { scalar in
    [
      node(
        "constant", Pad(before: [0, 0, 1, 2], after: [0, 1, 3, 0], mode: .constant(0.5)), .input([1, 2, 5, 3]),
        scalar: scalar),
      node("reflect", Pad(before: [0, 2], after: [0, 3], mode: .reflect), .input([3, 5]), scalar: scalar),
      node("wrap", Pad(before: [0, 2, 1], after: [0, 3, 5], mode: .wrap), .input([3, 4, 5]), scalar: scalar),
      node("edge", Pad(before: [2, 1], after: [0, 3], mode: .edge), .input([3, 5]), scalar: scalar),
    ]
  }

  package static let gather: [ConformanceCase] = [
    node("rows", Gather(axis: 0), .weight([11, 5]), .exactly(Tensor([Int64]([3, 0, -1, 10, 3, -11]), [2, 3]))),
    node("columns", Gather(axis: 1), .input([3, 7]), .exactly(Tensor([Int64]([6, -7, 2]), [3]))),
    node("a row", Gather(axis: 0), .input([5, 64]), .exactly(Tensor([Int64]([-2]), Shape([])))),
    node("a row amid others", Gather(axis: 1), .input([1, 5, 7]), .exactly(Tensor([Int64]([3]), [1]))),
    node("a column", Gather(axis: 1), .input([3, 7]), .exactly(Tensor([Int64]([2]), Shape([])))),
    node(
      "elements of int64", Gather(axis: 1), .exactly(Tensor((0..<14).map { Int64($0) << 40 }, [2, 7])),
      .exactly(Tensor(TensorType(.int32, [5]), rounding: [6, -7, 2, 2, 0]))),
    node(
      "bytes", Gather(axis: 0), .exactly(.bytes(.uint8, [23], seed: 3)),
      .exactly(Tensor(TensorType(.uint8, [4]), rounding: [22, 0, 7, 3]))),
  ]

  package static let expand: [ConformanceCase] = [ScalarType.float32, .float16].flatMap { scalar in
    [
      node("rows", Expand([4, 3, 5]), .input([3, 1]), scalar: scalar),
      node("scalar", Expand([7]), .input([]), scalar: scalar),
      node("repeats", Expand([3, 2, 5, 3, 7, 5, 3]), .input([1, 2, 1, 3, 1, 5, 3]), scalar: scalar),
    ]
  }
}
