package import KelvinMeasurements
import KelvinReport
import KelvinStreams
import KelvinThermal

extension BenchmarkResult {
  /// The most frames of one configuration's stream in a trace. The CSV holds all frames.
  static let mostTracedFrames = 5000

  /// The trace of a result: one inference of each configuration, layer by layer, one after the other. The sustained
  /// loads follow, all from the same origin: frames, heat and the actions of a governor.
  package var trace: Trace {
    var trace = Trace()
    var offset = 0.0
    for configuration in configurations where !configuration.trace.isEmpty {
      trace.marks.append(TraceMark(name: "one inference, \(configuration.label)", at: offset))
      trace.append(Trace(events: configuration.trace), at: offset)
      offset += (configuration.trace.map(\.end).max() ?? 0) * 1.1
    }
    guard configurations.contains(where: { $0.sustained != nil }) else { return trace }
    trace.marks.append(TraceMark(name: "\(workload.kind.rawValue) begins", at: offset))
    for configuration in configurations {
      guard let sustained = configuration.sustained else { continue }
      for (number, point) in sustained.points.prefix(Self.mostTracedFrames).enumerated() {
        trace.events.append(
          TraceEvent(
            name: "frame \(number)", kind: .frame, device: "\(workload.kind.rawValue), \(configuration.label)",
            start: offset + point.at, duration: point.latency))
      }
      for point in sustained.heat {
        trace.counters.append(
          TraceCounter(
            name: "\(simulatedHeat == nil ? "" : "simulated ")heat, \(configuration.label)", at: offset + point.at,
            values: ["headroom": point.headroom, "state": Double(point.state.rawValue)]))
        for (name, value) in [("clock ratio", point.clockRatio), ("watts", point.watts)] {
          guard let value else { continue }
          trace.counters.append(
            TraceCounter(
              name: "\(simulatedHeat == nil ? "" : "simulated ")\(name), \(configuration.label)", at: offset + point.at,
              values: [name: value]))
        }
      }
      var actions = Trace()
      for action in sustained.actions { actions.record(action) }
      trace.append(actions, at: offset)
    }
    return trace
  }
}
