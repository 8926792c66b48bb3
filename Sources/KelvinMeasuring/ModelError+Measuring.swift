import Kelvin
import KelvinBench
import KelvinEngine
import KelvinFeatures
import KelvinProfiler
import KelvinStreams

extension ModelError {
  /// Runs a measurement and converts errors of invalid requests to `ModelError` with code `parameters`.
  static func measuring<Result>(_ body: () throws -> Result) throws(ModelError) -> Result {
    try wrapping {
      do { return try body() } catch let error as BenchmarkError {
        throw ModelError(.parameters, error.description, fault: error.fault)
      } catch let error as StreamError {
        throw ModelError(.parameters, error.description, fault: .request)
      } catch let error as ProfilerError {
        throw ModelError(.parameters, error.description, fault: .request)
      }
    }
  }
}

extension BenchmarkError {
  /// The origin of the error: the file of an invalid workload or journal, or the caller's request.
  fileprivate var fault: ModelError.Fault {
    switch self {
    case .invalidWorkload, .invalidJournal: .data
    case .invalidRequest: .request
    case .startFailed: .own
    }
  }
}
