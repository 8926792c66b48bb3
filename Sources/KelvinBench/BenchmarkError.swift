/// A measurement could not be made.
package enum BenchmarkError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A workload file or option that means nothing.
  case invalidWorkload(document: String, reason: String)
  /// A benchmark that has nothing to run.
  case invalidRequest(String)
  /// A process that should have started and answered did not.
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

  /// What is wrong, without whose it is.
  var reason: String {
    switch self {
    case .invalidWorkload(_, let reason), .invalidRequest(let reason), .startFailed(let reason),
      .invalidJournal(let reason):
      reason
    }
  }
}
