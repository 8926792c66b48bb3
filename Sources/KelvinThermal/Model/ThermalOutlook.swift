/// The machine's heat at one moment, ready to be carried on at any power.
package struct ThermalOutlook: Sendable, Hashable, Codable {
  package var model: ThermalModel
  /// Watts with nothing to do.
  package var idleWatts: Double
  /// Watts that can be held for ever.
  package var sustainableWatts: Double

  package init(model: ThermalModel, idleWatts: Double, sustainableWatts: Double) {
    self.model = model
    self.idleWatts = idleWatts
    self.sustainableWatts = sustainableWatts
  }

  /// Headroom `seconds` from now at a constant power above idle.
  package func headroom(after seconds: Double, dynamicWatts: Double) -> Double {
    model.forecast(after: seconds, load: load(dynamicWatts))
  }

  /// Seconds to the limit at a constant power above idle; 0 when it is reached, infinite when it never will be.
  package func timeToLimit(dynamicWatts: Double) -> Double { model.timeToLimit(load: load(dynamicWatts)) }

  private func load(_ dynamicWatts: Double) -> Double { (idleWatts + dynamicWatts) / sustainableWatts }
}
