// Written by dev/generate-elementwise.py from dev/elementwise. Do not edit.
internal import KelvinGraph

extension UnaryFunction {
  /// Whether convolutions apply the function themselves: `activate` in `Generated/functions.cl`.
  var isFusedByKernels: Bool {
    switch kind {
    case .relu, .clip, .leakyRelu, .sigmoid, .hardSigmoid, .hardSwish, .silu: true
    default: false
    }
  }
}
