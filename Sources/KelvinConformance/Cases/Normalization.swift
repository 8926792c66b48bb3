import KelvinGraph

extension ConformanceCase {
  package static let layerNormalization: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        node(
          "rows", LayerNormalization(axis: 2, epsilon: 1e-5), .input([2, 7, 37]), .weight([37]), .weight([37]),
          scalar: scalar),
        node(
          "long rows", LayerNormalization(axis: 1, epsilon: 1e-12), .input([3, 769]), .weight([769]), .weight([769]),
          scalar: scalar),
        node("without scale", LayerNormalization(axis: 1, epsilon: 1e-3), .input([5, 13]), scalar: scalar),
        node(
          "many rows", LayerNormalization(axis: 2, epsilon: 1e-5), .input([3, 7, 36]), .weight([36]), .weight([36]),
          scalar: scalar),
        node("many rows without scale", LayerNormalization(axis: 1, epsilon: 1e-3), .input([9, 768]), scalar: scalar),
        node(
          "without shift", LayerNormalization(axis: 1, epsilon: 1e-5), .input([5, 19]), .input([19]), scalar: scalar),
        node(
          "two axes", LayerNormalization(axis: 1, epsilon: 1e-5), .ranged([3, 5, 7], 0.5...3), .weight([5, 7]),
          .weight([5, 7]), scalar: scalar),
        node(
          "one element", LayerNormalization(axis: 1, epsilon: 1e-5), .input([3, 1]), .weight([1]), .weight([1]),
          scalar: scalar),
        node(
          "by the mean square", LayerNormalization(axis: 2, epsilon: 1e-5, isCentered: false), .input([2, 7, 37]),
          .weight([37]), scalar: scalar),
        node(
          "by the mean square of long rows", LayerNormalization(axis: 1, epsilon: 1e-6, isCentered: false),
          .input([3, 769]), scalar: scalar),
        node(
          "by the mean square, shifted", LayerNormalization(axis: 1, epsilon: 1e-5, isCentered: false),
          .ranged([3, 5, 7], 0.5...3), .weight([5, 7]), .weight([5, 7]), scalar: scalar),
      ]
    } + [
      node("a large mean of many rows", LayerNormalization(axis: 1, epsilon: 1e-5), .ranged([17, 256], 7.5...8.5)),
      node("a large mean", LayerNormalization(axis: 1, epsilon: 1e-5), .ranged([3, 257], 7.5...8.5)),
      node(
        "a large mean of many elements", LayerNormalization(axis: 1, epsilon: 1e-5), .ranged([2, 5001], 7.5...8.5),
        .weight([5001]), .weight([5001])),
      node(
        "many elements", LayerNormalization(axis: 1, epsilon: 1e-5), .input([1, 2500]), .weight([2500]),
        scalar: .float16),
    ]

  package static let localResponseNormalization: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        node(
          "five channels", LocalResponseNormalization(size: 5, alpha: 1e-2, beta: 0.75, k: 1), .input([2, 11, 5, 7]),
          scalar: scalar),
        node(
          "an even size", LocalResponseNormalization(size: 4, alpha: 0.5, beta: 0.5, k: 2), .input([1, 7, 3, 19]),
          scalar: scalar),
        node(
          "more than there are", LocalResponseNormalization(size: 9, alpha: 1, beta: 1, k: 0.5), .input([1, 3, 17]),
          scalar: scalar),
      ]
    }
}
