/// A model could not be measured.
package enum ProfilerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No device that was asked for gave a number; each failure, or why there was none, in words.
  case nothingMeasured(String)

  package var description: String {
    switch self {
    case .nothingMeasured(let reason): reason
    }
  }
}
