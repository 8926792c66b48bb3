internal import KelvinGraph

/// An operator of which one invocation of a kernel loops over elements: a driver that ends loops early would give an answer,
/// and a wrong one (`GPUTarget.iterationLimit`). Whoever adds such an operator adds it here, or counts in its plan
/// (`AttentionPlan`) what depends on the device.
private protocol LoopingOperator: Operator {
  /// The iterations of all its loops in one invocation, at most, whichever kernel is taken.
  func iterations(_ inputs: [TensorType]) -> Int
}

extension KernelContext {
  /// The limit that a kernel's loops are above.
  var loopFault: String? {
    (node.op as? any LoopingOperator).flatMap { fault(ofIterations: $0.iterations(inputs)) }
  }

  /// The same where the plan of a kernel counts its loops, by what the device makes of them.
  func fault(ofIterations count: Int) -> String? {
    guard count > target.iterationLimit else { return nil }
    return
      "\(count) iterations of a kernel's loops are more than the \(target.iterationLimit) after which the driver ends them"
  }
}

extension Reduce: LoopingOperator {
  /// The logarithm of a sum of exponentials looks for the largest first.
  func iterations(_ inputs: [TensorType]) -> Int { length(inputs) * (function == .logSumExp ? 2 : 1) }
}

extension ArgReduce: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int { inputs[0].shape[axis] }
}

extension CumulativeReduce: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int { inputs[0].shape[axis] }
}

extension TopK: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int { inputs[0].shape[axis] }
}

extension ScatterElements: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int { inputs[1].shape[axis] }
}

extension ScatterND: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int {
    let indices = inputs[1].shape
    return indices.dimensions.dropLast().reduce(1 + indices[indices.rank - 1], *)
  }
}

extension Softmax: LoopingOperator {
  /// The largest, the sum, the shares, and lanes of a block that hold none.
  func iterations(_ inputs: [TensorType]) -> Int { 3 * inputs[0].shape[axis] + 16 }
}

extension LayerNormalization: LoopingOperator {
  /// The mean, the variance, the results, by a group of 16 invocations or more.
  func iterations(_ inputs: [TensorType]) -> Int { 3 * (length(inputs) / 16 + 1) + 16 }
}

extension Pool: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int { window.iterations }
}

/// Results that an invocation of a product keeps and finishes one by one, at most, behind its loops over taps and channels
/// (`Shaders/lanes.glsl`, `LOOPED`).
private let finished = 64

extension Convolution: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int { window.iterations(of: inputs[1].shape[1]) + finished }
}

extension ConvolutionInteger: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int { window.iterations(of: inputs[1].shape[1]) }
}

extension ConvolutionTranspose: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int { window.iterations(of: inputs[0].shape[1] / groups) + finished }
}

extension Linear: LoopingOperator {
  /// A convolution's, of one tap.
  func iterations(_ inputs: [TensorType]) -> Int { inputs[1].shape[1] / 4 + 3 + finished }
}

extension MatMul: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int { depth(inputs) / 4 + 1 }
}

extension MatMulInteger: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int { depth(inputs) }
}

extension Window {
  /// Of loops over its axes, one in the other.
  fileprivate var iterations: Int {
    kernel.reduce((all: 0, inner: 1)) { ($0.all + $0.inner * $1, $0.inner * $1) }.all
  }

  /// The same with channels around them or inside.
  fileprivate func iterations(of channels: Int) -> Int { channels * (1 + iterations) + iterations }
}
