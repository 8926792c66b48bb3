internal import KelvinGraph

/// An operator whose kernels loop over elements in one invocation. A driver that ends loops early would give a wrong
/// result (`GPUTarget.iterationLimit`). A new operator of this kind must be added here, or its plan must count the
/// iterations that depend on the device (`AttentionPlan`).
private protocol LoopingOperator: Operator {
  /// The largest number of iterations of all loops in one invocation, for any of the kernels.
  func iterations(_ inputs: [TensorType]) -> Int
}

extension KernelContext {
  /// The limit that a kernel's loops exceed, as a phrase; nil if they are within it.
  var iterationLimitViolation: String? {
    (node.op as? any LoopingOperator).flatMap { fault(ofIterations: $0.iterations(inputs)) }
  }

  /// Returns the limit that this many iterations exceed, for plans that count their loops themselves.
  func fault(ofIterations count: Int) -> String? {
    guard count > target.iterationLimit else { return nil }
    return
      "\(count) iterations of a kernel's loops are more than the \(target.iterationLimit) after which the driver ends them"
  }
}

extension Reduce: LoopingOperator {
  /// The logarithm of a sum of exponentials finds the largest element first.
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
  /// The loops find the largest, the sum and the shares, and clear the lanes of a block without a channel.
  func iterations(_ inputs: [TensorType]) -> Int { 3 * inputs[0].shape[axis] + 16 }
}

extension LayerNormalization: LoopingOperator {
  /// The loops compute the mean, the variance and the results, by a group of 16 invocations or more.
  func iterations(_ inputs: [TensorType]) -> Int { 3 * (length(inputs) / 16 + 1) + 16 }
}

extension Pool: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int { window.iterations }
}

/// The largest number of results that an invocation of a product keeps and finishes one by one, after its loops over
/// taps and channels (`Shaders/lanes.glsl`, `LOOPED`).
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
  /// A product counts as a convolution of one tap.
  func iterations(_ inputs: [TensorType]) -> Int { inputs[1].shape[1] / 4 + 3 + finished }
}

extension MatMul: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int { depth(inputs) / 4 + 1 }
}

extension MatMulInteger: LoopingOperator {
  func iterations(_ inputs: [TensorType]) -> Int { depth(inputs) }
}

extension Window {
  /// The iterations of nested loops over the window's axes.
  fileprivate var iterations: Int {
    kernel.reduce((all: 0, inner: 1)) { ($0.all + $0.inner * $1, $0.inner * $1) }.all
  }

  /// The iterations of the same loops with a loop over channels outside or inside.
  fileprivate func iterations(of channels: Int) -> Int { channels * (1 + iterations) + iterations }
}
