public import FoundationEssentials
import Kelvin
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
  /// The result of a comparison.
  public struct Result: Sendable {
    private var result: BenchmarkResult
    /// The context of the measured model; nil for a result read from a journal.
    private let context: ModelContext?
    private let envelope: ThermalEnvelope?
    /// The path of the journal; nil if none was written.
    package let journal: String?

    init(_ result: BenchmarkResult, of context: ModelContext, _ envelope: ThermalEnvelope, journal: String?) {
      self.result = result
      self.context = context
      self.envelope = envelope
      self.journal = journal
    }

    /// Reads the result from the journal of a benchmark that was interrupted.
    ///
    /// - Throws: `ModelError` with code `io` if the file cannot be read, `parameters` if it is not a journal.
    public init(contentsOfJournal url: URL) throws(ModelError) {
      let document = try LocalFile.read(url.relativePath)
      result = BenchmarkResult(try ModelError.measuring { try BenchmarkJournal.read(document) })
      context = nil
      envelope = nil
      journal = url.relativePath
    }

    /// The recommendation in sentences; "no difference measured" if no difference exceeds noise.
    public var verdict: String { result.verdict.text }
    /// The label of the recommended configuration; nil if no difference was measured.
    public var winner: String? { result.verdict.winner.map { result.configurations[$0].label } }
    /// The measurements, one for each configuration, in the given order.
    public var configurations: [Measurement] { zip(result.configurations, result.comparisons).map(Measurement.init) }
    /// A description of the machine in one line.
    public var machine: String { result.machine.reportSummary }
    /// The reason why measuring ended early; nil if everything was measured.
    public var interruption: String? { result.interruption }
    /// Notes about the method, disturbances and missing measurements.
    public var notes: [String] { result.notes }

    /// Writes the plan of the best configuration, for `ModelConfiguration.plan`. Without a winner it is the fastest of
    /// the equal configurations.
    ///
    /// - Throws: `ModelError` with code `io` if the file cannot be written.
    public func savePlan(to url: URL) throws(ModelError) {
      try LocalFile.write(try planFile(), to: url.relativePath)
    }

    private func planFile() throws(ModelError) -> Data {
      try ModelError.measuring { try result.bestPlan.json() } + [0x0A]
    }

    /// The label of the configuration that `savePlan` saves.
    package var best: String { result.configurations[result.verdict.best].label }

    /// Stores the plan of the best configuration in the user's cache.
    ///
    /// - Returns: the file; nil if the plan was not stored.
    /// - Throws: `ModelError` if the plan cannot be encoded.
    package func keepPlan() throws(ModelError) -> String? {
      guard let context else { return nil }
      return context.keep(try planFile(), for: result.workload.name)
    }

    /// Simulates the stream on a machine of another class, in simulated time.
    ///
    /// - Parameters:
    ///   - machine: the class of machine: a name or a file.
    ///   - seconds: the simulated duration; nil for the default.
    ///   - otherLoad: the share of the processor, 0 ..< 1, that other processes use meanwhile.
    /// - Throws: `ModelError` with code `parameters` for a workload that is not a stream.
    package mutating func simulate(
      on machine: String, seconds: Double?, otherLoad: Double, seed: UInt64
    ) throws(ModelError) {
      guard let envelope else {
        throw ModelError(.parameters, "a journal cannot be simulated; run 'bench' with --simulate")
      }
      result.simulation = try ModelError.measuring {
        try result.simulated(
          on: try ThermalEnvelope(named: machine), from: envelope,
          seconds: seconds ?? BenchmarkResult.simulatedSeconds, coLoad: otherLoad, seed: seed)
      }
    }

    /// Compares every figure with an earlier run.
    ///
    /// - Parameters:
    ///   - run: the earlier run, from its `json()`.
    ///   - name: the earlier run's name in results.
    ///   - threshold: the fraction by which a figure may be worse, such as 0.05.
    /// - Throws: `ModelError` with code `parameters` if the runs have no figure in common.
    public mutating func compare(with run: Baseline, named name: String, threshold: Double) throws(ModelError) {
      let copy = result
      result = try ModelError.measuring {
        var compared = copy
        try compared.compare(with: run.run, named: name, threshold: threshold)
        return compared
      }
    }

    /// Whether a figure is worse than in the earlier run by more than the threshold.
    public var hasRegressed: Bool { result.earlier?.hasRegressed ?? false }

    /// The result as lines for a terminal.
    package var lines: [String] { result.lines }

    /// Returns the result as a JSON document. Units are seconds, bytes and joules.
    public func json() throws(ModelError) -> Data { try ModelError.measuring { try result.json() } }

    /// Returns every sample as a CSV table with a header line.
    public func csv() -> String { result.csv() }

    /// Returns one inference of each configuration and the heat of long runs in the Trace Event Format, for Perfetto
    /// and chrome://tracing. After `simulate` it returns the simulated run.
    public func trace() -> Data { Data(TraceExport.chromeJSON(result.simulation?.trace ?? result.trace)) }

    /// Renders a self-contained HTML page: the comparison, every plan as a graph with its costs, timelines, latency and
    /// heat.
    public func htmlReport() -> String { HTMLReport.render(result.report()) }
  }

  /// An earlier run, read from its `Result.json()`.
  public struct Baseline: Hashable, Sendable {
    let run: EarlierRun

    /// - Throws: `ModelError` with code `io` if the file cannot be read, `parameters` if it is not such a document.
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

  /// The measurements of one configuration, in seconds.
  public struct Measurement: Sendable {
    /// The configuration's label.
    public let label: String
    /// The identifiers of the devices that run its layers.
    public let devices: [String]
    /// The latency of inferences: from arrival to result for a stream, else of consecutive inferences; nil if not
    /// measured.
    public let latency: LatencySummary?
    /// Seconds to read the model. This median and the next two are of starts with a warm cache.
    public let load: Double?
    /// Seconds to compile.
    public let compile: Double?
    /// Seconds of the first inference.
    public let first: Double?
    /// Seconds from the start of a process to its first result with an empty cache.
    public let coldStart: Double?
    /// Results per second; nil if not measured.
    public let throughput: Double?
    /// The number of frames that were dropped for newer ones.
    public let dropped: Int
    /// The latency of the cool machine over the latency of the hot one: L₀/L∞ of the fit L(t) = L∞ − (L∞ −
    /// L₀)·e^(−t/τ). Below 1 the run has slowed down; nil if nothing was fitted.
    public let stability: Double?
    /// The hottest state seen; nil if heat was not monitored.
    public let thermalState: ThermalState?
    /// Joules per inference; nil without an energy source.
    public let joules: Double?
    /// A description of the energy source.
    public let energySource: String
    /// The agreement with the reference device's outputs; nil if they were not compared.
    public let agreement: Agreement?
    /// Seconds of one warm inference as the plan predicted them.
    public let predicted: Double
    /// The comparison with the configuration that the verdict names, such as `1.8 × slower than cpu-only (1.7 to 1.9)`.
    public let comparison: String
    /// The reason why measuring did not complete; nil if it did.
    public let failure: String?
    /// The number of time windows in which other processes used the processor, and the number of all windows.
    public let disturbedWindows: (disturbed: Int, all: Int)
  }

  /// The agreement of outputs with the reference device's outputs.
  public struct Agreement: Hashable, Sendable {
    /// The fraction of inputs with the same top class, 0…1; nil for models without classes.
    public let top1: Double?
    /// The largest absolute difference of an output element.
    public let largestDifference: Double
    /// The mean absolute difference.
    public let meanDifference: Double
    /// The number of inputs compared.
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
