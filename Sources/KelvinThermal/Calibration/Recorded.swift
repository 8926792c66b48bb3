import KelvinBasics

/// The median and the spread of power in one phase of a recording.
struct Watts {
  let median: Double
  /// The bounds that contain 95 % of the samples.
  let lower: Double
  let upper: Double

  /// Creates an assumed power without spread.
  init(_ watts: Double) { (median, lower, upper) = (watts, watts, watts) }

  init(_ samples: [Double]) {
    let sorted = samples.sorted()
    func quantile(_ share: Double) -> Double {
      sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
    (median, lower, upper) = (quantile(0.5), quantile(0.025), quantile(0.975))
  }
}

/// Simple statistics of a recording.
struct Recorded {
  private let recording: CalibrationRecording

  init(_ recording: CalibrationRecording) { self.recording = recording }

  var seconds: Double { (recording.samples.last?.at ?? 0) - (recording.samples.first?.at ?? 0) }

  var hottest: Double { recording.samples.compactMap(\.celsius).max() ?? 0 }

  /// The resolution of the sensor: the smallest change that it showed.
  var step: Double {
    let shown = recording.samples.compactMap(\.celsius)
    return zip(shown, shown.dropFirst()).map { abs($0 - $1) }.filter { $0 > 1e-9 }.min() ?? 0
  }

  /// Returns the mean of the last quarter of a phase, in degrees Celsius.
  func settledCelsius(_ phase: CalibrationSchedule.Phase) -> Double {
    let shown = recording.samples.filter { $0.phase == phase }.compactMap(\.celsius)
    let last = shown.suffix(max(1, shown.count / 4))
    return last.isEmpty ? 0 : last.reduce(0, +) / Double(last.count)
  }

  /// - Parameter seconds: the duration to include from the beginning of the phase.
  func watts(_ phase: CalibrationSchedule.Phase, first seconds: Double = .infinity) -> Watts {
    let samples = recording.samples.filter { $0.phase == phase }
    // The first sample's mean began in the previous phase.
    let counted = samples.dropFirst().filter { $0.at <= (samples.first?.at ?? 0) + seconds }
    return Watts(counted.compactMap(\.watts))
  }
}
