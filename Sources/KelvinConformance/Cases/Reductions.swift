import KelvinGraph

extension ConformanceCase {
  package static let pool: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [Pool.Function.maximum, .average, .averageIncludingPadding].flatMap { function in
        [
          node(
            "\(function.rawValue) 2x2", Pool(function, window: Window(kernel: [2, 2], strides: [2, 2])),
            .input([1, 5, 8, 10]), scalar: scalar),
          node(
            "\(function.rawValue) 3x3 padded",
            Pool(function, window: Window(kernel: [3, 3], strides: [2, 2], before: [1, 1])),
            .input([2, 3, 13, 11]), scalar: scalar),
          node(
            "\(function.rawValue) rounding up",
            Pool(
              function,
              window: Window(kernel: [3, 2], strides: [2, 2], before: [0, 1], after: [1, 0], roundsUp: true)),
            .input([1, 3, 10, 9]), scalar: scalar),
          // Windows whose taps are joined by halves, of numbers of taps with and without all bits.
          node(
            "\(function.rawValue) long", Pool(function, window: Window(kernel: [9, 15], before: [4, 7])),
            .input([1, 2, 21, 37]), scalar: scalar),
          node(
            "\(function.rawValue) long with steps",
            Pool(
              function,
              window: Window(kernel: [16, 12], strides: [3, 2], dilations: [1, 2], before: [9, 0], after: [2, 5])
            ),
            .input([2, 1, 23, 41]), scalar: scalar),
          node(
            "\(function.rawValue) long over three axes",
            Pool(function, window: Window(kernel: [10, 1, 3], strides: [1, 2, 3], before: [3, 0, 1])),
            .input([1, 2, 13, 5, 11]), scalar: scalar),
          node(
            "\(function.rawValue) of each slice",
            Pool(function, window: Window(kernel: [1, 3, 2], strides: [1, 1, 2])),
            .input([1, 3, 4, 5, 6]), scalar: scalar),
          node(
            "\(function.rawValue) whole plane", Pool(function, window: Window(kernel: [7, 7])), .input([1, 19, 7, 7]),
            scalar: scalar),
        ]
      }
    } + [
      node(
        "maximum over three axes",
        Pool(.maximum, window: Window(kernel: [2, 3, 3], strides: [2, 1, 2], before: [1, 1, 0])),
        .input([2, 3, 5, 6, 7])),
      node(
        "average over three axes", Pool(.average, window: Window(kernel: [3, 2, 3], before: [1, 0, 1])),
        .input([1, 5, 4, 5, 6])),
      node(
        "average over three axes with padding",
        Pool(
          .averageIncludingPadding,
          window: Window(kernel: [3, 3, 2], strides: [2, 2, 2], before: [1, 1, 0], after: [1, 0, 1], roundsUp: true)),
        .input([1, 5, 6, 7, 5])),
      node(
        "maximum dilated", Pool(.maximum, window: Window(kernel: [3, 3], dilations: [2, 2])), .input([1, 2, 9, 9])),
      node("average of a constant", Pool(.average, window: Window(kernel: [3, 3])), .weight([1, 21, 6, 5])),
    ]

  package static let reduce: [ConformanceCase] =
    Reduce.Function.allCases.flatMap { function in
      [
        node(
          "\(function.rawValue) planes", Reduce(function, axes: [2, 3], keepsDimensions: true),
          .ranged([1, 5, 7, 7], 0.1...2)),
        node(
          "\(function.rawValue) middle", Reduce(function, axes: [1], keepsDimensions: false),
          .ranged([3, 11, 5], 0.1...2)),
        node(
          "\(function.rawValue) all", Reduce(function, axes: [0, 1], keepsDimensions: false),
          .ranged([3, 37], 0.1...1.5)),
        node(
          "\(function.rawValue) outer and inner", Reduce(function, axes: [0, 2], keepsDimensions: true),
          .ranged([3, 4, 5], 0.1...2)),
        // Rows that GPU workgroups share, some in several parts.
        node(
          "\(function.rawValue) of long rows", Reduce(function, axes: [1], keepsDimensions: false),
          .ranged([2, 2501], 0.98...1.02)),
        node(
          "\(function.rawValue) of long columns", Reduce(function, axes: [1, 2], keepsDimensions: true),
          .ranged([1, 50, 18, 21], 0.98...1.02)),
        node(
          "\(function.rawValue) of large planes", Reduce(function, axes: [2, 3], keepsDimensions: false),
          .ranged([2, 5, 32, 51], 0.98...1.02)),
      ]
    } + [
      node("sum of long rows", Reduce(.sum, axes: [1], keepsDimensions: true), .input([3, 2111]), scalar: .float16),
      node(
        "mean of large planes", Reduce(.mean, axes: [2, 3], keepsDimensions: true), .input([1, 6, 41, 40]),
        scalar: .float16),
      node(
        "mean planes", Reduce(.mean, axes: [2, 3], keepsDimensions: false), .input([1, 1280, 7, 7]), scalar: .float16),
      node("mean of a long row", Reduce(.mean, axes: [1], keepsDimensions: true), .input([2, 5003])),
    ]

  package static let argReduce: [ConformanceCase] =
    [
      node("maximum", ArgReduce(.maximum, axis: 1, keepsDimensions: false), .input([3, 7, 5])),
      node("maximum of long rows", ArgReduce(.maximum, axis: 1, keepsDimensions: false), .input([5, 203])),
      node(
        "first of equals in long rows", ArgReduce(.minimum, axis: 1, keepsDimensions: false),
        .exactly(Tensor((0..<406).map { Float(-($0 % 29)) }, [2, 203]))),
      node(
        "last of equals in long rows", ArgReduce(.maximum, axis: 1, keepsDimensions: false, takesLast: true),
        .exactly(Tensor((0..<406).map { $0 % 83 == 7 ? Float.nan : Float($0 % 29) }, [2, 203]))),
      node("minimum", ArgReduce(.minimum, axis: 2, keepsDimensions: true), .input([2, 3, 11])),
    ]
    + [ArgReduce.Function.maximum, .minimum].flatMap { function in
      [false, true].flatMap { takesLast in
        positions(function, takesLast, scalar: .float32) + positions(function, takesLast, scalar: .float16)
      }
    }

  private static func positions(
    _ function: ArgReduce.Function, _ takesLast: Bool, scalar: ScalarType
  ) -> [ConformanceCase] {
    func along(_ name: String, _ x: Tensor) -> ConformanceCase {
      node(
        "\(function.rawValue) \(name)\(takesLast ? " last" : "")",
        ArgReduce(function, axis: 1, keepsDimensions: false, takesLast: takesLast),
        .exactly(x.converted(to: scalar)), scalar: scalar)
    }
    return [
      along("not a number", unordered),
      // Rows that GPU workgroups share, some in several parts.
      along("of long rows", repeated([2, 5003])),
      along("of long columns", repeated([1, 901, 21])),
    ]
  }

  /// Returns few different numbers, each many times.
  private static func repeated(_ shape: Shape) -> Tensor {
    let numbers = (0..<shape.count).map { (index: Int) -> Float in Float(index * 7919 % 101) }
    return Tensor(numbers, shape)
  }

  private static let unordered = Tensor(
    [Float]([1, .nan, 3, .nan, .nan, 2, 1, 0, .infinity, 1, -.infinity, .nan, 1, 3, 3, 1]), [4, 4, 1])

  package static let softmax: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        node("rows", Softmax(axis: 1), .ranged([3, 1000], -20...20), scalar: scalar),
        node("channels", Softmax(axis: 1), .ranged([2, 5, 7, 3], -9...9), scalar: scalar),
        node("single", Softmax(axis: 0), .input([1]), scalar: scalar),
        node("long rows", Softmax(axis: 1), .ranged([2, 5003], -20...20), scalar: scalar),
        node("long columns", Softmax(axis: 1), .ranged([1, 901, 21], -9...9), scalar: scalar),
      ]
    }
}
