public import FoundationEssentials
import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinRuntime

/// Which device runs each operation of a model, what it costs there and elsewhere, and why.
public struct ComputePlan: Sendable {
  /// The model's own operations.
  public let modelStructure: ModelStructure
  /// Seconds of one warm prediction, predicted.
  public let predicted: Double

  private let usages: [String: DeviceUsage]
  private let costs: [String: Cost]

  /// Where an operation runs.
  public struct DeviceUsage: Hashable, Sendable {
    /// The device that runs it.
    public let preferred: ComputeDevice
    /// Every device of those asked for that could run it.
    public let supported: [ComputeDevice]
    /// Why the preferred device was preferred.
    public let reason: String
  }

  /// What an operation costs.
  public struct Cost: Hashable, Sendable {
    /// The operation's share of the whole model's predicted cost, 0…1.
    public let weight: Double
    /// Seconds on its device.
    public let seconds: Double
    /// Whether the seconds were measured on this machine, or estimated.
    public let isMeasured: Bool
  }

  /// Plans a model without compiling it.
  ///
  /// - Throws: `ModelError` as `Model.load` does.
  public static func load(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration()
  ) async throws(ModelError) -> ComputePlan {
    try await BlockingWork.run { (_) throws(ModelError) -> ComputePlan in
      let options = try configuration.options()
      return try ModelError.wrapping {
        let loaded = try LoadedModel(path: url.path, options: options)
        return ComputePlan(loaded, try loaded.explain())
      }
    }
  }

  /// Where an operation runs and could run; nil for one that was folded away or computed when the model was loaded.
  public func deviceUsage(for operation: ModelStructure.Program.Operation) -> DeviceUsage? { usages[operation.name] }
  /// Where a layer of a network or a node of an ONNX graph runs and could run; nil for one that was folded away.
  public func deviceUsage(for layer: ModelStructure.NeuralNetwork.Layer) -> DeviceUsage? { usages[layer.name] }

  /// An operation's cost, its part of a fused node's included; nil for one that costs nothing at run time.
  public func estimatedCost(of operation: ModelStructure.Program.Operation) -> Cost? { costs[operation.name] }
  /// A layer's or node's cost, its part of a fused node's included; nil for one that costs nothing at run time.
  public func estimatedCost(of layer: ModelStructure.NeuralNetwork.Layer) -> Cost? { costs[layer.name] }

  init(_ loaded: LoadedModel, _ explanation: PlanExplanation) {
    modelStructure = ModelStructure(loaded.program.structure)
    predicted = explanation.solution.predicted
    let devices = Dictionary(
      uniqueKeysWithValues: loaded.context.inventory.devices.map { ($0.info.id, ComputeDevice($0.info)) })
    let records = Dictionary(uniqueKeysWithValues: explanation.nodes.map { ($0.node, $0) })
    var usages: [String: DeviceUsage] = [:]
    var costs: [String: Cost] = [:]
    let total = explanation.nodes.reduce(0) { $0 + ($1.chosen?.seconds ?? 0) }
    for node in loaded.context.graph.nodes {
      guard let record = records[node.name], let preferred = devices[record.device] else { continue }
      let supported = record.candidates.filter { $0.seconds != nil }.compactMap { devices[$0.device] }
      for (origin, share) in node.originShares {
        usages[origin.name] = DeviceUsage(preferred: preferred, supported: supported, reason: record.reason)
        guard let chosen = record.chosen, let seconds = chosen.seconds else { continue }
        let before = costs[origin.name]
        costs[origin.name] = Cost(
          weight: (before?.weight ?? 0) + (total > 0 ? share * seconds / total : 0),
          seconds: (before?.seconds ?? 0) + share * seconds,
          isMeasured: chosen.source == .measured && before?.isMeasured != false)
      }
    }
    self.usages = usages
    self.costs = costs
  }
}

extension NodeExplanation {
  /// The cost on the device that was chosen.
  var chosen: PlanCandidate? { candidates.first { $0.device == device } }
}
