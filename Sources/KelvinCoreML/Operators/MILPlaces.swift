import KelvinGraph
import KelvinImport

/// What indices of gathers and scatters mean. From iOS 17 on negative ones lie outside like those that are too large: with
/// `validate_indices` such an index is an error of the prediction; without, the format leaves open what it does.
extension MILOperation {
  private static let lookedThrough = 1 << 16

  /// The indices of a scatter, and whether those outside write nothing. What is constant and inside stays as it is.
  ///
  /// - Parameter sizes: of the axes that a tuple of indices names.
  func places(_ indices: ValueID, _ sizes: [Int], _ scope: MILScope) throws -> (indices: ValueID, skipsOutside: Bool) {
    guard scope.version >= 17, !sizes.isEmpty else { return (indices, false) }
    let emitter = scope.emitter
    if let weight = emitter.weight(indices), weight.type.count <= Self.lookedThrough {
      let values = weight.dense().integers
      if values.indices.allSatisfy({ (0..<sizes[$0 % sizes.count]).contains(values[$0]) }) { return (indices, false) }
    }
    return (try unsigned(indices, scope), try !flag("validate_indices", scope))
  }

  /// The indices of a gather: where they are not validated, negative ones count from the end, as before.
  func validated(_ indices: ValueID, _ sizes: [Int], _ scope: MILScope) throws -> ValueID {
    guard scope.version >= 17, try flag("validate_indices", scope) else { return indices }
    return try places(indices, sizes, scope).indices
  }

  /// Indices of which negative ones are beyond any axis.
  private func unsigned(_ indices: ValueID, _ scope: MILScope) throws -> ValueID {
    let emitter = scope.emitter
    switch emitter.scalar(indices) {
    case .uint8, .uint16, .uint32, .uint64: return indices
    default: break
    }
    let wide = try emitter.cast(indices, to: .int32, step: "wide_indices")
    let isNegative = try emitter.add(
      Compare(.less), wide, emitter.constant(0, .int32, step: "zero"), step: "is_outside")
    return try emitter.add(
      Select(), isNegative, emitter.constant(Double(Int32.max), .int32, step: "outside"), wide, step: "places")
  }
}
