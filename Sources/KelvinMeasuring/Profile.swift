public import FoundationEssentials
public import Kelvin
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
public struct Profile: Sendable {
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
    /// The device.
    public let device: ComputeDevice
    /// The number of layers that ran on the device.
    public let layers: Int
    /// The number of layers that the device cannot run and that ran on another device.
    public let layersElsewhere: Int
    /// The latency of one inference from the first operation to the last output, with every layer timed.
    public let latency: LatencySummary
    /// The breakdown of the inference with the median latency.
    public let account: Account
    /// Seconds to compile with an empty cache.
    public let compile: Double
    /// Seconds to compile with a warm cache.
    public let compileCached: Double
    /// Seconds of the first inference.
    public let firstRun: Double
    /// The names of layers whose median is less certain than requested, the most expensive first.
    public let noisyLayers: [String]
  }

  /// The breakdown of the time of one inference, in seconds. The parts add up to `total`.
  public struct Account: Hashable, Sendable {
    /// The time in which at least one device computed a layer.
    public let layers: Double
    /// The time in which values were copied and no layer was computed.
    public let transfers: Double
    /// The time in which the host waited for a device to start or to report completion.
    public let waits: Double
    /// The remaining time: dispatch, bookkeeping, and time that no clock covers.
    public let residual: Double
    /// The whole time.
    public var total: Double { layers + transfers + waits + residual }
  }

  /// The measurements of one layer.
  public struct Layer: Sendable {
    /// The layer's name, as in `ComputePlan.Layer.name`.
    public let name: String
    /// The name of the layer's operator.
    public let operatorName: String
    /// The layer's cost, by the device's identifier.
    public let costs: [String: Cost]
    /// The reason why a device cannot run the layer, by the device's identifier.
    public let unsupported: [String: String]
    /// The branches and loops that contain the layer, as in `ComputePlan.Layer.region`; nil at the top level.
    public let region: String?
    /// How often one prediction runs the layer. The costs are of one run.
    public let runs: Double
  }

  /// The cost of one layer on one device: the median of warm runs within the whole model.
  public struct Cost: Hashable, Sendable {
    /// The median, in seconds.
    public let seconds: Double
    /// The confidence interval of the median.
    public let interval: Interval
    /// The number of runs.
    public let samples: Int
    /// Whether the interval is wider than requested.
    public let isNoisy: Bool
    /// Whether the device's clock timed the layer instead of the host's clock.
    public let isDeviceTime: Bool
  }

  /// The cost of a copy of n bytes: `latency` + n / `bytesPerSecond`, including the wait for the device.
  public struct Transfer: Hashable, Sendable {
    /// The identifier of the source device.
    public let from: String
    /// The identifier of the destination device.
    public let to: String
    /// The fixed seconds of a copy of any size.
    public let latency: Double
    /// The bandwidth; infinite if both devices share memory and the cost does not depend on the size.
    public let bytesPerSecond: Double
    /// Whether both devices address the same memory.
    public let isShared: Bool
  }

  /// A comparison of a plan's prediction with the measured run of that plan.
  public struct Check: Hashable, Sendable {
    /// The identifier of the device that runs everything, or `best plan`.
    public let label: String
    /// The predicted seconds of one inference, from the measured layers and copies.
    public let predicted: Double
    /// The median of the measured runs, in seconds.
    public let measured: Double
  }

  /// The devices, in the machine's order. For a function of several graphs these are the results of the graph with the
  /// most work.
  public var devices: [DeviceRun] { result.devices.map(DeviceRun.init) }
  /// The layers of each graph. The graph with the most work comes first.
  public var layers: [Layer] { parts.flatMap(\.result.nodes).map(Layer.init) }
  /// Plans that were run without layer timers between the rounds of measurements that their predictions use.
  public var checks: [Check] {
    result.checks.map { Check(label: $0.label, predicted: $0.predicted, measured: $0.measured) }
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
        return ReportPlacement(
          units: graph.options.request.units.description, plan: try graph.plan(explanation, of: function),
          solution: explanation.solution, measured: measured(explanation.solution), alone: explanation.alone(measured))
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

extension Profile.DeviceRun {
  init(_ run: ProfileResult.DeviceRun) {
    device = ComputeDevice(run.device)
    layers = run.nodes
    layersElsewhere = run.nodesElsewhere
    latency = LatencySummary(run.latency)
    account = Profile.Account(
      layers: run.account.layers, transfers: run.account.transfers, waits: run.account.waits,
      residual: run.account.residual)
    compile = run.compile
    compileCached = run.compileCached
    firstRun = run.firstRun
    noisyLayers = run.noisyNames
  }
}

extension Profile.Layer {
  init(_ row: ProfileResult.NodeRow) {
    name = row.name
    region = row.region.isEmpty ? nil : row.region
    runs = row.trips
    operatorName = row.op
    costs = row.costs.mapValues { cost in
      Profile.Cost(
        seconds: cost.seconds, interval: Interval(cost.interval), samples: cost.samples, isNoisy: cost.isNoisy,
        isDeviceTime: cost.source == .deviceTimestamps)
    }
    unsupported = row.unsupported
  }
}

extension Profile.Transfer {
  init(_ transfer: ProfileResult.Transfer) {
    from = transfer.cost.from
    to = transfer.cost.to
    latency = transfer.cost.latency
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
