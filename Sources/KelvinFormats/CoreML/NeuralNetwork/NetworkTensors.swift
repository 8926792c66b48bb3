/// The tensors of a network as slots, by which its layers can be told apart where a graph is cut: control flow and the copy
/// layer compute a name again, and each of its values has a slot of its own. A feature that the network takes is one too.
struct NetworkTensors {
  /// The layers in their order, then each output as a feature, then the scores.
  private(set) var operations: [StagedOperation] = []
  /// The name of each slot's tensor.
  private var names: [String: String] = [:]
  private var current: [String: String] = [:]
  private let place: Int

  /// - Parameters:
  ///   - place: of the network among the stages of its graph.
  ///   - outputs: the features that it computes.
  ///   - scores: the tensor with one number for each label.
  init(_ layers: [NetworkLayer], at place: Int, inputs: [String], outputs: [String], scores: String?) {
    self.place = place
    for input in inputs { (current[input], names[input]) = (input, input) }
    for layer in layers {
      let staged = layer.staged
      // What control flow computes may not have been there.
      let uses = staged.uses.filter { current[$0.name] != nil || layer.inputs.contains($0.name) }
      var slots = staged
      slots.uses = uses.map { StagedUse(name: slot($0.name), needsValue: $0.needsValue) }
      slots.outputs = staged.outputs.map { define($0) }
      operations.append(slots)
    }
    let left = outputs.map { ($0, $0) } + (scores.map { [($0, StageSlot.scores)] } ?? [])
    for (name, feature) in left {
      operations.append(
        StagedOperation(uses: [StagedUse(name: slot(name), needsValue: false)], outputs: [feature]))
    }
  }

  private func slot(_ name: String) -> String { current[name] ?? "#\(place).0/\(name)" }

  private mutating func define(_ name: String) -> String {
    let slot = "#\(place).\(names.count)/\(name)"
    (current[name], names[slot]) = (slot, name)
    return slot
  }

  /// Of some slots those that are tensors of this network which its layers compute, by their names.
  func computed(among slots: [String], except features: [String]) -> [(slot: String, name: String)] {
    slots.filter { !features.contains($0) }.compactMap { slot in names[slot].map { (slot, $0) } }
  }

  /// Whether some of the operations can run on their own: of each name, one value at a time is there, and what leaves is
  /// there at the end.
  func canRun(_ operations: [Int], entering: [String], leaving: [String]) -> Bool {
    var held: [String: String] = [:]
    for slot in entering {
      guard let name = names[slot] else { continue }
      guard held.updateValue(slot, forKey: name) == nil else { return false }
    }
    func isHeld(_ slot: String) -> Bool { names[slot].map { held[$0] == slot } ?? true }
    for index in operations {
      guard self.operations[index].uses.allSatisfy({ isHeld($0.name) }) else { return false }
      for slot in self.operations[index].outputs { if let name = names[slot] { held[name] = slot } }
    }
    return leaving.allSatisfy(isHeld)
  }
}
