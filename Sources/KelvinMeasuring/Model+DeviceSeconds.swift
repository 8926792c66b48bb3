import Kelvin
import KelvinEngine
package import KelvinFeatures
import KelvinMeasurements
import KelvinRuntime

extension Model {
  /// The peak resident memory of this process in bytes; nil if the system does not report it.
  package static var peakResidentByteCount: Int? { SystemFiles().peakResidentBytes }

  private static let deviceRuns = 5

  /// Measures the seconds that each device computes in one prediction, by the device's identifier.
  ///
  /// Each value is the median of several runs on generated inputs in which every operation is timed. A copy between
  /// devices counts for the receiving device. Host operations and graphs that are compiled only once their input data
  /// is known do not count.
  ///
  /// - Throws: `ModelError` if the model fails.
  package func deviceSeconds() throws(ModelError) -> [String: Double] {
    let loaded = predictor.loaded
    return try ModelError.wrapping {
      var sums: [String: Double] = [:]
      for graph in loaded.graphs.compactMap({ $0 }) {
        let session = try graph.compile(try graph.proven().explanation).makeSession(measuresNodes: true)
        try session.write(try loaded.syntheticTensors(for: graph, seed: 0))
        var runs: [String: [Double]] = [:]
        for _ in 0..<Self.deviceRuns {
          try session.run()
          var seconds: [String: Double] = [:]
          for event in session.trace() where event.kind != .region {
            seconds[event.device, default: 0] += event.duration
          }
          for (device, time) in seconds { runs[device, default: []].append(time) }
        }
        for (device, times) in runs { sums[device, default: 0] += times.sorted()[times.count / 2] }
      }
      return sums
    }
  }
}
