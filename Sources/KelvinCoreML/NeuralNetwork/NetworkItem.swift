import KelvinImport

/// A layer of a network, or an output at the network's end, with the slots of its tensors.
struct NetworkItem {
  enum Content {
    case layer(NetworkLayer, controlFlow: NetworkControlFlow?)
    case left(NetworkPartOutput)
    /// A feature of the model, or the scores of a classifier.
    case output
  }

  let operation: StagedOperation
  let content: Content
  /// The names of the tensors in the slots that the item reads and computes.
  let names: [String: String]

  var controlFlow: NetworkControlFlow? { if case .layer(_, let controlFlow) = content { controlFlow } else { nil } }
}

/// An output of a part of a network, and its slot.
struct NetworkPartOutput {
  enum Value {
    /// A tensor in its logical shape.
    case tensor(String)
    /// Whether a tensor of one number holds as a condition.
    case truth(String)
    case number(Int)

    var tensor: String? {
      switch self {
      case .tensor(let name), .truth(let name): name
      case .number: nil
      }
    }
  }

  let slot: String
  let value: Value
}

extension [NetworkItem] {
  private var names: [String: String] { reduce(into: [:]) { $0.merge($1.names) { first, _ in first } } }

  /// Returns those of the given slots that hold tensors that this network's layers compute, with their names.
  func computed(among slots: [String], except features: [String]) -> [(slot: String, name: String)] {
    let names = names
    return slots.filter { !features.contains($0) }.compactMap { slot in names[slot].map { (slot, $0) } }
  }

  /// Whether the items can run on their own: each name has one value at a time, and the leaving values exist at the
  /// end.
  func canRun(entering: [String], leaving: [String]) -> Bool {
    let names = names
    var held: [String: String] = [:]
    for slot in entering {
      guard let name = names[slot] else { continue }
      guard held.updateValue(slot, forKey: name) == nil else { return false }
    }
    func isHeld(_ slot: String) -> Bool { names[slot].map { held[$0] == slot } ?? true }
    for item in self {
      guard item.operation.uses.allSatisfy({ isHeld($0.name) }) else { return false }
      for slot in item.operation.outputs { if let name = names[slot] { held[name] = slot } }
    }
    return leaving.allSatisfy(isHeld)
  }
}
