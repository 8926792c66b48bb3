public import FoundationEssentials
public import Kelvin
import KelvinBasics
import KelvinBench
import KelvinDevices
import KelvinEngine
public import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinReport
import KelvinRuntime

/// The measurements of a `Profiler`: the cost of every layer of a model on every device, and of every copy between
/// devices.
public struct ModelProfile: Sendable {
  /// A graph and its measurements.
  struct Part: Sendable {
    let graph: LoadedGraph
    var result: ProfileResult
  }

  /// Every measured graph; the graph with the most work is first.
  let parts: [Part]
  /// The measurements of all graphs, in the form that the planner reads.
  let merged: MeasuredProfile
  let function: Function
  let format: String
  /// The measurements of the graph with the most work.
  private var result: ProfileResult { parts[0].result }

  /// The measurements of one device.
  public struct DeviceRun: Sendable {
    let run: ProfileResult.DeviceRun

    /// The device.
    public var device: ComputeDevice { ComputeDevice(run.device) }
    /// The number of layers that ran on the device.
    public var layers: Int { run.nodes }
    /// The number of layers that the device cannot run and that ran on another device.
    public var layersElsewhere: Int { run.nodesElsewhere }
    /// The latency of one inference from the first operation to the last output, without layer timers.
    public var latency: LatencySummary { LatencySummary(statistics: run.latency) }
    /// The latency of inferences in which every layer is timed. The timers take time themselves.
    public var timedLatency: LatencySummary { LatencySummary(statistics: run.timedLatency) }
    /// The breakdown of the inference with the median `timedLatency`.
    public var account: Account { Account(account: run.account) }
    /// The time to compile with an empty cache.
    public var compile: Duration { Duration.limited(seconds: run.compile) }
    /// The time to compile with a warm cache.
    public var compileCached: Duration { Duration.limited(seconds: run.compileCached) }
    /// The time of the first inference.
    public var firstRun: Duration { Duration.limited(seconds: run.firstRun) }
    /// The names of layers whose median is less certain than requested, the most expensive first.
    public var noisyLayers: [String] { run.noisyNames }
  }

  /// The breakdown of the time of one inference with layer timers. The parts add up to `total`.
  public struct Account: Hashable, Sendable {
    let account: KelvinMeasurements.Account

    /// The time in which at least one device computed a layer.
    public var layers: Duration { Duration.limited(seconds: account.layers) }
    /// The time in which values were copied and no layer was computed.
    public var transfers: Duration { Duration.limited(seconds: account.transfers) }
    /// The time in which the host waited for a device to start or to report completion.
    public var waits: Duration { Duration.limited(seconds: account.waits) }
    /// The remaining time: dispatch, bookkeeping, and time that no clock covers.
    public var residual: Duration { Duration.limited(seconds: account.residual) }
    /// The whole time.
    public var total: Duration { layers + transfers + waits + residual }
  }

  /// The measurements of one layer.
  public struct Layer: Sendable {
    let row: ProfileResult.NodeRow

    /// The layer's name, as in `ComputePlan.Layer.name`.
    public var name: String { row.name }
    /// The name of the layer's operator.
    public var operatorName: String { row.op }
    /// The layer's cost, by the device's identifier.
    public var costs: [String: Cost] { row.costs.mapValues { Cost(cost: $0) } }
    /// The reason why a device cannot run the layer, by the device's identifier.
    public var unsupported: [String: String] { row.unsupported }
    /// The branches and loops that contain the layer, as in `ComputePlan.Layer.region`; nil at the top level.
    public var region: String? { row.region.nonEmpty }
    /// How often one prediction runs the layer. The costs are of one run.
    public var runs: Double { row.iterations }
  }

  /// The cost of one layer on one device: the median of warm runs within the whole model.
  public struct Cost: Hashable, Sendable {
    let cost: NodeCost

    /// The median.
    public var median: Duration { Duration.limited(seconds: cost.seconds) }
    /// The confidence interval of the median.
    public var interval: MeasuredInterval<Duration> { MeasuredInterval(seconds: cost.interval) }
    /// The number of runs.
    public var samples: Int { cost.samples }
    /// Whether the interval is wider than requested.
    public var isNoisy: Bool { cost.isNoisy }
    /// Whether the device's clock timed the layer instead of the host's clock.
    public var isDeviceTime: Bool { cost.source == .deviceTimestamps }
  }

  /// The cost of a copy of n bytes: `latency` + n / `bytesPerSecond`, including the wait for the device.
  public struct Transfer: Hashable, Sendable {
    /// The identifier of the source device.
    public let from: String
    /// The identifier of the destination device.
    public let to: String
    /// The fixed time of a copy of any size.
    public let latency: Duration
    /// The bandwidth; infinite if both devices share memory and the cost does not depend on the size.
    public let bytesPerSecond: Double
    /// Whether both devices address the same memory.
    public let isShared: Bool
  }

