import FoundationEssentials

/// ONNX files of any batch size: `x` float32 [n, 192] to `y` float32 [n, 10].
package enum BatchNetwork: String, CaseIterable, Sendable {
  /// Each row of `x` by itself, through two products whose weights are larger than a row's work.
  case rows
  /// The same, after a division by the mean absolute value of all of `x`.
  case scaled

  /// Returns the file's content.
  package func model() -> [UInt8] {
    let first = self == .rows ? "x" : "d"
    var nodes = [
      FlexibleNetwork.node("Gemm", [first, "w1"], "h"), FlexibleNetwork.node("Relu", ["h"], "r"),
      FlexibleNetwork.node("Gemm", ["r", "w2"], "y"),
    ]
    if self == .scaled {
      nodes =
        [
          FlexibleNetwork.node("Abs", ["x"], "a"), FlexibleNetwork.node("ReduceMean", ["a"], "m"),
          FlexibleNetwork.node("Div", ["x", "m"], "d"),
        ] + nodes
    }
    var graph = nodes.flatMap { FlexibleNetwork.field(1, $0) } + FlexibleNetwork.field(2, rawValue)
    graph += FlexibleNetwork.weight("w1", [192, 2048], 0.1) + FlexibleNetwork.weight("w2", [2048, 10], 0.1)
    let rows = FlexibleNetwork.field(2, "n")
    graph += FlexibleNetwork.field(11, FlexibleNetwork.value("x", [rows, FlexibleNetwork.field(1, 192)]))
    graph += FlexibleNetwork.field(12, FlexibleNetwork.value("y", [rows, FlexibleNetwork.field(1, 10)]))
    return FlexibleNetwork.field(1, 8) + FlexibleNetwork.field(7, graph)
      + FlexibleNetwork.field(8, FlexibleNetwork.field(1, "") + FlexibleNetwork.field(2, 17))
  }
}
