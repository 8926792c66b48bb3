import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// The epilogue of a product, with the indices of its inputs.
struct CPUEpilogue {
  private let activation: UnaryFunction?
  private let map: ck_map?
  let biasInput: Int?
  private let residualInput: Int?

  /// - Parameter first: the index of the epilogue's first input.
  init(_ epilogue: Epilogue, from first: Int, _ variant: CPUVariant) {
    activation = epilogue.activation
    switch activation?.kind {
    case nil, .relu, .clip: map = nil
    default: map = activation.flatMap(variant.map)
    }
    biasInput = epilogue.hasBias ? first : nil
    residualInput = epilogue.addsResidual ? first + (epilogue.hasBias ? 1 : 0) : nil
  }

  func arguments(_ operands: CPUOperands, biasAlongRows: Bool) -> ck_epilogue {
    let bias = biasInput.flatMap(operands.floats)
    var epilogue = ck_epilogue()
    epilogue.row_bias = biasAlongRows ? bias : nil
    epilogue.column_bias = biasAlongRows ? nil : bias
    epilogue.residual = residualInput.flatMap(operands.floats)
    epilogue.lower = -.infinity
    epilogue.upper = .infinity
    switch activation?.kind {
    case .relu: epilogue.lower = 0
    case .clip: (epilogue.lower, epilogue.upper) = (activation?.a ?? 0, activation?.b ?? 0)
    default:
      epilogue.map = map
      epilogue.map_a = activation?.a ?? 0
      epilogue.map_b = activation?.b ?? 0
    }
    return epilogue
  }
}
