/// An error for a model that could not be measured.
package enum ProfilerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No requested device could be measured. The value describes the failures.
  case nothingMeasured(String)

  package var description: String {
    switch self {
    case .nothingMeasured(let reason): reason
    }
  }
}
