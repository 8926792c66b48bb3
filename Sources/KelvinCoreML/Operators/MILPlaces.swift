import KelvinGraph
import KelvinImport

/// The interpretation of indices in gathers and scatters. From iOS 17 on a negative index is out of range, like one
/// that is too large. With `validate_indices` such an index is an error of the prediction; otherwise the format leaves
/// its effect undefined.
extension MILOperation {
  private static let lookedThrough = 1 << 16

  /// Returns the indices of a scatter, and whether those out of range write nothing. Constant indices in range are
  /// unchanged.
  ///
  /// - Parameter sizes: The sizes of the axes that a tuple of indices addresses.
  func places(_ indices: ValueID, _ sizes: [Int], _ scope: MILScope) throws -> (indices: ValueID, skipsOutside: Bool) {
    guard scope.version >= 17, !sizes.isEmpty else { return (indices, false) }
    let emitter = scope.emitter
    if let weight = emitter.weight(indices), weight.type.count <= Self.lookedThrough {
      let values = weight.dense().integers
      if values.indices.allSatisfy({ (0..<sizes[$0 % sizes.count]).contains(values[$0]) }) { return (indices, false) }
    }
    return (try unsigned(indices, scope), try !flag("validate_indices", scope))
  }

  /// Returns the indices of a gather. If they are not validated, negative ones count from the end, as before iOS 17.
  func validated(_ indices: ValueID, _ sizes: [Int], _ scope: MILScope) throws -> ValueID {
    guard scope.version >= 17, try flag("validate_indices", scope) else { return indices }
    return try places(indices, sizes, scope).indices
  }

  /// Returns indices with negative ones replaced by an index beyond any axis.
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
