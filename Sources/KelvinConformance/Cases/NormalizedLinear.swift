import KelvinGraph

extension ConformanceCase {
  package static let normalizedLinear: [ConformanceCase] = [ScalarType.float32, .float16].flatMap { scalar in
    [
      node(
        "of a row",
        NormalizedLinear(epsilon: 1e-5, parameters: 2, epilogue: .bias), .ranged([1, 1, 136], 1...3),
        .weight([37, 136]), .weight([136]), .weight([136]), .weight([37]), scalar: scalar),
      node(
        "of three rows with a residual",
        NormalizedLinear(
          epsilon: 1e-3, parameters: 1,
          epilogue: Epilogue(hasBias: true, addsResidual: true, activation: UnaryFunction(.gelu))), .input([3, 24]),
        .weight([5, 24]), .weight([24]), .weight([5]), .input([3, 5]), scalar: scalar),
      node(
        "by the mean square",
        NormalizedLinear(epsilon: 1e-6, isCentered: false, parameters: 1), .input([2, 32]), .weight([70, 32]),
        .weight([32]), scalar: scalar),
      // Local memory does not hold the row.
      node(
        "of a long row", NormalizedLinear(epsilon: 1e-5, parameters: 1), .input([1, 4100]), .weight([5, 4100]),
        .weight([4100]), scalar: scalar),
      node(
        "of short vectors", NormalizedLinear(epsilon: 1e-5, parameters: 0, epilogue: .bias), .input([1, 7]),
        .weight([4, 7]), .weight([4]), scalar: scalar),
    ]
  }
}
