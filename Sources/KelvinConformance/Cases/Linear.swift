import KelvinGraph

extension ConformanceCase {
  package static let linear: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        node("vector", Linear(epilogue: .bias), .input([1, 41]), .weight([10, 41]), .weight([10]), scalar: scalar),
        node(
          "large vector", Linear(epilogue: .bias), .input([1, 1280]), .weight([113, 1280]), .weight([113]),
          scalar: scalar),
        node(
          "few long rows",
          Linear(epilogue: Epilogue(hasBias: true, addsResidual: true, activation: UnaryFunction(.gelu))),
          .input([6, 519]), .weight([21, 519]), .weight([21]), .input([6, 21]), scalar: scalar),
        node("rows", Linear(), .input([3, 5, 17]), .weight([19, 17]), scalar: scalar),
        node(
          "relu", Linear(epilogue: Epilogue(hasBias: true, activation: .relu)), .input([7, 33]), .weight([31, 33]),
          .weight([31]), scalar: scalar),
        node(
          "tiles", Linear(epilogue: Epilogue(hasBias: true, addsResidual: true, activation: .relu)),
          .input([3, 23, 48]),
          .weight([20, 48]), .weight([20]), .input([3, 23, 20]), scalar: scalar),
        node("few rows of a tile", Linear(), .input([9, 12]), .weight([36, 12]), scalar: scalar),
        node(
          "residual", Linear(epilogue: Epilogue(addsResidual: true)), .input([2, 8]), .weight([5, 8]), .input([2, 5]),
          scalar: scalar),
      ]
    } + [
      node(
        "computed weights", Linear(epilogue: Epilogue(hasBias: true, activation: .relu)), .input([11, 21]),
        .input([53, 21]), .weight([53]))
    ]

  package static let matmul: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        node("square", MatMul(), .input([17, 13]), .input([13, 19]), scalar: scalar),
        node("constant right", MatMul(), .input([1, 256]), .weight([256, 10]), scalar: scalar),
        node("batched", MatMul(), .input([3, 2, 5, 7]), .input([3, 2, 7, 4]), scalar: scalar),
        node("broadcast", MatMul(), .input([3, 1, 5, 7]), .input([2, 7, 4]), scalar: scalar),
        node(
          "transposed", MatMul(transposesX: true, transposesY: true), .input([2, 7, 5]), .input([2, 3, 7]),
          scalar: scalar),
        node("transposed right", MatMul(transposesY: true), .input([11, 33]), .input([29, 33]), scalar: scalar),
        node("whole vectors", MatMul(), .input([2, 1, 68, 12]), .input([3, 12, 36]), scalar: scalar),
        node(
          "whole vectors transposed", MatMul(transposesX: true, transposesY: true), .input([2, 10, 20]),
          .input([2, 44, 10]), scalar: scalar),
        node(
          "whole vectors, right transposed", MatMul(transposesY: true), .input([12, 76]), .input([33, 76]),
          scalar: scalar),
        node("left transposed", MatMul(transposesX: true), .input([11, 71]), .input([11, 131]), scalar: scalar),
        node("long sums", MatMul(), .input([9, 277]), .input([277, 35]), scalar: scalar),
        node("long sums transposed", MatMul(transposesY: true), .input([70, 259]), .input([37, 259]), scalar: scalar),
        node("one row", MatMul(transposesY: true), .input([3, 1, 24]), .input([3, 300, 24]), scalar: scalar),
      ]
    }
}
