#if Measuring
public import FoundationEssentials
import KelvinBasics
import KelvinBench
public import KelvinFeatures
import KelvinMeasurements
import KelvinPlanning
import KelvinReport
import KelvinRuntime
import KelvinStreams
import KelvinThermal

extension Benchmark {
  /// What a comparison found.
  public struct Result: Sendable {
    private var result: BenchmarkResult
    /// Nil where it was made from a journal.
    private let context: ModelContext?
    private let envelope: ThermalEnvelope?
    /// The journal that was kept; nil where none was.
    package let journal: String?

    init(_ result: BenchmarkResult, of context: ModelContext, _ envelope: ThermalEnvelope, journal: String?) {
      self.result = result
      self.context = context
      self.envelope = envelope
      self.journal = journal
    }

    /// What a benchmark found, from the journal that it kept, though it was ended before it could say so.
    ///
    /// - Throws: `ModelError` with code `io` where the file cannot be read, `parameters` where it is no journal.
    public init(contentsOfJournal url: URL) throws(ModelError) {
      let document = try LocalFile.read(url.relativePath)
      result = BenchmarkResult(try ModelError.measuring { try BenchmarkJournal.read(document) })
      context = nil
      envelope = nil
      journal = url.relativePath
    }

    /// What to pick, in sentences; "no difference measured" where none was beyond noise.
    public var verdict: String { result.verdict.text }
    /// The label of the configuration to pick; nil where no difference was measured.
    public var winner: String? { result.verdict.winner.map { result.configurations[$0].label } }
    /// One for each configuration, in the order given.
    public var configurations: [Measurement] { zip(result.configurations, result.comparisons).map(Measurement.init) }
    /// The machine, in one line.
    public var machine: String { result.machine.reportSummary }
    /// Where it was interrupted; nil where everything was measured.
    public var interruption: String? { result.interruption }
    /// How it was measured, what was disturbed and what is missing.
    public var notes: [String] { result.notes }

    /// Writes the plan worth keeping, the winner's or the fastest of equals', for `ModelConfiguration.plan`.
    ///
    /// - Throws: `ModelError` with code `io` where the file cannot be written.
    public func savePlan(to url: URL) throws(ModelError) {
      try LocalFile.write(try planFile(), to: url.relativePath)
    }

    private func planFile() throws(ModelError) -> Data {
      try ModelError.measuring { try result.bestPlan.json() } + [0x0A]
    }

    /// The label of the configuration whose plan is worth keeping.
    package var best: String { result.configurations[result.verdict.best].label }

    /// Keeps the plan worth keeping in the user's cache.
    ///
    /// - Returns: the file; nil where nothing is kept.
    /// - Throws: `ModelError` where the plan cannot be written out.
    package func keepPlan() throws(ModelError) -> String? {
      guard let context else { return nil }
      return context.keep(try planFile(), for: result.workload.name)
    }

    /// Runs the stream on a machine of another class as well, in virtual time.
    ///
    /// - Parameters:
    ///   - machine: the class of machine: a name or a file.
    ///   - seconds: of virtual time; as many as a simulation usually has where nil.
    ///   - otherLoad: the part of the processor, 0 ..< 1, that others use meanwhile.
    /// - Throws: `ModelError` with code `parameters` for a workload that is not a stream.
    package mutating func simulate(
      on machine: String, seconds: Double?, otherLoad: Double, seed: UInt64
    ) throws(ModelError) {
      guard let envelope else {
        throw ModelError(.parameters, "a journal is not simulated; run 'bench' with --simulate")
      }
      result.simulation = try ModelError.measuring {
        try result.simulated(
          on: try ThermalEnvelope(named: machine), from: envelope,
          seconds: seconds ?? BenchmarkResult.simulatedSeconds, coLoad: otherLoad, seed: seed)
      }
    }

    /// Holds every figure against an earlier run.
    ///
    /// - Parameters:
    ///   - run: what the earlier run's `json()` gave.
    ///   - name: what results call it.
    ///   - threshold: the share by which a figure may be worse: 0.05.
    /// - Throws: `ModelError` with code `parameters` where the two have no figure in common.
    public mutating func compare(with run: Baseline, named name: String, threshold: Double) throws(ModelError) {
      let copy = result
      result = try ModelError.measuring {
        var compared = copy
        try compared.compare(with: run.run, named: name, threshold: threshold)
        return compared
      }
    }

    /// Whether a figure is worse than in the run that it was compared with, beyond what was allowed.
    public var hasRegressed: Bool { result.earlier?.hasRegressed ?? false }

