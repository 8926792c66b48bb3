package import FoundationEssentials
import KelvinBasics
import KelvinGraph
import KelvinMeasurements
import KelvinReport
import KelvinStreams
import KelvinThermal

extension Advice {
  /// What `kelvin advise --json` prints. Seconds, bytes, joules.
  ///
  /// - Parameter files: by question, the plan files that were written.
  package func json(plans files: [Question: String] = [:], journals: [String] = []) throws -> Data {
    try JSONText.encode(AdviceDocument(self, files, journals), unspeakable: .null)
  }
}

private struct AdviceDocument: Encodable {
  struct Row: Encodable {
    var configuration: String
    var same: [String]
    var devices: [String]
    var threads: Int
    var precision: String
    var first: Double?
    var firstCold: Double?
    var warm: Double?
    var stream: Stream?
    var throughput: Throughput?
    var sustained: Sustained?
    var memory: MemoryUse?
    var energy: Energy?
    var agreement: ReportAgreement?
    var failure: String?
  }

  struct Stream: Encodable {
    var rate: Double
    var p50: Double
    var p99: Double
    var deadline: Double
    var served: Int
    var lost: Int
  }

  struct Throughput: Encodable {
    var rate: Double
    var inFlight: Int?
  }

  struct Sustained: Encodable {
    var rate: Double
    var throttledAt: Double?
    var hottest: String?
  }

  struct Energy: Encodable {
    /// Only where something measured power.
    var joules: Double?
    /// Over the least of all configurations.
    var ratio: Double?
    var isMeasured: Bool
  }

  struct Pick: Encodable {
    var question: String
    var configuration: String
    var isBeyondNoise: Bool
    var equals: [String]
    var secondBest: String?
    /// Of what decides the question, over the pick's.
    var secondBestRatio: Double?
    var plan: String?
    var sentence: String
  }

  /// What the stream that has to last was simulated with.
  struct Simulation: Encodable {
    var envelope: ThermalEnvelope
    /// That the energies were estimated by.
    var machine: ThermalEnvelope
    var stream: StreamSimulation.Stream
    var physics: StreamSimulation.Physics
    var plans: [StreamPlan]
  }

  struct Crossover: Encodable {
    var overtaken: String
    var overtaking: String
    var measure: String
    var at: Double
    var headroom: Double?
    var sentence: String
  }

  var kelvinVersion: String?
  var model: ReportModel?
  var machine: MachineDescription?
  var framesPerSecond: Double
  var horizon: Double
  var envelope: String
  var budget: Double
  var rows: [Row]
  var picks: [Pick]
  var crossovers: [Crossover]
  var simulation: Simulation?
  var omissions: [AdviceEvidence.Omission]
  var interruption: String?
  var journals: [String]
  var notes: [String]

  init(_ advice: Advice, _ files: [Advice.Question: String], _ journals: [String]) {
    let result = advice.anyResult
    (kelvinVersion, model, machine) = (result?.kelvinVersion, result?.model, result?.machine)
    framesPerSecond = advice.request.framesPerSecond
    horizon = advice.request.horizon
    envelope = advice.request.envelope.name
    budget = advice.request.budget
    rows = advice.rows.map { Row($0, deadline: advice.deadline) }
    picks = advice.picks.map { pick in
      Pick(
        question: pick.question.rawValue, configuration: advice.rows[pick.row].label, isBeyondNoise: pick.isBeyondNoise,
        equals: pick.equals.map { advice.rows[$0].label }, secondBest: pick.next.map { advice.rows[$0.row].label },
        secondBestRatio: pick.next?.ratio, plan: files[pick.question], sentence: advice.sentence(pick))
    }
    crossovers = advice.crossovers.map {
      Crossover(
        overtaken: advice.rows[$0.overtaken].label, overtaking: advice.rows[$0.overtaking].label,
        measure: $0.measure.rawValue, at: $0.at, headroom: $0.headroom, sentence: $0.sentence)
    }
    simulation = advice.lasting.map(\.simulation).map {
      Simulation(
        envelope: $0.envelope, machine: advice.evidence.machine, stream: $0.stream, physics: $0.physics, plans: $0.plans
      )
    }
    omissions = advice.evidence.omissions
    interruption = advice.evidence.interruption
    self.journals = journals
    notes = advice.notes
  }
}

extension AdviceDocument.Row {
  init(_ row: Advice.Row, deadline: Double) {
    self.init(
      configuration: row.label, same: row.candidate.also, devices: row.candidate.devices,
      threads: row.candidate.threads, precision: row.candidate.precision.rawValue, first: row.firstAnswer,
      firstCold: row.coldAnswer, warm: row.warm,
      stream: row.stream.map {
        .init(
          rate: $0.throughput, p50: $0.latency.p50, p99: $0.latency.p99, deadline: deadline, served: $0.served,
          lost: $0.dropped + $0.skipped)
      }, throughput: row.throughput.map { .init(rate: $0.throughput, inFlight: $0.pipeline?.inFlight) },
      sustained: row.lasting.map {
        .init(rate: $0.settledRate, throttledAt: $0.throttledAt, hottest: $0.windows.map(\.state).max()?.name)
      }, memory: row.memory,
      energy: row.joules.map {
        .init(joules: row.isEnergyMeasured ? $0 : nil, ratio: row.energyRatio, isMeasured: row.isEnergyMeasured)
      }, agreement: row.agreement, failure: row.failure)
  }
}
