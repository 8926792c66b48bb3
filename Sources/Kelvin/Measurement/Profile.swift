#if Measuring
public import FoundationEssentials
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

/// What every layer of a model costs on every device, and every copy between devices: what a `Profiler` measured.
public struct Profile: Sendable {
  /// A graph and what was measured of it.
  struct Part: Sendable {
    let graph: LoadedGraph
    var result: ProfileResult
  }

  /// Every graph that was measured, that with the most work first.
  let parts: [Part]
  /// What planning reads, of all graphs.
  let merged: MeasuredProfile
  let function: Function
  let format: String
  /// Of the graph with the most work.
  private var result: ProfileResult { parts[0].result }

  /// One device's part.
  public struct DeviceRun: Sendable {
    /// The device.
    public let device: ComputeDevice
    /// Layers that ran there.
    public let layers: Int
    /// Layers that the device cannot run and that ran elsewhere meanwhile.
    public let layersElsewhere: Int
    /// One inference from the first step to the last output, with every layer timed.
    public let latency: LatencySummary
    /// Where the time of the inference with the median latency went.
    public let account: Account
    /// Seconds to compile with nothing cached.
    public let compile: Double
    /// Seconds to compile with what an earlier run left in the cache.
    public let compileCached: Double
    /// Seconds of the first inference.
    public let firstRun: Double
    /// Names of layers whose median is less certain than was asked for, the costliest first.
    public let noisyLayers: [String]
  }

  /// Where the time of one inference went, in seconds. The parts add up to `total`.
  public struct Account: Hashable, Sendable {
    /// Some device was computing a layer.
    public let layers: Double
    /// Values were being copied, and no layer was being computed.
    public let transfers: Double
    /// The host waited for a device to begin, or to say that it had finished.
    public let waits: Double
    /// The rest: dispatch, bookkeeping, and what no clock sees.
    public let residual: Double
    /// The whole.
    public var total: Double { layers + transfers + waits + residual }
  }

  /// One layer.
  public struct Layer: Sendable {
    /// Its name, as `ComputePlan.Layer.name`.
    public let name: String
    /// What it does.
    public let operatorName: String
    /// What it costs, by the device's identifier.
    public let costs: [String: Cost]
    /// Why a device cannot run it, by the device's identifier.
    public let unsupported: [String: String]
    /// The branches and loops that it lies in, as `ComputePlan.Layer.region`; nil at the top.
    public let region: String?
    /// How often one prediction ran it; its costs are those of one time.
    public let runs: Double
  }

  /// What one layer costs on one device: the median of warm runs within the whole model.
  public struct Cost: Hashable, Sendable {
    /// The median, in seconds.
    public let seconds: Double
    /// Of the median.
    public let interval: Interval
    /// How many runs.
    public let samples: Int
    /// Whether the interval stayed wider than was asked for.
    public let isNoisy: Bool
    /// Whether the device's own clock timed it, or the host's.
    public let isDeviceTime: Bool
  }

  /// What a copy of n bytes costs: `latency` + n / `bytesPerSecond`, waiting for the device included.
  public struct Transfer: Hashable, Sendable {
    /// The identifier of the device that has the value.
    public let from: String
    /// The identifier of the device that gets it.
    public let to: String
    /// Seconds for any copy.
    public let latency: Double
    /// Infinite where the two share memory and size costs nothing.
    public let bytesPerSecond: Double
    /// Whether both address the same memory.
    public let isShared: Bool
  }

  /// A plan's prediction against the same plan run.
  public struct Check: Hashable, Sendable {
    /// The device that runs everything, or `best plan`.
    public let label: String
    /// Seconds of one inference, from the layers and copies measured.
    public let predicted: Double
    /// The median of the runs, in seconds.
    public let measured: Double
  }

  /// One for each device, in the machine's order. Of a function of several graphs, about the one with the most work.
  public var devices: [DeviceRun] { result.devices.map(DeviceRun.init) }
  /// One for each layer of each graph, those of the graph with the most work first.
  public var layers: [Layer] { parts.flatMap(\.result.nodes).map(Layer.init) }
  /// Plans that were run without timers between the rounds that they were predicted from.
  public var checks: [Check] {
    result.checks.map { Check(label: $0.label, predicted: $0.predicted, measured: $0.measured) }
  }
  /// One for each ordered pair of devices.
  public var transfers: [Transfer] { result.transfers.map(Transfer.init) }
  /// Whether measuring ended early, so that layers or devices are missing.
  public var isPartial: Bool { merged.isPartial }
  /// What the reader should know: devices left out, contention, noise.
  public var remarks: [String] { parts.flatMap(\.result.remarks) }
  /// The machine, in one line.
  public var machine: String { result.profile.machine.reportSummary }

  /// Writes the measurements for `ModelConfiguration.profile` and the command line's `--profile`.
  ///
  /// - Throws: `ModelError` with code `io` where the file cannot be written.
  public func save(to url: URL) throws(ModelError) {
    try LocalFile.write(Data(try ModelError.wrapping { try merged.json() }), to: url.relativePath)
  }

  /// As text, for a terminal.
  ///
  /// - Parameter layers: how many layers are told one by one at most; nil for all.
  package func lines(layers: Int?) -> [String] {
    Array(parts.map { $0.result.lines(layers: layers) }.joined(separator: [""]))
  }

  /// Everything as one JSON document; seconds and bytes.
  public func json() throws(ModelError) -> Data { try ModelError.wrapping { try parts.map(\.result).json() } }

  /// The median inference on each device in the Trace Event Format, for Perfetto and chrome://tracing.
  public func trace() -> Data { Data(TraceExport.chromeJSON(parts.map(\.result).trace)) }

  /// A self-contained HTML page with the plan that these measurements make.
  ///
  /// - Throws: `ModelError` where no plan can be made.
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

/// Today, as reports give it: `2026-03-14 15:09 UTC`.
package enum ReportDate {
  package static func now() -> String {
    let text = Date.now.formatted(.iso8601)
    return String(text.prefix(16)).split(separator: "T").joined(separator: " ") + " UTC"
  }
}
#endif
