package import FoundationEssentials
import KelvinBasics
import KelvinMeasurements
import KelvinThermal

/// The document of a simulation that `--json` prints. Seconds, joules and watts; virtual time from the stream's
/// beginning.
package struct SimulationDocument: Encodable {
  struct Run: Encodable {
    var label: String
    var windows: [Window]
    var actions: [Action]
    var decay: DecayFit?
    var served: Int
    var dropped: Int
    var skipped: Int
    var settledRate: Double
    var joules: Double
    var throttledAt: Double?
  }

  struct Window: Encodable {
    var start: Double
    var end: Double
    var rate: Double
    var p50: Double?
    var p90: Double?
    var served: Int
    var dropped: Int
    var skipped: Int
    var headroom: Double
    var state: String
    var clock: Double
    var watts: Double
    var plan: String
  }

  struct Action: Encodable {
    var at: Double
    var what: String
    var cause: String
    var plan: String
    var rate: Double
    var queue: Int
  }

  struct Crossover: Encodable {
    var overtaken: String
    var overtaking: String
    var at: Double
    var minutes: Double
    var measure: String
    var evenAt: Double?
  }

  var envelope: ThermalEnvelope
  var stream: StreamSimulation.Stream
  var physics: StreamSimulation.Physics
  var seed: UInt64
  var plans: [StreamPlan]
  var runs: [Run]
  var governed: Run?
  var crossovers: [Crossover]
  var sentences: [String]
  var verdict: String

  package init(_ comparison: StreamComparison) {
    let simulation = comparison.simulation
    let labels = simulation.plans.map(\.label)
    envelope = simulation.envelope
    stream = simulation.stream
    physics = simulation.physics
    seed = simulation.seed
    plans = simulation.plans
    func document(_ run: StreamRun) -> Run {
      Run(
        label: run.label,
        windows: run.windows.map { window in
          Window(
            start: window.start, end: window.end, rate: window.rate, p50: window.p50, p90: window.p90,
            served: window.served, dropped: window.dropped, skipped: window.skipped, headroom: window.headroom,
            state: window.state.name, clock: window.clock, watts: window.watts, plan: labels[window.plan])
        },
        actions: run.actions.map {
          Action(
            at: $0.at, what: $0.what, cause: $0.cause, plan: labels[$0.setting.plan], rate: $0.setting.rate,
            queue: $0.setting.queue)
        }, decay: run.fit, served: run.served, dropped: run.dropped, skipped: run.skipped, settledRate: run.settledRate,
        joules: run.joules, throttledAt: run.throttledAt)
    }
    runs = comparison.runs.map(document)
    governed = comparison.governed.map(document)
    crossovers = comparison.crossovers.map {
      Crossover(
        overtaken: labels[$0.overtaken], overtaking: labels[$0.overtaking], at: $0.at, minutes: $0.minutes,
        measure: $0.measure.rawValue, evenAt: $0.evenAt)
    }
    sentences = comparison.sentences
    verdict = comparison.verdict.last ?? ""
  }
}

extension StreamComparison {
  package func json() throws -> Data { try JSONText.encode(SimulationDocument(self), unspeakable: .null) }
}
