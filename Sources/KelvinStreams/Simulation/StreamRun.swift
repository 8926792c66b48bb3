package import KelvinMeasurements
package import KelvinReport
package import KelvinThermal

/// What one simulated stream did. Seconds of virtual time from its beginning.
package struct StreamRun: Sendable {
  /// A stretch of time.
  package struct Window: Sendable, Hashable, Codable {
    package var start: Double
    package var end: Double
    /// Answers in it.
    package var served: Int
    /// From arrival to answer, nearest rank; nil where nothing was answered.
    package var p50: Double?
    package var p90: Double?
    /// Frames pushed out by newer ones.
    package var dropped: Int
    /// Frames that the governor did not take.
    package var skipped: Int
    /// At its end; 1.0 is the limit.
    package var headroom: Double
    /// The hottest in it.
    package var state: ThermalState
    /// Mean clock, 1 is full.
    package var clock: Double
    /// Mean power.
    package var watts: Double
    /// At its end.
    package var plan: Int

    /// Answers a second.
    package var rate: Double { Double(served) / max(end - start, 1e-9) }
  }

  package var label: String
  package var windows: [Window]
  package var actions: [GovernorAction]
  /// Every thermal report of the run, one for each control interval.
  package var reports: [ThermalReport]
  /// Answers over time: at most some thousands, evenly picked.
  package var points: [ReportSeries.Point]
  package var fit: DecayFit?
  package var served: Int
  package var dropped: Int
  package var skipped: Int
  /// Energy of the whole machine, idle power included.
  package var joules: Double
  /// When the clock was first lowered; nil for never.
  package var throttledAt: Double?

  package var duration: Double { windows.last?.end ?? 0 }

  /// Answers a second in the last tenth of the run.
  package var settledRate: Double {
    let last = windows.suffix(max(1, windows.count / 10))
    return Double(last.reduce(0) { $0 + $1.served }) / max((last.last?.end ?? 0) - (last.first?.start ?? 0), 1e-9)
  }

  /// The run as reports draw it.
  package var series: ReportSeries {
    ReportSeries(
      units: label, isSimulated: true, points: points,
      heat: stride(from: 0, to: reports.count, by: max(1, reports.count / 2000)).map {
        .init(at: reports[$0].at, state: reports[$0].state, headroom: reports[$0].headroom)
      },
      heatSource: reports.first?.sourceDescription ?? "", fit: fit,
      actions: actions.map { .init(at: $0.at, name: $0.what, cause: $0.cause) })
  }

  /// Counters of heat, clock, power and rate, and a mark for each action.
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
