/// The operations that a fused convolution or matrix product applies to each result before it is stored:
/// `activation(product + bias + residual)`.
///
/// The extra inputs follow the operator's own, in the order bias, residual. A node with a residual or an activation
/// also has its unfused body, for devices without the fused kernel.
package struct Epilogue: Hashable, Sendable {
  /// Whether a vector with one element for each output channel (or column) is added.
  package var hasBias: Bool
  /// Whether a tensor of the output's type is added.
  package var addsResidual: Bool
  package var activation: UnaryFunction?

  package init(hasBias: Bool = false, addsResidual: Bool = false, activation: UnaryFunction? = nil) {
    self.hasBias = hasBias
    self.addsResidual = addsResidual
    self.activation = activation
  }

  package static let bias = Epilogue(hasBias: true)

  /// Whether a residual or an activation follows the product.
  package var isFused: Bool { addsResidual || activation != nil }
  package var inputCount: Int { (hasBias ? 1 : 0) + (addsResidual ? 1 : 0) }

  /// Checks the extra inputs against the output that they are added to.
  func check(_ extra: ArraySlice<TensorType>, channels: Int, output: TensorType) throws(OperatorError) {
    var extra = extra
    guard activation?.kind != .logicalNot else { throw OperatorError("logical_not is not an activation of numbers") }
    if hasBias {
      let bias = extra.removeFirst()
      guard bias == TensorType(output.scalar, [channels]) else {
        throw OperatorError("bias: expected \(TensorType(output.scalar, [channels])), got \(bias)")
      }
    }
    if addsResidual {
      let residual = extra.removeFirst()
      guard residual == output else { throw OperatorError("residual: expected \(output), got \(residual)") }
    }
  }

  func operations(count: Int) -> Double {
    Double(count) * (Double(inputCount) + (activation?.operations ?? 0))
  }

  static let inputs: [OperatorSummary.Entry] = [
    ("bias", "only if `bias`: `[M]`, the output's element type"), ("residual", "only if `residual`: the output's type"),
  ]

  static let schema = AttributeSchema(
    Epilogue(), .optional("bias", \.hasBias, "whether a bias is added"),
    .optional("residual", \.addsResidual, "whether a residual is added"),
    .optional("activation", \.activation, "the function of the sum"))
}
