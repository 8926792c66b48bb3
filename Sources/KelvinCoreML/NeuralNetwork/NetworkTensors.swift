import KelvinImport

/// The tensors of a network as slots, by which its layers can be told apart where a graph is cut: control flow and the copy
/// layer compute a name again, and each of its values has a slot of its own. A feature that the network takes is one too.
struct NetworkTensors {
  /// The layers in their order, and behind them what is left.
  private(set) var items: [NetworkItem] = []
  /// Where among them each slot is computed.
  private var makers: [String: Int] = [:]
  private var current: [String: String] = [:]
  private let prefix: String
  private var count = 0

  /// - Parameters:
  ///   - prefix: of the slots, no other network's.
  ///   - inputs: the features that it takes.
  init(_ prefix: String, inputs: [String]) {
    self.prefix = prefix
    for input in inputs { current[input] = input }
  }

  /// Those that a network inside a layer finds, which follows the items.
  func inside(_ layer: NetworkLayer, _ suffix: String = "") -> NetworkTensors {
    var inside = NetworkTensors("\(prefix).\(items.count)\(suffix)", inputs: [])
    for use in layer.staged.uses { inside.current[use.name] = current[use.name] }
    return inside
  }

  var operations: [StagedOperation] { items.map(\.operation) }

  /// The slots of what is left.
  var left: [String] { items.compactMap { if case .left(let left) = $0.content { left.slot } else { nil } } }

  func has(_ name: String) -> Bool { current[name] != nil }

  func slot(_ name: String) -> String { current[name] ?? "\(prefix).0/\(name)" }

  /// Gives a tensor a new value, computed by what is added next or given from outside.
  mutating func define(_ name: String) -> String {
    let slot = newSlot(name)
    current[name] = slot
    return slot
  }

  private mutating func newSlot(_ name: String) -> String {
    count += 1
    return "\(prefix).\(count)/\(name)"
  }

  /// - Parameters:
  ///   - readLater: the tensors that something behind the layers reads.
  ///   - depth: in how many networks they lie, as `NetworkControlFlow` counts them.
  mutating func add(_ layers: [NetworkLayer], readLater: Set<String>, depth: Int = 0) {
    let mayRunOnHost = 1...NetworkWriter.controlLimit ~= layers.count { $0.isControl }
    let places = mayRunOnHost ? NetworkTensorUses(layers) : nil
    for (index, layer) in layers.enumerated() {
      if layer.setting?.unlessThere == true, layer.outputs.allSatisfy(has) { continue }
      var operation = layer.staged
      var controlFlow: NetworkControlFlow?
      if let places, !layer.networks.isEmpty {
        let needed = CollectionOfOne(layer).computed.filter {
          places.isRead($0, from: index + 1, later: readLater, leaving: [])
        }
        controlFlow = NetworkControlFlow(layer, in: self, readLater: needed, depth: depth)
        operation.controlFlow = controlFlow?.staged
        operation.outputs.removeAll { !needed.contains($0) }
      }
      // What control flow computes may not have been there.
      let uses = operation.uses.filter { has($0.name) || layer.inputs.contains($0.name) }
      var names = names(of: uses.map(\.name))
      operation.uses = uses.map { StagedUse(name: slot($0.name), needsValue: $0.needsValue) }
      operation.outputs = operation.outputs.map { name in
        let slot = define(name)
        names[slot] = name
        return slot
      }
      append(NetworkItem(operation: operation, content: .layer(layer, controlFlow: controlFlow), names: names))
    }
  }

  /// Leaves a tensor as an output of the model, or for its host steps.
  mutating func leave(_ name: String, as feature: String) { leave(.output, reading: name, in: feature) }

  /// - Returns: the slot that has it.
  mutating func leave(_ value: NetworkPartOutput.Value) -> String {
    let slot = newSlot(value.tensor ?? "trips")
    leave(.left(NetworkPartOutput(slot: slot, value: value)), reading: value.tensor, in: slot)
    return slot
  }

  private mutating func leave(_ content: NetworkItem.Content, reading name: String?, in slot: String) {
    let read = [name].compactMap { $0 }
    append(
      NetworkItem(
        operation: StagedOperation(
          uses: read.map { StagedUse(name: self.slot($0), needsValue: false) }, outputs: [slot]),
        content: content, names: names(of: read)))
  }

  private mutating func append(_ item: NetworkItem) {
    for slot in item.operation.outputs { makers[slot] = items.count }
    items.append(item)
  }

  /// The slots that tensors are in, with their names.
  private func names(of tensors: [String]) -> [String: String] {
    Dictionary(tensors.compactMap { name in current[name].map { ($0, name) } }) { first, _ in first }
  }

  /// Whether what a slot holds is joined to something else, and that is left in another.
  func joins(_ given: String, into left: String) -> Bool {
    var slot = left
    while let item = makers[slot].map({ items[$0] }) {
      switch item.content {
      case .layer(let layer, _) where layer.isJoin: return item.operation.uses.contains { $0.name == given }
      case .layer(let layer, _) where !layer.isCopy: return false
      case .layer, .left, .output:
        guard let read = item.operation.uses.first?.name else { return false }
        slot = read
      }
    }
    return false
  }
}

extension NetworkLayer {
  fileprivate var isCopy: Bool { number == NetworkSchema.NeuralNetworkLayer.copy }

  fileprivate var isJoin: Bool {
    [NetworkSchema.NeuralNetworkLayer.concat, NetworkSchema.NeuralNetworkLayer.concatND].contains(number)
  }
}
