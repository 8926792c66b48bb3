public import FoundationEssentials
import KelvinBasics
import KelvinDevices
import KelvinEngine
public import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
package import KelvinPlanning
import KelvinRuntime
import KelvinThermal

/// The device of each operation of a model, its cost on that and other devices, and the reason.
///
/// The methods that take an operation correspond to Core ML's `MLComputePlan`, with measured costs. `layers` is the
/// whole plan as it runs, after fusion.
public struct ComputePlan: Sendable {
  /// The objective of a plan.
  public enum Goal: String, Hashable, Sendable, CaseIterable {
    /// The time of one warm prediction: the sum of all layers and copies.
    case latency
    /// Loading, compiling, the first prediction and the configuration's expected number of further predictions.
    case oneShot = "one-shot"
    /// Predictions per second with several in flight, limited by the busiest device.
    case throughput
    /// Predictions per second sustained for hours: the lesser of 1/bottleneck and (P_sustainable − P_idle)/E, where E
    /// is the dynamic energy of one prediction.
    case sustained
  }

  /// The model's own operations.
  public let modelStructure: ModelStructure
  /// The function's graphs, in the order in which they run.
  ///
  /// A graph with data-dependent sizes is listed at the sizes of a sample run on generated inputs
  /// (`Graph.sampledSizes`). `remarks` say so, and name graphs that the sample run did not reach. The plan of a loaded
  /// model omits these graphs.
  public let graphs: [Graph]
  /// Every layer of every graph, in order. A branch or loop precedes the layers that it contains.
  public let layers: [Layer]
  /// Remarks about devices outside the requested units that run operations which the units do not support, with their
  /// share and the reason. Other remarks name graphs shown at the sizes of a sample run, graphs not shown at all, and
  /// failed devices.
  public let remarks: [String]
  /// Messages about loading: a stale profile, an unusable cache, the choice of one graph of several.
  package let loadRemarks: [String]
  /// The plan with all background information.
  package let document: FunctionPlanDocument
  private let devices: [String: ComputeDevice]
  private let usages: [String: DeviceUsage]
  private let costs: [String: Cost]
  /// The index of the layer that contains the largest share of each operation.
  private let layerIndex: [String: Int]

  /// Plans a model without compiling it.
  ///
  /// - Throws: `ModelError` as `Model.load` does.
  public static func load(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration()
  ) async throws(ModelError) -> ComputePlan {
    try await load(
      ModelAsset(url: url, isolation: configuration.isolation).opened(as: configuration), configuration)
  }

  /// Plans an asset's model. The asset decides whether links are followed.
  static func load(
    _ asset: ModelAsset, _ configuration: ModelConfiguration
  ) async throws(ModelError) -> ComputePlan {
    try await BlockingWork.run { (_) throws(ModelError) -> ComputePlan in
      try ComputePlan(ReadModel(asset), configuration: configuration)
    }
  }

  /// The measured time of one warm prediction; nil if the plan was not run on this machine.
  public var measured: Duration? {
    let parts = document.parts.map { $0.measured($0.explanation.solution) }
    return parts.contains { $0 == nil } ? nil : Duration.limited(seconds: parts.compactMap { $0 }.reduce(0, +))
  }

  /// The plan as its file stores it.
  package var plan: Plan { document.plan }
  private var solutions: [PlanSolution] { document.parts.map(\.explanation.solution) }

  /// - Parameters:
  ///   - explanations: the plans of the graphs to show, in their order.
  ///   - trials: the trials of the same graphs; empty for none.
  ///   - notes: further messages for the user.
  init(
    _ loaded: LoadedModel, _ explanations: [PlanExplanation], budget: PowerBudget? = nil, trials: [TrialReport?] = [],
    notes: [String] = []
  ) throws {
    let shown = loaded.shownGraphs
    let threads = loaded.options.request.threads
    let isProfiled = loaded.whatIf == nil && loaded.context.costs.profile?.pace[threads] != nil
    let pace = isProfiled ? ProcessorPace.measure(threads: threads) : nil
    var parts: [PlanDocument] = []
    for (index, explanation) in explanations.enumerated() {
      let plan = try shown[index].plan(explanation, of: loaded.function)
      parts.append(
        PlanDocument(
          loaded, shown[index], explanation, plan, budget: budget?.text,
          trial: index < trials.count ? trials[index] : nil, pace: pace, showsFolded: index == explanations.count - 1))
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
    // If several parts are equal, such as a condition tested before and in a loop, the part that runs most often is
    // used.
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
          time: (before?.time ?? .zero) + Duration.limited(seconds: origin.share * cost.seconds),
          isMeasured: cost.isMeasured && before?.isMeasured != false)
      }
    }
    self.usages = usages
    self.costs = costs
    layerIndex = index.mapValues(\.layer)
  }
}

