import KelvinImport

/// A branch that the host executes: it evaluates the condition and runs one side.
struct NetworkHostBranch {
  let name: String
  /// The network before the branch, which produces the condition.
  let start: NetworkTensors
  let condition: String
  /// The side that runs if the condition holds, and the other side.
  let then: NetworkTensors
  let otherwise: NetworkTensors
  /// The names of the tensors that both sides produce, in order.
  let results: [String]
  /// The slot in the outer network of the tensor that decides.
  private let decides: String
  private let differs: Bool

  /// Returns nil for other layers, and if a side may leave an iteration of a loop. If only one side computes a tensor
  /// that is read after the branch, the other side gives it a single 0.
  init?(_ layer: NetworkLayer, in outer: NetworkTensors, readLater: Set<String>, depth: Int) {
    guard layer.number == Layers.branch, !layer.networks.contains(where: \.mayLeave),
      let condition = layer.inputs.first
    else { return nil }
    let results = layer.networks.reduce(Set()) { $0.union($1.computed) }.intersection(readLater).sorted()
    func side(_ index: Int, _ suffix: String) -> NetworkTensors {
      var side = outer.inside(layer, suffix)
      side.add(layer.networks[index], readLater: Set(results), depth: depth)
      side.add(
        results.map { NetworkLayer(setting: $0, to: 0, unlessThere: true, beside: layer) }, readLater: Set(results))
      return side
    }
    var (then, otherwise) = (side(0, ".then"), side(1, ".else"))
    let left = results.map { (before: outer.slot($0), then.leave(.tensor($0)), otherwise.leave(.tensor($0))) }
    differs =
      layer.mustRunOnHost
      || left.contains { then.joins($0.before, into: $0.1) != otherwise.joins($0.before, into: $0.2) }
    var start = outer.inside(layer, ".start")
    self.condition = start.leave(.truth(condition))
    name = layer.name
    decides = outer.slot(condition)
    (self.start, self.then, self.otherwise, self.results) = (start, then, otherwise, results)
  }

  var staged: StagedBranch {
    StagedBranch(
      condition: decides,
      sides: [then, otherwise].map { StagedBlock(operations: $0.operations, outputs: $0.left) }, differs: differs)
  }
}
