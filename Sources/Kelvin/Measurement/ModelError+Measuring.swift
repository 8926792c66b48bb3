#if Measuring
import KelvinBench
import KelvinEngine
import KelvinFeatures
import KelvinProfiler
import KelvinStreams

extension ModelError {
  /// What a measurement gives; what it refuses to measure are parameters that do not fit.
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
  /// A number from a workload's file is the file's, another the user's slip.
  fileprivate var fault: ModelError.Fault {
    switch self {
    case .invalidWorkload, .invalidJournal: .data
    case .invalidRequest: .request
    case .startFailed: .own
    }
  }
}
#endif
