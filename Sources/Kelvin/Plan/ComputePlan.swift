public import FoundationEssentials
import KelvinBasics
import KelvinDevices
import KelvinEngine
public import KelvinFeatures
import KelvinGraph
package import KelvinPlanning
import KelvinRuntime

/// Which device runs each operation of a model, what it costs there and elsewhere, and why.
///
/// Asked by operation it answers what Core ML's `MLComputePlan` does, with measured costs; `layers` is the whole plan
/// as it runs, after operations have been fused.
public struct ComputePlan: Sendable {
  /// What a plan makes small or large.
  public enum Goal: String, Hashable, Sendable, CaseIterable {
    /// The seconds of one warm prediction, layer after layer: the sum of all layers and copies.
    case latency
    /// Loading, compiling, the first prediction and as many more as the configuration expects.
    case oneShot = "one-shot"
    /// Predictions a second with several in flight: the device with most to do decides.
    case throughput
    /// Predictions a second for hours: the lesser of 1/bottleneck and (P_sustainable − P_idle)/E, where E is the
    /// dynamic energy of one prediction.
    case sustained
  }

  /// The model's own operations.
  public let modelStructure: ModelStructure
  /// The function's graphs, in the order in which they run.
  ///
  /// One whose sizes depend on data is here as a sample run on made-up inputs found it (`Graph.sampledSizes`); `remarks`
  /// say so, and name one that the run did not come to. A loaded model's own plan has none of them.
  public let graphs: [Graph]
  /// Every layer of every graph, in order: a branch or loop, then what is in it.
  public let layers: [Layer]
  /// A line for each device outside the units asked for that runs what none of the units can: how much, and why. And
  /// which graphs are shown at the sizes of a sample run, or not at all; and devices that failed, without which the model
  /// runs.
  public let remarks: [String]
  /// What the user should know once of how the model was loaded: a stale profile, a cache that cannot be used, a graph of
  /// several.
  package let loadRemarks: [String]
  /// The plan with all that is known of it.
  package let document: FunctionPlanDocument
  private let devices: [String: ComputeDevice]
  private let usages: [String: DeviceUsage]
  private let costs: [String: Cost]
  /// By operation, the layer that has the largest part of it.
  private let layerIndex: [String: Int]

  /// Plans a model without compiling it.
  ///
  /// - Throws: `ModelError` as `Model.load` does.
  public static func load(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration()
  ) async throws(ModelError) -> ComputePlan {
    try await load(ModelAsset(url: url, allowsLinks: configuration.allowsLinks), configuration)
  }

  /// As the public forms, links as the asset has them.
  static func load(
    _ asset: ModelAsset, _ configuration: ModelConfiguration
  ) async throws(ModelError) -> ComputePlan {
    try await BlockingWork.run { (_) throws(ModelError) -> ComputePlan in
      try ComputePlan(ReadModel(asset), configuration: configuration)
    }
  }

  /// Seconds of one warm prediction, where the plan was tried on this machine; nil where it was not.
  public var measured: Double? {
    let parts = document.parts.map { $0.measured($0.explanation.solution) }
    return parts.contains { $0 == nil } ? nil : parts.compactMap { $0 }.reduce(0, +)
  }

  /// The plan as its file has it.
  package var plan: Plan { document.plan }
  private var solutions: [PlanSolution] { document.parts.map(\.explanation.solution) }

  /// - Parameters:
  ///   - explanations: of the graphs that are shown, in their order.
  ///   - trials: of the same; none for none.
  ///   - notes: what else the user should know.
  init(
    _ loaded: LoadedModel, _ explanations: [PlanExplanation], budget: PowerBudget? = nil, trials: [TrialReport?] = [],
    notes: [String] = []
  ) throws {
    let shown = loaded.shownGraphs
    var parts: [PlanDocument] = []
    for (index, explanation) in explanations.enumerated() {
      let plan = try shown[index].plan(explanation, of: loaded.function)
      parts.append(
        PlanDocument(
          loaded, shown[index], explanation, plan, budget: budget?.text,
          trial: index < trials.count ? trials[index] : nil, showsFolded: index == explanations.count - 1))
    }
    let plan = loaded.plan(parts.map { (plan: $0.plan, explanation: $0.explanation) })
    let used = plan.nodes.flatMap { node in node.candidates.map(\.device) + [node.device] }
    let infos = loaded.context.inventory.devices(named: used).map(\.info)
    let devices = Dictionary(uniqueKeysWithValues: infos.map { ($0.id, ComputeDevice($0)) })
    modelStructure = ModelStructure(loaded.program.structure)
    remarks =
      loaded.fallback.remarks + loaded.sizeRemarks + (try zip(shown, explanations).flatMap { try $0.remarks(on: $1) })
    let part = loaded.options.part == nil ? nil : loaded.partRemark
    let precision = try zip(shown, explanations).compactMap { try $0.precisionRemark(on: $1) }.first
    loadRemarks = loaded.remarks + [part, precision].compactMap { $0 } + notes + loaded.cacheRemarks
    document = FunctionPlanDocument(plan, parts)
    self.devices = devices
    graphs = parts.map { Graph($0.plan) }
    let only = graphs[0].name
    let pairs = plan.nodes.compactMap { node in
      Layer(node, of: node.part.isEmpty ? only : node.part, devices).map { (node: node, layer: $0) }
    }
    layers = pairs.map(\.layer)
    let total = plan.nodes.reduce(0) { $0 + ($1.chosen?.seconds ?? 0) }
    var usages: [String: DeviceUsage] = [:]
    var costs: [String: Cost] = [:]
    // Of several equal parts, as of a condition that is tested before a loop and in it, the one that runs most often.
    var index: [String: (layer: Int, share: Double, runs: Double)] = [:]
    for (number, (node, layer)) in pairs.enumerated() {
      for origin in node.origins {
        let known = index[origin.name].map { ($0.share, $0.runs) } ?? (-1, 0)
        if (origin.share, layer.runs) > known {
          index[origin.name] = (number, origin.share, layer.runs)
          usages[origin.name] = layer.usage
        }
        guard let cost = layer.cost else { continue }
        let before = costs[origin.name]
        costs[origin.name] = Cost(
          weight: (before?.weight ?? 0) + (total > 0 ? origin.share * cost.seconds / total : 0),
          seconds: (before?.seconds ?? 0) + origin.share * cost.seconds,
          isMeasured: cost.isMeasured && before?.isMeasured != false)
      }
    }
    self.usages = usages
    self.costs = costs
    layerIndex = index.mapValues(\.layer)
  }
}

