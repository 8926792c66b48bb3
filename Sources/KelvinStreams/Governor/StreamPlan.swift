import KelvinBasics
package import KelvinMeasurements
package import KelvinThermal

/// One precomputed way of answering the frames of a stream: what a governor chooses among and a simulation runs.
package struct StreamPlan: Sendable, Hashable, Codable {
  /// As the user knows it: the units, or the plan's file.
  package var label: String
  /// Seconds of one inference at full clock.
  package var secondsPerFrame: Double
  /// Joules of one inference above idle, at full clock.
  package var joulesPerFrame: Double
  /// Where the joules come from, in words: measured by what, or estimated from what.
  package var energySource: String
  /// What it costs besides time, in words: how far its answers are off; empty for nothing.
  package var remark: String

  package init(
    label: String, secondsPerFrame: Double, joulesPerFrame: Double, energySource: String = "given",
    remark: String = ""
  ) {
    self.label = label
    self.secondsPerFrame = secondsPerFrame
    self.joulesPerFrame = joulesPerFrame
    self.energySource = energySource
    self.remark = remark
  }

  /// Mean power above idle while it works.
  package var watts: Double { joulesPerFrame / secondsPerFrame }

  /// - Throws: `StreamError` for costs no plan can have.
  package func validate() throws(StreamError) {
    guard secondsPerFrame.isFinite, (1e-7...3600).contains(secondsPerFrame) else {
      throw StreamError("plan \(label): expected 1e-7 to 3600 seconds per frame, got \(secondsPerFrame)")
    }
    guard joulesPerFrame.isFinite, (0...1e7).contains(joulesPerFrame) else {
      throw StreamError("plan \(label): expected 0 to 1e7 joules per frame, got \(joulesPerFrame)")
    }
  }
}

extension StreamPlan {
  /// A plan measured on one machine, for a class of machine.
  ///
  /// Joules go by the dynamic range, E′ = E (P_full − P_idle)′ / (P_full − P_idle); those that something measured on
  /// the machine that `to` was calibrated on stay what they are.
  ///
  /// - Parameters:
  ///   - joules: of a frame, above idle; nil where nobody knows: all of the range of `to`.
  ///   - isMeasured: whether the joules were read from counters.
  ///   - machine: they are from.
  ///   - from: the envelope that stands for it.
  package static func carriedOver(
    label: String, secondsPerFrame: Double, joules: Double?, source: String, isMeasured: Bool,
    on machine: MachineDescription, from: ThermalEnvelope, to: ThermalEnvelope
  ) -> StreamPlan {
    let range = to.fullLoadWatts - to.idleWatts
    guard let joules else {
      return StreamPlan(
        label: label, secondsPerFrame: secondsPerFrame, joulesPerFrame: range * secondsPerFrame,
        energySource: "assumed: all of the envelope's range while it works")
    }
    guard !isMeasured || !to.isCalibrated(on: machine) else {
      return StreamPlan(
        label: label, secondsPerFrame: secondsPerFrame, joulesPerFrame: joules,
        energySource: "\(source); \"\(to.name)\" is this machine")
    }
    let scale = range / (from.fullLoadWatts - from.idleWatts)
    return StreamPlan(
      label: label, secondsPerFrame: secondsPerFrame, joulesPerFrame: joules * scale,
      energySource: "\(source); × \(HumanReadable.significant(scale)) to \"\(to.name)\"")
  }
}
