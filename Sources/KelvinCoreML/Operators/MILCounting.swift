import KelvinGraph
import KelvinImport

extension MILMapper {
  /// The places of what is not zero, a row for each.
  static let nonZero = MILMapper("non_zero", hasDataDependentShape: true) { operation, scope in
    try scope.emitter.nonZero(try operation.value("x", scope))
  }
}