  /// A comparison of a plan's prediction with the measured run of that plan.
  public struct Check: Hashable, Sendable {
    /// The identifier of the device that runs everything, or `best plan`.
    public let label: String
    /// The predicted time of one inference, from the measured layers and copies.
    public let predicted: Duration
    /// The median of the measured runs.
    public let measured: Duration
  }

  /// The devices, in the machine's order. For a function of several graphs these are the results of the graph with the
  /// most work.
  public var devices: [DeviceRun] { result.devices.map { DeviceRun(run: $0) } }
  /// The layers of each graph. The graph with the most work comes first.
  public var layers: [Layer] { parts.flatMap(\.result.nodes).map { Layer(row: $0) } }
  /// Plans that were run without layer timers between the rounds of measurements that their predictions use.
  public var checks: [Check] {
    result.checks.map {
      Check(
        label: $0.label, predicted: Duration.limited(seconds: $0.predicted),
        measured: Duration.limited(seconds: $0.measured))
    }
  }
  /// The transfers, one for each ordered pair of devices.
  public var transfers: [Transfer] { result.transfers.map(Transfer.init) }
  /// Whether measuring ended early, so that layers or devices are missing.
  public var isPartial: Bool { merged.isPartial }
  /// Messages for the reader: omitted devices, contention, noise.
  public var remarks: [String] { parts.flatMap(\.result.remarks) }
  /// A description of the machine in one line.
  public var machine: String { result.profile.machine.reportSummary }

  /// Writes the measurements for `ModelConfiguration.profile` and the command line's `--profile`.
  ///
  /// - Throws: `ModelError` with code `io` if the file cannot be written.
  public func save(to url: URL) throws(ModelError) {
    try LocalFile.write(Data(try ModelError.wrapping { try merged.json() }), to: url.relativePath)
  }

  /// Returns the profile as lines for a terminal.
  ///
  /// - Parameter layers: the maximum number of layers to list; nil for all.
  package func lines(layers: Int?) -> [String] {
    Array(parts.map { $0.result.lines(layers: layers) }.joined(separator: [""]))
  }

  /// Returns the profile as a JSON document. Units are seconds and bytes.
  public func json() throws(ModelError) -> Data { try ModelError.wrapping { try parts.map(\.result).json() } }

  /// Returns the median inference on each device in the Trace Event Format, for Perfetto and chrome://tracing.
  public func trace() -> Data { Data(TraceExport.chromeJSON(parts.map(\.result).trace)) }

  /// Renders a self-contained HTML page with the plan that results from these measurements.
  ///
  /// - Throws: `ModelError` if no plan can be made.
  public func htmlReport() throws(ModelError) -> String {
    try ModelError.wrapping {
      let placements = try parts.map { part in
        let graph = part.graph.with(costs: CostSheet(merged))
        let explanation = try graph.context.explain(graph.options.request)
        let tried = graph.context.trial(graph.options.request)
        let measured = { (solution: PlanSolution) in tried?.entry(solution.placement)?.seconds }
        let request = graph.options.request
        let expectedError = { (solution: PlanSolution) in
          graph.context.costs.expectedError(
            of: solution, in: explanation,
            devices: graph.context.inventory.devices(named: Set(solution.placement.values)).map(\.info),
            model: graph.context.key.description, threads: request.threads)
        }
        return ReportPlacement(
          units: request.units.description, plan: try graph.plan(explanation, of: function),
          solution: explanation.solution, measured: measured(explanation.solution),
          expectedError: expectedError(explanation.solution).words,
          alone: explanation.alone(goal: request.goal, mark: { expectedError($0).mark }, measured))
      }
      var result = result
      if parts.count > 1, let part = result.part {
        result.remarks.insert("times are of the graph '\(part.name)', the function's largest", at: 0)
      }
      return HTMLReport.render(
        result.report(
          model: ReportModel(parts.map(\.graph.context), format: format), placements: placements,
          generated: ReportDate.now()))
    }
  }
}

extension ModelProfile.Transfer {
  init(_ transfer: ProfileResult.Transfer) {
    from = transfer.cost.from
    to = transfer.cost.to
    latency = Duration.limited(seconds: transfer.cost.latency)
    bytesPerSecond = transfer.cost.bytesPerSecond >= TransferFit.unlimited ? .infinity : transfer.cost.bytesPerSecond
    isShared = transfer.isShared
  }
}

/// The current date as reports show it: `2026-03-14 15:09 UTC`.
package enum ReportDate {
  package static func now() -> String {
    let text = Date.now.formatted(.iso8601)
    return String(text.prefix(16)).split(separator: "T").joined(separator: " ") + " UTC"
  }
}
