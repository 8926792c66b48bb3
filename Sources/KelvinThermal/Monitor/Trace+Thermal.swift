package import KelvinMeasurements

extension Trace {
  /// Records a thermal report as counter tracks.
  package mutating func record(_ report: ThermalReport) {
    var heat = ["headroom": report.headroom]
    heat["celsius"] = report.celsius
    counters.append(TraceCounter(name: "heat (\(report.source.rawValue))", at: report.at, values: heat))
    counters.append(
      TraceCounter(name: "thermal state", at: report.at, values: ["state": Double(report.state.rawValue)]))
    if let ratio = report.clockRatio {
      counters.append(TraceCounter(name: "clock ratio", at: report.at, values: ["ratio": ratio]))
    }
    if let contention = report.contention {
      var values = ["steal": contention.steal]
      values["pressure"] = contention.pressure
      counters.append(TraceCounter(name: "contention", at: report.at, values: values))
    }
  }
}