extension ComputePlan {
  /// The predicted time of one warm prediction: the sum of all layers and copies, whatever the goal.
  public var predicted: Duration { Duration.limited(seconds: plan.predicted) }

  /// The share of `predicted` by which a run may differ, from predictions that were compared with runs. It is wider
  /// while other programs slow the processors. Nil if it is unknown.
  public var predictionError: Double? { document.expectedError.share }

  /// The objective that the plan was made for.
  public var goal: Goal { Goal(rawValue: plan.goal.rawValue) ?? .latency }

  /// Whether the placement is proven optimal for the goal under the given costs.
  public var isExact: Bool { plan.method == .exact }

  /// The optimality gap: (found − bound)/bound, 0 if the plan is exact.
  public var gap: Double { plan.gap }

  /// The device with the smallest predicted time if it runs every operation that it supports; nil if there is none.
  public var bestSingleDevice: (device: ComputeDevice, predicted: Duration)? {
    plan.bestSingleDevice.flatMap { single in
      devices[single.device].map { ($0, Duration.limited(seconds: single.predicted)) }
    }
  }

  /// The predicted predictions per second with several in flight; nil unless the goal is `throughput` or `sustained`.
  /// For several graphs it is a lower bound that assumes no overlap.
  public var framesPerSecond: Double? { sum { $0.framesPerSecond.map { 1 / $0 } }.map { 1 / $0 } }

  /// The bottleneck of `framesPerSecond`: a device, or `power`; nil unless the goal is `throughput` or `sustained`.
  public var limitedBy: String? {
    solutions.min { ($0.framesPerSecond ?? .infinity) < ($1.framesPerSecond ?? .infinity) }?.limitedBy
  }

  /// The joules of one prediction above an idle machine; nil if the energy of a layer is not known.
  public var joules: Double? { sum(\.joules) }

  /// The time that is paid once: loading, devices, compiling and first runs; nil unless the goal is `oneShot`.
  public var startTime: Duration? { sum(\.startSeconds).map(Duration.limited(seconds:)) }

  /// Every copy of a value between devices, in execution order.
  public var transfers: [Transfer] { solutions.flatMap(\.transfers).map(Transfer.init) }

  /// The sum over all graphs; nil if the value is missing for one of them.
  private func sum(_ value: (PlanSolution) -> Double?) -> Double? {
    let values = solutions.compactMap(value)
    return values.count == solutions.count ? values.reduce(0, +) : nil
  }

  /// Returns the placement of an operation; nil if the operation was folded or computed when the model was loaded.
  public func deviceUsage(for operation: ModelStructure.Program.Operation) -> DeviceUsage? { usages[operation.name] }
  /// Returns the placement of a network's layer or an ONNX graph's node; nil if it was folded.
  public func deviceUsage(for layer: ModelStructure.NeuralNetwork.Layer) -> DeviceUsage? { usages[layer.name] }

  /// Returns an operation's cost, including its share of a fused node; nil if it costs nothing at run time.
  public func estimatedCost(of operation: ModelStructure.Program.Operation) -> Cost? { costs[operation.name] }
  /// Returns a layer's or node's cost, including its share of a fused node; nil if it costs nothing at run time.
  public func estimatedCost(of layer: ModelStructure.NeuralNetwork.Layer) -> Cost? { costs[layer.name] }

  /// Returns the layer of the plan that runs all or most of an operation; nil if the operation was folded.
  public func layer(for operation: ModelStructure.Program.Operation) -> Layer? { layer(named: operation.name) }
  /// Returns the layer of the plan that runs all or most of a network's layer or an ONNX graph's node; nil if it was
  /// folded.
  public func layer(for layer: ModelStructure.NeuralNetwork.Layer) -> Layer? { self.layer(named: layer.name) }

  private func layer(named origin: String) -> Layer? { layerIndex[origin].map { layers[$0] } }

  /// Writes the plan to a file, for `ModelConfiguration.plan` and the command line's `--plan`. The file names the
  /// model, devices and precision, and is checked against them when it is read.
  ///
  /// - Throws: `ModelError` with code `io` if the file cannot be written.
  public func save(to url: URL) throws(ModelError) {
    try LocalFile.write(try document.file(), to: url.relativePath)
  }
}

extension ComputePlan {
  /// Returns the plan and its background information as the JSON document of `kelvin plan --json`. Units are seconds,
  /// bytes and joules.
  ///
  /// - Throws: `ModelError` with code `generic` if encoding fails.
  public func json() throws(ModelError) -> Data {
    try ModelError.wrapping { Data(try JSONText.encode(document, unspeakable: .text)) }
  }
}

extension ComputePlan.Goal {
  var planned: Goal { Goal(rawValue: rawValue) ?? .latency }
}
