/// The thermal state of the machine at one moment, from which it can be predicted for any power.
package struct ThermalOutlook: Sendable, Hashable, Codable {
  package var model: ThermalModel
  /// The power when idle, in watts.
  package var idleWatts: Double
  /// The power that can be sustained indefinitely, in watts.
  package var sustainableWatts: Double
  /// The load of the latest interval, measured or estimated; nil if unknown.
  package var load: Double?

  package init(model: ThermalModel, idleWatts: Double, sustainableWatts: Double, load: Double? = nil) {
    self.model = model
    self.idleWatts = idleWatts
    self.sustainableWatts = sustainableWatts
    self.load = load
  }

  /// Returns the seconds to the limit at a constant power above idle; 0 if it is reached, infinite if it never is.
  package func timeToLimit(dynamicWatts: Double) -> Double { model.timeToLimit(load: load(dynamicWatts)) }

  private func load(_ dynamicWatts: Double) -> Double { (idleWatts + dynamicWatts) / sustainableWatts }
}
