import KelvinGraph

extension ConformanceCase {
  package static let topK: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        node("largest of rows", TopK(axis: 1, count: 5, takesLargest: true), .input([3, 101]), scalar: scalar),
        node(
          "smallest in the middle", TopK(axis: 1, count: 3, takesLargest: false, scalar: .int32), .input([2, 7, 5]),
          scalar: scalar),
      ]
    } + [
      node("ties", TopK(axis: 1, count: 7, takesLargest: true), .exactly(steps(.float32, [3, 19]))),
      node("ties upwards", TopK(axis: 0, count: 11, takesLargest: false), .exactly(steps(.float32, [19, 3]))),
      node("whole axis", TopK(axis: 1, count: 257, takesLargest: false, scalar: .int32), .input([2, 257])),
      node("int32", TopK(axis: 0, count: 4, takesLargest: true, scalar: .int32), .exactly(steps(.int32, [17]))),
      node(
        "int64", TopK(axis: 0, count: 2, takesLargest: true),
        .exactly(Tensor([Int64]([1 << 40, (1 << 40) + 1, -5]), [3]))),
      node(
        "not a number", TopK(axis: 0, count: 4, takesLargest: true),
        .exactly(Tensor([Float]([1, .nan, .infinity, -.infinity, .nan]), [5]))),
      node("none", TopK(axis: 1, count: 0, takesLargest: true), .input([3, 5])),
      node("no lines", TopK(axis: 1, count: 2, takesLargest: true), .input([0, 5, 3])),
      node("long", TopK(axis: 1, count: 100, takesLargest: true), .input([2, 9001])),
      node("few of long", TopK(axis: 1, count: 3, takesLargest: false), .input([3, 2011])),
      node("long in the middle", TopK(axis: 1, count: 37, takesLargest: false), .input([2, 1500, 3])),
      node("long ties", TopK(axis: 0, count: 300, takesLargest: true), .exactly(steps(.float32, [1031, 2]))),
      node(
        "long not a number", TopK(axis: 0, count: 150, takesLargest: false, scalar: .int32),
        .exactly(Tensor((0..<1200).map { $0 % 7 == 0 ? Float.nan : Float($0 * 31 % 97) }, [1200]))),
    ]
    + [ScalarType.int8, .uint8, .int16, .uint16, .uint32, .uint64].flatMap { scalar in
      [
        node(
          "\(scalar.rawValue) largest", TopK(axis: 1, count: 9, takesLargest: true, scalar: .int32),
          .exactly(steps(scalar, [3, 140]))),
        node(
          "\(scalar.rawValue) smallest", TopK(axis: 0, count: 3, takesLargest: false, scalar: .uint8),
          .exactly(steps(scalar, [19, 5]))),
      ]
    }

  package static let gatherElements: [ConformanceCase] = [
    node("columns", GatherElements(axis: 1), .input([3, 7]), .exactly(indices([3, 5], 7))),
    node("rows", GatherElements(axis: 0), .input([5, 4, 3]), .exactly(indices([2, 3, 3], 5)), scalar: .float16),
    node(
      "int64 by int32", GatherElements(axis: 1), .exactly(steps(.int64, [2, 5])),
      .exactly(Tensor(TensorType(.int32, [2, 3]), rounding: [-1, 4, 0, 3, -5, 2]))),
    node(
      "beyond float64", GatherElements(axis: 0), .exactly(Tensor([Int64]([(1 << 53) + 1, .max, .min]), [3])),
      .exactly(Tensor([Int64]([2, 0, 1]), [3]))),
    node("bytes", GatherElements(axis: 0), .exactly(steps(.int8, [9])), .exactly(indices([13], 9))),
    node("none", GatherElements(axis: 0), .input([0, 3]), .exactly(indices([0, 3], 1))),
  ]

  package static let gatherND: [ConformanceCase] = [
    node("elements", GatherND(), .input([5, 7]), .exactly(Tensor([Int64]([4, 6, -1, 0, 2, -7, 3, -1]), [4, 2]))),
    node(
      "slices", GatherND(), .input([5, 7, 3]), .exactly(Tensor(TensorType(.int32, [3, 1]), rounding: [4, -2, 0])),
      scalar: .float16),
    node(
      "batches", GatherND(batchDimensions: 1), .input([2, 5, 7]),
      .exactly(Tensor([Int64]([4, 0, 1, -1, 3, 2]), [2, 3, 1]))),
    node("int64", GatherND(), .exactly(steps(.int64, [3, 3])), .exactly(Tensor([Int64]([2, 1, 0, 0]), [2, 2]))),
    node("whole", GatherND(), .input([3, 2]), .exactly(Tensor([Int64]([]), [2, 0]))),
  ]

  package static let scatterElements: [ConformanceCase] =
    ScatterReduction.allCases.flatMap { reduction in
      [
        node(
          "\(reduction.rawValue) columns", ScatterElements(axis: 1, reduction: reduction), .input([3, 7]),
          .exactly(indices([3, 5], 7)), .input([3, 5])),
        node(
          "\(reduction.rawValue) rows", ScatterElements(axis: 0, reduction: reduction), .input([5, 4, 3]),
          .exactly(indices([7, 3, 2], 5)), .input([7, 3, 2]), scalar: .float16),
        node(
          "\(reduction.rawValue) int64", ScatterElements(axis: 0, reduction: reduction), .exactly(steps(.int64, [5])),
          .exactly(Tensor(TensorType(.int32, [6]), rounding: [1, -1, 1, 0, -5, 4])),
          .exactly(steps(.int64, [6], from: 2))),
      ]
    } + [
      node(
        "replace int8", ScatterElements(axis: 0), .exactly(steps(.int8, [9])), .exactly(indices([5], 9)),
        .exactly(steps(.int8, [5], from: 1))),
      node(
        "middle of four axes", ScatterElements(axis: 2), .input([3, 2, 11, 5]),
        .exactly(indices([2, 2, 67, 4], 11)), .input([2, 2, 67, 4])),
      node(
        "truth values", ScatterElements(axis: 1), .exactly(steps(.bool, [3, 5])), .exactly(indices([2, 3], 5)),
        .exactly(steps(.bool, [2, 3], from: 1))),
      node("no updates", ScatterElements(axis: 0), .input([3, 5]), .exactly(indices([0, 5], 3)), .input([0, 5])),
      node(
        "outside", ScatterElements(axis: 1, skipsOutside: true), .input([2, 5]),
        .exactly(Tensor([Int64]([5, -5, 1, -6, .max, 4, .min, 0]), [2, 4])), .input([2, 4])),
    ]
    + narrow.flatMap { scalar in
      ScatterReduction.allCases.map { reduction in
        node(
          "\(reduction.rawValue) \(scalar.rawValue)", ScatterElements(axis: 0, reduction: reduction),
          .exactly(steps(scalar, [7, 3])), .exactly(indices([11, 2], 7)), .exactly(steps(scalar, [11, 2], from: 100)))
      }
    }

  package static let scatterND: [ConformanceCase] =
    ScatterReduction.allCases.flatMap { reduction in
      [
        node(
          "\(reduction.rawValue) elements", ScatterND(reduction: reduction), .input([5, 7]),
          .exactly(Tensor([Int64]([4, 6, -1, 0, 2, -7, 3, 0, 4, 6]), [5, 2])), .input([5])),
        node(
          "\(reduction.rawValue) slices", ScatterND(reduction: reduction), .input([5, 3, 2]),
          .exactly(Tensor(TensorType(.int32, [3, 1]), rounding: [4, -2, 4])), .input([3, 3, 2]), scalar: .float16),
        node(
          "\(reduction.rawValue) int32", ScatterND(reduction: reduction), .exactly(steps(.int32, [4, 3])),
          .exactly(Tensor([Int64]([2, 1, 0, 0]), [2, 2])), .exactly(steps(.int32, [2], from: 1))),
      ]
    } + [
      node(
        "whole", ScatterND(reduction: .add), .input([3, 2]), .exactly(Tensor([Int64]([]), [4, 0])), .input([4, 3, 2])),
      node("no updates", ScatterND(), .input([3, 2]), .exactly(Tensor([Int64]([]), [0, 1])), .input([0, 2])),
      node(
        "outside", ScatterND(reduction: .add, skipsOutside: true), .input([3, 5, 2]),
        .exactly(Tensor([Int64]([0, 5, 3, 0, -1, -1, -4, 1, 2, .max, .min, 0, 1, 1]), [7, 2])), .input([7, 2])),
      node(
        "truth values", ScatterND(), .exactly(steps(.bool, [5, 3])), .exactly(indices([4, 1], 5)),
        .exactly(steps(.bool, [4, 3], from: 1))),
    ]
    + narrow.flatMap { scalar in
      ScatterReduction.allCases.map { reduction in
        node(
          "\(reduction.rawValue) \(scalar.rawValue)", ScatterND(reduction: reduction),
          .exactly(steps(scalar, [7, 3])), .exactly(indices([11, 1], 7)), .exactly(steps(scalar, [11, 3], from: 100)))
      }
    }

  private static let narrow: [ScalarType] = [.int8, .uint8, .int16, .uint16, .uint32]

  package static let nonMaximumSuppression: [ConformanceCase] =
    [false, true].flatMap { isPerClass in
      [
        node(
          "boxes" + (isPerClass ? " per class" : ""), NonMaximumSuppression(maximumBoxes: 11, isPerClass: isPerClass),
          .ranged([2, 37, 4], 0.5...2), .ranged([2, 37, 3], 0...1), .values([0.5], []), .values([0.55], [])),
        node(
          "fewer than asked for" + (isPerClass ? " per class" : ""),
          NonMaximumSuppression(maximumBoxes: 40, isPerClass: isPerClass), .ranged([1, 19, 4], 0.5...1.5),
          .ranged([1, 19, 1], 0...1), .values([0.25], []), .values([0.3], [])),
      ]
    } + [
      node(
        "equal scores", NonMaximumSuppression(maximumBoxes: 3),
        .exactly(Tensor([Float]([1, 1, 1, 1, 5, 5, 1, 1, 1, 1, 1, 1, 9, 9, 1, 1]), [1, 4, 4])),
        .exactly(Tensor([Float]([0.5, 0.75, 0.5, 0.75]), [1, 4, 1])), .values([0.5], []), .values([0], [])),
      node(
        "float16", NonMaximumSuppression(maximumBoxes: 5), .ranged([1, 13, 4], 0.5...2), .ranged([1, 13, 2], 0...1),
        .values([0.5], []), .values([0.5], []), scalar: .float16),
      node(
        "none", NonMaximumSuppression(maximumBoxes: 2), .input([1, 0, 4]), .input([1, 0, 3]), .values([0.5], []),
        .values([0.5], [])),
    ]

  /// Returns indices from -length to length - 1.
  private static func indices(_ shape: Shape, _ length: Int) -> Tensor {
    let values = (0..<shape.count).map { Double(($0 * 5 + 3) % (2 * length) - length) }
    return Tensor(TensorType(.int64, shape), rounding: values)
  }
}
