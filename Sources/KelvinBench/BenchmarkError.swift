/// An error of a benchmark or of an advice.
package enum BenchmarkError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A workload file or option with an invalid value.
  case invalidWorkload(document: String, reason: String)
  /// A benchmark request that cannot be run.
  case invalidRequest(String)
  /// A child process that did not start or did not answer.
  case startFailed(String)

  /// A journal that cannot be read.
  case invalidJournal(String)

  package var description: String {
    switch self {
    case .invalidWorkload(let document, let reason): "workload \(document): \(reason)"
    case .invalidRequest(let reason): reason
    case .startFailed(let reason): "a fresh process: \(reason)"
    case .invalidJournal(let reason): "journal: \(reason)"
    }
  }

  /// The reason without the name of the document.
  var reason: String {
    switch self {
    case .invalidWorkload(_, let reason), .invalidRequest(let reason), .startFailed(let reason),
      .invalidJournal(let reason):
      reason
    }
  }
}
