import KelvinBasics
package import KelvinMeasurements
package import KelvinThermal

/// A compiled variant for the frames of a stream, with its costs. Governors choose among plans, and simulations run
/// them.
package struct StreamPlan: Sendable, Hashable, Codable {
  /// The user's name of the plan: the units, or the plan's file.
  package var label: String
  /// Seconds of one inference at full clock.
  package var secondsPerFrame: Double
  /// Joules of one inference above idle, at full clock.
  package var joulesPerFrame: Double
  /// The source of the joules in words: the sensor, or the basis of the estimate.
  package var energySource: String
  /// Costs other than time in words: the error of its outputs; empty for none.
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

  /// The mean power above idle while it works.
  package var watts: Double { joulesPerFrame / secondsPerFrame }

  /// - Throws: `StreamError` for costs that are out of range.
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
  /// Converts a plan measured on one machine to a class of machine.
  ///
  /// Joules are scaled by the dynamic range, E′ = E (P_full − P_idle)′ / (P_full − P_idle). Measured joules are
  /// unchanged if `to` was calibrated on the same machine.
  ///
  /// - Parameters:
  ///   - joules: the joules of a frame above idle; nil if unknown, to assume the whole range of `to`.
  ///   - isMeasured: whether the joules were read from counters.
  ///   - machine: the machine of the joules.
  ///   - from: the envelope of that machine.
  package static func carriedOver(
    label: String, secondsPerFrame: Double, joules: Double?, source: String, isMeasured: Bool, remark: String = "",
    on machine: MachineDescription, from: ThermalEnvelope, to: ThermalEnvelope
  ) -> StreamPlan {
    let range = to.fullLoadWatts - to.idleWatts
    guard let joules else {
      return StreamPlan(
        label: label, secondsPerFrame: secondsPerFrame, joulesPerFrame: range * secondsPerFrame,
        energySource: "assumed: the envelope's full range while it works", remark: remark)
    }
    guard !isMeasured || !to.isCalibrated(on: machine) else {
      return StreamPlan(
        label: label, secondsPerFrame: secondsPerFrame, joulesPerFrame: joules,
        energySource: "\(source); \"\(to.name)\" is this machine", remark: remark)
    }
    let scale = range / (from.fullLoadWatts - from.idleWatts)
    return StreamPlan(
      label: label, secondsPerFrame: secondsPerFrame, joulesPerFrame: joules * scale,
      energySource: "\(source); × \(HumanReadable.significant(scale)) to \"\(to.name)\"", remark: remark)
  }
}