extension ComputePlan {
  /// Seconds of one warm prediction, predicted: the sum of all layers and copies, whatever the goal.
  public var predicted: Double { plan.predicted }

  /// What the plan was made for.
  public var goal: Goal { Goal(rawValue: plan.goal.rawValue) ?? .latency }

  /// Whether no placement serves the goal better, as far as the costs are right.
  public var isExact: Bool { plan.method == .exact }

  /// How much better another placement might serve the goal at most: (found − bound)/bound, 0 where the plan is exact.
  public var gap: Double { plan.gap }

  /// The device that would run everything it can in the least seconds, predicted; nil where there is none.
  public var bestSingleDevice: (device: ComputeDevice, predicted: Double)? {
    plan.bestSingleDevice.flatMap { single in devices[single.device].map { ($0, single.predicted) } }
  }

  /// Predictions a second with several in flight, predicted; nil but for the goals `throughput` and `sustained`. Of
  /// several graphs, what there is at least: as if none of them overlapped.
  public var framesPerSecond: Double? { sum { $0.framesPerSecond.map { 1 / $0 } }.map { 1 / $0 } }

  /// What holds `framesPerSecond` down: a device, or `power`; nil but for these goals.
  public var limitedBy: String? {
    solutions.min { ($0.framesPerSecond ?? .infinity) < ($1.framesPerSecond ?? .infinity) }?.limitedBy
  }

  /// Joules of one prediction above those of an idle machine; nil where some layer's are not known.
  public var joules: Double? { sum(\.joules) }

  /// Seconds that are paid once: loading, devices, compiling and first runs; nil but for the goal `oneShot`.
  public var startSeconds: Double? { sum(\.startSeconds) }

  /// Every copy of a value between devices, in the order in which they are made.
  public var transfers: [Transfer] { solutions.flatMap(\.transfers).map(Transfer.init) }

  /// Of all graphs; nil where one of them has none.
  private func sum(_ value: (PlanSolution) -> Double?) -> Double? {
    let values = solutions.compactMap(value)
    return values.count == solutions.count ? values.reduce(0, +) : nil
  }

  /// Where an operation runs and could run; nil for one that was folded away or computed when the model was loaded.
  public func deviceUsage(for operation: ModelStructure.Program.Operation) -> DeviceUsage? { usages[operation.name] }
  /// Where a layer of a network or a node of an ONNX graph runs and could run; nil for one that was folded away.
  public func deviceUsage(for layer: ModelStructure.NeuralNetwork.Layer) -> DeviceUsage? { usages[layer.name] }

  /// An operation's cost, its part of a fused node's included; nil for one that costs nothing at run time.
  public func estimatedCost(of operation: ModelStructure.Program.Operation) -> Cost? { costs[operation.name] }
  /// A layer's or node's cost, its part of a fused node's included; nil for one that costs nothing at run time.
  public func estimatedCost(of layer: ModelStructure.NeuralNetwork.Layer) -> Cost? { costs[layer.name] }

  /// The layer of the plan that runs an operation, or most of it; nil for one that was folded away.
  public func layer(for operation: ModelStructure.Program.Operation) -> Layer? { layer(named: operation.name) }
  /// The layer of the plan that runs a network's layer or an ONNX graph's node, or most of it; nil for one that was
  /// folded away.
  public func layer(for layer: ModelStructure.NeuralNetwork.Layer) -> Layer? { self.layer(named: layer.name) }

  private func layer(named origin: String) -> Layer? { layerIndex[origin].map { layers[$0] } }

  /// Writes the plan as a file, for `ModelConfiguration.plan` and the command line's `--plan`. The file names model,
  /// devices and precision, and is checked against them when it is taken back.
  ///
  /// - Throws: `ModelError` with code `io` where the file cannot be written.
  public func save(to url: URL) throws(ModelError) {
    try LocalFile.write(try document.file(), to: url.relativePath)
  }
}

extension ComputePlan {
  #if Measuring
  /// A self-contained HTML page: the placement as a graph, what every layer costs on each device, and why it runs where
  /// it does.
  public func htmlReport() -> String { document.page() }
  #endif

  /// The plan and all that is known of it as one JSON document, as `kelvin plan --json` prints it; seconds, bytes and
  /// joules.
  ///
  /// - Throws: `ModelError` with code `generic` where it cannot be written out.
  public func json() throws(ModelError) -> Data {
    try ModelError.wrapping { Data(try JSONText.encode(document, unspeakable: .text)) }
  }
}

extension ComputePlan.Goal {
  var planned: Goal { Goal(rawValue: rawValue) ?? .latency }
}

extension Plan.Node {
  /// The cost on the device that was chosen.
  var chosen: PlanCandidate? { candidates.first { $0.device == device } }
}
