package import FoundationEssentials
import KelvinBasics
import KelvinGraph
import KelvinMeasurements
import KelvinReport
import KelvinStreams
import KelvinThermal

extension Advice {
  /// The document that `kelvin advise --json` prints. Times are in seconds, memory in bytes, energies in joules.
  ///
  /// - Parameter files: the paths of the written plan files, by question.
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
    /// Nil when no sensor measured power.
    var joules: Double?
    /// The energy of one inference divided by the least of all configurations.
    var ratio: Double?
    var isMeasured: Bool
  }

  struct Pick: Encodable {
    var question: String
    var configuration: String
    var isBeyondNoise: Bool
    var equals: [String]
    var secondBest: String?
    /// The second best configuration's value of the measure that decides the question, divided by the pick's.
    var secondBestRatio: Double?
    var plan: String?
    var sentence: String
  }

  /// The settings of the simulated stream that answers the sustained question.
  struct Simulation: Encodable {
    var envelope: ThermalEnvelope
    /// The envelope by which energies on the measured machine were estimated.
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
