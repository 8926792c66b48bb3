package import KelvinMeasurements
package import KelvinThermal
import Synchronization

/// Energy counters that a script drives: watts of each while time passes on the script's own clock. One whose name begins
/// with NVML belongs to the card whose resource is 00ff.
package final class ScriptedMachine: SensorReader, MeasurementClock {
  package static let name = "script"

  private struct State {
    var time = 0.0
    var joules: [String: Double]
    var watts: [String: Double]
    var range = 1e6
  }

  private let state: Mutex<State>

  package init(_ watts: [String: Double], from joules: Double = 0) {
    state = Mutex(State(joules: watts.mapValues { _ in joules }, watts: watts))
  }

  package func read(_ files: SystemFiles, into snapshot: inout SensorSnapshot) {
    state.withLock { state in
      for (name, joules) in state.joules.sorted(by: { $0.key < $1.key }) {
        let isCard = name.hasPrefix("NVML")
        snapshot.energies.append(
          EnergyReading(
            sensor: name, domain: isCard ? .graphics : .processor, joules: joules, rangeJoules: state.range,
            resource: isCard ? HardwareIdentity("GPU-00ff") : nil))
      }
    }
  }

  package func now() -> Double { state.withLock { $0.time } }
  package func sleep(until time: Double) { pass(time - now()) }

  package func pass(_ seconds: Double, _ watts: [String: Double]? = nil) {
    state.withLock { state in
      state.time += seconds
      for (name, power) in watts ?? state.watts where state.joules[name] != nil {
        state.joules[name] = ((state.joules[name] ?? 0) + power * seconds)
          .truncatingRemainder(dividingBy: state.range)
      }
    }
  }

  package func set(_ name: String, _ joules: Double?) { state.withLock { $0.joules[name] = joules } }
}
