import KelvinGraph

extension ConformanceCase {
  package static let resize: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        sampled("linear half pixels up", [1, 3, 5, 7], [10, 21], .halfPixels, .linear, scalar: scalar),
        sampled("linear half pixels down", [2, 3, 13, 17], [5, 7], .halfPixels, .linear, scalar: scalar),
        sampled("linear by two", [1, 5, 19, 37], [38, 74], .halfPixels, .linear, scalar: scalar),
        sampled("linear aligned corners", [1, 2, 7, 5], [11, 13], .alignedCorners, .linear, scalar: scalar),
        sampled("linear asymmetric", [1, 2, 3, 3], [7, 5], .asymmetric, .linear, scalar: scalar),
        sampled("linear from one pixel", [1, 2, 1, 1], [3, 5], .halfPixels, .linear, scalar: scalar),
        sampled("linear to one pixel", [1, 2, 6, 7], [1, 1], .halfPixels, .linear, scalar: scalar),
        sampled("linear wide", [1, 2, 3, 131], [6, 200], .halfPixels, .linear, scalar: scalar),
        sampled("nearest floor by two", [1, 3, 5, 7], [10, 14], .asymmetric, .nearest(.floor), scalar: scalar),
        sampled("nearest half down", [2, 3, 5, 7], [11, 13], .halfPixels, .nearest(.halfDown), scalar: scalar),
        sampled("nearest half up", [1, 3, 5, 7], [8, 3], .halfPixels, .nearest(.halfUp), scalar: scalar),
        sampled("nearest ceil", [1, 3, 5, 7], [3, 17], .asymmetric, .nearest(.ceil), scalar: scalar),
        node(
          "linear rows only",
          Resize(axes: [ResizeAxis(axis: 1, size: 9, scale: 0.5, offset: 0.25)], interpolation: .linear),
          .input([3, 5, 17]), scalar: scalar),
        node(
          "linear over three axes",
          Resize(
            axes: [(2, 7), (3, 5), (4, 9)].map { ResizeAxis(axis: $0, size: $1, scale: 0.6, offset: -0.2) },
            interpolation: .linear),
          .input([1, 2, 4, 3, 5]), scalar: scalar),
      ]
    } + [
      node(
        "nearest integers",
        Resize(axes: [ResizeAxis(axis: 1, size: 7, scale: 0.5, offset: 0)], interpolation: .nearest(.floor)),
        .exactly(Tensor(TensorType(.int32, [2, 4]), rounding: [3, -1, 4, 1, -5, 9, 2, 6])))
    ]

  private enum Convention { case halfPixels, alignedCorners, asymmetric }

  /// Resizes the last two of four axes.
  private static func sampled(
    _ name: String, _ input: Shape, _ sizes: [Int], _ convention: Convention, _ interpolation: Resize.Interpolation,
    scalar: ScalarType
  ) -> ConformanceCase {
    let axes = [2, 3].map { axis in
      let (from, to) = (Double(input[axis]), Double(sizes[axis - 2]))
      return switch convention {
      case .halfPixels: ResizeAxis(axis: axis, size: sizes[axis - 2], scale: from / to, offset: from / to / 2 - 0.5)
      case .alignedCorners: ResizeAxis(axis: axis, size: sizes[axis - 2], scale: (from - 1) / (to - 1), offset: 0)
      case .asymmetric: ResizeAxis(axis: axis, size: sizes[axis - 2], scale: from / to, offset: 0)
      }
    }
    return node(name, Resize(axes: axes, interpolation: interpolation), .input(input), scalar: scalar)
  }

  package static let convolutionTranspose: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        spread("2x2 stride 2", [1, 7, 5, 9], filters: 3, Window(kernel: [2, 2], strides: [2, 2]), scalar: scalar),
        spread(
          "4x4 stride 2", [2, 5, 7, 6], filters: 11, Window(kernel: [4, 4], strides: [2, 2], before: [1, 1]),
          scalar: scalar),
        spread("3x3", [1, 13, 11, 7], filters: 6, Window(kernel: [3, 3], before: [1, 1]), scalar: scalar),
        spread(
          "3x3 stride 2 output padding", [1, 4, 5, 6], filters: 8,
          Window(kernel: [3, 3], strides: [2, 2], before: [1, 1]), outputPadding: [1, 1], scalar: scalar),
        spread(
          "grouped", [1, 6, 4, 5], filters: 9,
          Window(kernel: [3, 2], strides: [2, 3], before: [1, 0], after: [0, 1]),
          groups: 3, scalar: scalar),
        spread(
          "depthwise", [1, 5, 6, 7], filters: 5, Window(kernel: [4, 4], strides: [2, 2], before: [1, 1]), groups: 5,
          scalar: scalar),
        spread(
          "dilated", [1, 3, 5, 4], filters: 2, Window(kernel: [3, 3], dilations: [2, 3], before: [2, 1]),
          scalar: scalar),
        spread(
          "wider strides than kernel", [1, 3, 4, 3], filters: 2, Window(kernel: [1, 2], strides: [3, 4]),
          outputPadding: [2, 1], scalar: scalar),
        spread(
          "kernel narrower than strides", [2, 6, 3, 5], filters: 10,
          Window(kernel: [2, 3], strides: [3, 4], before: [1, 2], after: [0, 1]), outputPadding: [2, 0], scalar: scalar),
        spread(
          "8x8 stride 4", [1, 7, 4, 9], filters: 21, Window(kernel: [8, 8], strides: [4, 4], before: [2, 5]),
          scalar: scalar),
        spread(
          "dilated and strided", [1, 5, 4, 5], filters: 6,
          Window(kernel: [2, 3], strides: [2, 1], dilations: [1, 2], before: [0, 3]), scalar: scalar),
        spread(
          "dilated strides", [1, 5, 4, 5], filters: 6, Window(kernel: [3, 3], strides: [2, 2], dilations: [2, 3]),
          scalar: scalar),
        spread(
          "many positions", [1, 9, 29, 31], filters: 20, Window(kernel: [3, 3], strides: [2, 2], before: [1, 1]),
          scalar: scalar),
        spread("1x1", [1, 17, 3, 5], filters: 5, Window(kernel: [1, 1]), scalar: scalar),
        spread("on one pixel", [1, 31, 1, 1], filters: 7, Window(kernel: [4, 4]), scalar: scalar),
        spread(
          "1-d", [2, 5, 17], filters: 3, Window(kernel: [5], strides: [3], before: [2]), outputPadding: [1],
          scalar: scalar),
        spread(
          "three axes", [2, 4, 3, 4, 5], filters: 6,
          Window(kernel: [2, 3, 3], strides: [2, 1, 2], before: [0, 1, 1]), outputPadding: [1, 0, 1], groups: 2,
          scalar: scalar),
      ]
    }

  private static func spread(
    _ name: String, _ input: Shape, filters: Int, _ window: Window, outputPadding: [Int]? = nil, groups: Int = 1,
    scalar: ScalarType
  ) -> ConformanceCase {
    node(
      name, ConvolutionTranspose(window: window, outputPadding: outputPadding, groups: groups), .input(input),
      .weight(Shape([input[1], filters / groups] + window.kernel)), scalar: scalar)
  }
}
