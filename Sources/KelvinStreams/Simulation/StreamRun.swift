package import KelvinMeasurements
package import KelvinReport
package import KelvinThermal

/// The result of one simulated stream, in seconds of virtual time from its beginning.
package struct StreamRun: Sendable {
  /// A time window of the run.
  package struct Window: Sendable, Hashable, Codable {
    package var start: Double
    package var end: Double
    /// The number of answers.
    package var served: Int
    /// Seconds from arrival to answer, nearest rank; nil if nothing was answered.
    package var p50: Double?
    package var p90: Double?
    /// The number of frames displaced by newer ones.
    package var dropped: Int
    /// The number of frames that the governor did not take.
    package var skipped: Int
    /// The headroom at the end of the window; 1.0 is the limit.
    package var headroom: Double
    /// The hottest state in the window.
    package var state: ThermalState
    /// The mean clock; 1 is full.
    package var clock: Double
    /// The mean power.
    package var watts: Double
    /// The plan at the end of the window.
    package var plan: Int

    /// Answers per second.
    package var rate: Double { Double(served) / max(end - start, 1e-9) }
  }

  package var label: String
  package var windows: [Window]
  package var actions: [GovernorAction]
  /// The thermal reports of the run, one for each control interval.
  package var reports: [ThermalReport]
  /// Answers over time, at most some thousands, evenly selected.
  package var points: [ReportSeries.Point]
  package var fit: DecayFit?
  package var served: Int
  package var dropped: Int
  package var skipped: Int
  /// The energy of the whole machine, idle power included.
  package var joules: Double
  /// The time at which the clock was first lowered; nil for never.
  package var throttledAt: Double?

  /// Answers per second in the last tenth of the run.
  package var settledRate: Double {
    let last = windows.suffix(max(1, windows.count / 10))
    return Double(last.reduce(0) { $0 + $1.served }) / max((last.last?.end ?? 0) - (last.first?.start ?? 0), 1e-9)
  }

  /// The run as reports show it.
  package var series: ReportSeries {
    var series = ReportSeries(
      units: label, points: points, heatSource: reports.first?.sourceDescription ?? "", fit: fit)
    series.isSimulated = true
    series.heat = stride(from: 0, to: reports.count, by: max(1, reports.count / 2000)).map {
      .init(at: reports[$0].at, state: reports[$0].state, headroom: reports[$0].headroom)
    }
    series.actions = actions.map { ($0.at, $0.what, $0.cause) }
    return series
  }

  /// A trace with counters of heat, clock, power and rate, and a mark for each action.
  package var trace: Trace {
    var trace = Trace()
    for report in reports { trace.record(report) }
    for window in windows {
      trace.counters.append(TraceCounter(name: "power", at: window.end, values: ["watts": window.watts]))
      trace.counters.append(TraceCounter(name: "stream", at: window.end, values: ["frames per second": window.rate]))
    }
    for action in actions { trace.record(action) }
    return trace
  }
}