    /// As text, for a terminal.
    package var lines: [String] { result.lines }

    /// Everything as one JSON document; seconds, bytes and joules.
    public func json() throws(ModelError) -> Data { try ModelError.measuring { try result.json() } }

    /// Every sample as a table with a line of titles.
    public func csv() -> String { result.csv() }

    /// One inference of each configuration and the heat of long runs in the Trace Event Format, for Perfetto and
    /// chrome://tracing; of a simulated run where there was one.
    public func trace() -> Data { Data(TraceExport.chromeJSON(result.simulation?.trace ?? result.trace)) }

    /// A self-contained HTML page: the comparison, every plan as a graph with its costs, timelines, latency and heat.
    public func htmlReport() -> String { HTMLReport.render(result.report()) }
  }

  /// An earlier run, as its `Result.json()` gave it.
  public struct Baseline: Hashable, Sendable {
    let run: EarlierRun

    /// - Throws: `ModelError` with code `io` where the file cannot be read, `parameters` where it is no such document.
    public init(contentsOf url: URL) throws(ModelError) {
      let document = try LocalFile.read(url.relativePath)
      do { run = try JSONText.decode(EarlierRun.self, from: document) } catch {
        throw ModelError(
          .parameters,
          "'\(url.relativePath)' is not what 'kelvin bench --json' prints (every configuration with its figures): \(error)",
          fault: .data)
      }
    }
  }

  /// What was measured of one configuration. Seconds.
  public struct Measurement: Sendable {
    /// As the benchmark named it.
    public let label: String
    /// The identifiers of the devices that run its layers.
    public let devices: [String]
    /// Of inferences: of a stream from arrival to answer, else one after the other; nil where none was measured.
    public let latency: LatencySummary?
    /// Seconds to read the model; the medians here are of starts with what an earlier one has cached.
    public let load: Double?
    /// Seconds to compile.
    public let compile: Double?
    /// Seconds of the first inference.
    public let first: Double?
    /// Seconds from the start to the first answer with nothing cached.
    public let coldStart: Double?
    /// Answers a second; nil where none was measured.
    public let throughput: Double?
    /// Frames that newer ones pushed out.
    public let dropped: Int
    /// The latency of a cool machine over that of a hot one, L₀/L∞ of the fit L(t) = L∞ − (L∞ − L₀)·e^(−t/τ): below 1
    /// the run has slowed down; nil where nothing was fitted.
    public let stability: Double?
    /// The hottest state seen; nil where heat was not watched.
    public let thermalState: ThermalState?
    /// Joules of one inference; nil where nothing measures them.
    public let joules: Double?
    /// Who says so, in words.
    public let energySource: String
    /// Outputs against the reference device's; nil where they were not compared.
    public let agreement: Agreement?
    /// Seconds of one warm inference as the plan predicted them.
    public let predicted: Double
    /// Against the configuration that the verdict names, in words: `1.8 × slower than cpu-only (1.7 to 1.9)`.
    public let comparison: String
    /// Why it was not measured to the end; nil where it was.
    public let failure: String?
    /// Stretches of time in which others took processor time, of all that were looked at.
    public let disturbedWindows: (disturbed: Int, all: Int)
  }

  /// Outputs against those of the reference device.
  public struct Agreement: Hashable, Sendable {
    /// The share of inputs with the same best class, 0…1; nil for models without classes.
    public let top1: Double?
    /// The largest absolute difference of any output's element.
    public let largestDifference: Double
    /// The mean absolute difference.
    public let meanDifference: Double
    /// How many inputs.
    public let inputs: Int
  }
}

extension Benchmark.Measurement {
  init(_ result: ConfigurationResult, _ comparison: String) {
    label = result.label
    devices = result.devices
    latency = result.latency.map { LatencySummary($0) }
    load = result.load
    compile = result.compile
    first = result.first
    coldStart = result.coldTotal
    throughput = result.throughput
    dropped = result.sustained?.dropped ?? 0
    stability = result.sustained?.fit?.stability
    thermalState = result.thermal.map { ThermalState($0) }
    joules = result.sustained?.measuredJoules
    energySource = result.sustained?.energySource ?? ""
    agreement = result.agreement.map {
      Benchmark.Agreement(
        top1: $0.top1, largestDifference: $0.largestDifference, meanDifference: $0.meanDifference, inputs: $0.inputs)
    }
    predicted = result.solution.predicted
    self.comparison = comparison
    failure = result.failure
    disturbedWindows = (result.disturbedWindows, result.windows)
  }
}
#endif
