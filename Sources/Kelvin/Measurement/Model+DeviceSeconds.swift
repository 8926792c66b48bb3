#if Measuring
package import KelvinFeatures
import KelvinEngine
import KelvinMeasurements
import KelvinRuntime

extension Model {
  /// The most bytes that this process has had resident; nil where the system does not say.
  package static var peakResidentByteCount: Int? { SystemFiles().peakResidentBytes }

  private static let deviceRuns = 5

  /// Seconds that each device is at work in one prediction, by its identifier: the medians of some runs on made-up inputs,
  /// each of whose operations is timed. Copies between devices count for the one that receives; what is no graph, or is
  /// one only once its data are known, does not count.
  ///
  /// - Throws: `ModelError` where the model fails.
  package func deviceSeconds() throws(ModelError) -> [String: Double] {
    let loaded = predictor.loaded
    return try ModelError.wrapping {
      var sums: [String: Double] = [:]
      for graph in loaded.graphs.compactMap({ $0 }) {
        let session = try graph.compile(try graph.proven().explanation).makeSession(measuresNodes: true)
        try session.write(try loaded.madeUpTensors(for: graph, seed: 0))
        var runs: [String: [Double]] = [:]
        for _ in 0..<Self.deviceRuns {
          try session.run()
          var seconds: [String: Double] = [:]
          for event in session.trace() where event.kind != .region { seconds[event.device, default: 0] += event.duration }
          for (device, time) in seconds { runs[device, default: []].append(time) }
        }
        for (device, times) in runs { sums[device, default: 0] += times.sorted()[times.count / 2] }
      }
      return sums
    }
  }
}
#endif
