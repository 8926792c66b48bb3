import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Returns the positions of nonzero elements, one per row.
  static let nonZero = MILMapper("non_zero", hasDataDependentShape: true) { operation, scope in
    try scope.emitter.nonZero(try operation.value("x", scope))
  }
}
