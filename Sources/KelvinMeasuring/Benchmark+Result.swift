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
    ///
    /// - Parameter escapesFormulas: whether text that a spreadsheet would take as a formula is preceded by an apostrophe.
    public func csv(escapesFormulas: Bool = false) -> String { result.csv(isSafe: escapesFormulas) }

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

  /// The measurements of one configuration.
  public struct Measurement: Sendable {
    private let result: ConfigurationResult
    /// The configuration's label.
    public var label: String { result.label }
    /// The identifiers of the devices that run its layers.
    public var devices: [String] { result.devices }
    /// The latency of inferences: from arrival to result for a stream, else of consecutive inferences; nil if not
    /// measured.
    public var latency: LatencySummary? { result.latency.map { LatencySummary(statistics: $0) } }
    /// The time to read the model. This median and the next two are of starts with a warm cache.
    public var load: Duration? { result.load.map(Duration.limited(seconds:)) }
    /// The time to compile.
    public var compile: Duration? { result.compile.map(Duration.limited(seconds:)) }
    /// The time of the first inference.
    public var first: Duration? { result.first.map(Duration.limited(seconds:)) }
    /// The time from the start of a process to its first result with an empty cache.
    public var coldStart: Duration? { result.coldTotal.map(Duration.limited(seconds:)) }
    /// Results per second; nil if not measured.
    public var throughput: Double? { result.throughput }
    /// The number of frames that were dropped for newer ones.
    public var dropped: Int { result.sustained?.dropped ?? 0 }
    /// The latency of the cool machine over the latency of the hot one: L₀/L∞ of the fit L(t) = L∞ − (L∞ −
    /// L₀)·e^(−t/τ). Below 1 the run has slowed down; nil if nothing was fitted.
    public var stability: Double? { result.sustained?.fit?.stability }
    /// The hottest state seen; nil if heat was not monitored.
    public var thermalState: ThermalState? { result.thermal.map { ThermalState($0) } }
    /// Joules per inference; nil without an energy source, and if they cannot be told from those of rest.
    public var joules: Double? { result.sustained?.measuredEnergy?.joules }
    /// The 95 % interval of the joules per inference. If it includes 0, only its upper end is a result.
    public var joulesInterval: MeasuredInterval<Double>? {
      result.sustained?.measuredEnergy?.interval.map { MeasuredInterval($0) }
    }
    /// A description of the energy source.
    public var energySource: String { result.sustained?.energySource ?? "" }
    /// The agreement with the reference device's outputs; nil if they were not compared.
    public var agreement: Agreement? { result.agreement.map { Agreement(agreement: $0) } }
    /// The time of one warm inference as the plan predicted it.
    public var predicted: Duration { Duration.limited(seconds: result.solution.predicted) }
    /// The comparison with the configuration that the verdict names, such as `1.8 × slower than cpu-only (1.7 to 1.9)`.
    public let comparison: String
    /// The reason why measuring did not complete; nil if it did.
    public var failure: String? { result.failure }
    /// The number of time windows in which other processes used the processor, and the number of all windows.
    public var disturbedWindows: (disturbed: Int, all: Int) { (result.disturbedWindows, result.windows) }

    init(_ result: ConfigurationResult, _ comparison: String) {
      (self.result, self.comparison) = (result, comparison)
    }
  }

  /// The agreement of outputs with the reference device's outputs.
  public struct Agreement: Hashable, Sendable {
    let agreement: ReportAgreement

    /// The fraction of inputs with the same top class, 0…1; nil for models without classes.
    public var top1: Double? { agreement.top1 }
    /// The largest absolute difference of an output element.
    public var largestDifference: Double { agreement.largestDifference }
    /// The mean absolute difference.
    public var meanDifference: Double { agreement.meanDifference }
    /// The number of inputs compared.
    public var inputs: Int { agreement.inputs }
  }
}
