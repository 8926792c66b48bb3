import KelvinImport

/// The tensors of a network as slots. A slot identifies one value where a graph is split: control flow and the copy
/// layer compute a name again, and each value has its own slot. An input feature of the network is a slot too.
struct NetworkTensors {
  /// The layers in their order, followed by the outputs.
  private(set) var items: [NetworkItem] = []
  /// By slot, the index of the item that computes it.
  private var makers: [String: Int] = [:]
  private var current: [String: String] = [:]
  private let prefix: String
  private var count = 0

  /// Creates the slots of a network's inputs.
  ///
  /// - Parameters:
  ///   - prefix: The prefix of the slots, unique among networks.
  ///   - inputs: The input features of the network.
  init(_ prefix: String, inputs: [String]) {
    self.prefix = prefix
    for input in inputs { current[input] = input }
  }

  /// Returns the initial tensors of a network nested in a layer that is added next.
  func inside(_ layer: NetworkLayer, _ suffix: String = "") -> NetworkTensors {
    var inside = NetworkTensors("\(prefix).\(items.count)\(suffix)", inputs: [])
    for use in layer.staged.uses { inside.current[use.name] = current[use.name] }
    return inside
  }

  var operations: [StagedOperation] { items.map(\.operation) }

  /// The slots of the outputs.
  var left: [String] { items.compactMap { if case .left(let left) = $0.content { left.slot } else { nil } } }

  func has(_ name: String) -> Bool { current[name] != nil }

  func slot(_ name: String) -> String { current[name] ?? "\(prefix).0/\(name)" }

  /// Defines a new value for a tensor, computed by the next item or given from outside.
  mutating func define(_ name: String) -> String {
    let slot = newSlot(name)
    current[name] = slot
    return slot
  }

  private mutating func newSlot(_ name: String) -> String {
    count += 1
    return "\(prefix).\(count)/\(name)"
  }

  /// Adds layers.
  ///
  /// - Parameters:
  ///   - readLater: The tensors that layers after these read.
  ///   - depth: The number of networks around the layers, as `NetworkControlFlow` counts them.
  mutating func add(_ layers: [NetworkLayer], readLater: Set<String>, depth: Int = 0) {
    let mayRunOnHost = 1...NetworkWriter.controlLimit ~= layers.count { $0.isControl }
    let places = mayRunOnHost ? NetworkTensorUses(layers) : nil
    for (index, layer) in layers.enumerated() {
      if layer.setting?.unlessThere == true, layer.outputs.allSatisfy(has) { continue }
      var operation = layer.staged
      var controlFlow: NetworkControlFlow?
      if layer.custom != nil {
        controlFlow = NetworkControlFlow(layer, in: self, readLater: [], depth: depth)
        operation.controlFlow = controlFlow?.staged
      } else if let places, !layer.networks.isEmpty {
        let needed = CollectionOfOne(layer).computed.filter {
          places.isRead($0, from: index + 1, later: readLater, leaving: [])
        }
        controlFlow = NetworkControlFlow(layer, in: self, readLater: needed, depth: depth)
        operation.controlFlow = controlFlow?.staged
        operation.outputs.removeAll { !needed.contains($0) }
      }
      // Tensors that control flow computes may be undefined before it.
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

  /// Adds a tensor as an output of the model, or as an input of its host operations.
  mutating func leave(_ name: String, as feature: String) { leave(.output, reading: name, in: feature) }

  /// Adds an output.
  ///
  /// - Returns: The slot of the output.
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

  /// Returns the slots of tensors, with their names.
  private func names(of tensors: [String]) -> [String: String] {
    Dictionary(tensors.compactMap { name in current[name].map { ($0, name) } }) { first, _ in first }
  }

  /// Whether the value in the slot `left` is a concatenation that includes the value in the slot `given`.
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
  fileprivate var isCopy: Bool { number == Layers.copy }

  fileprivate var isJoin: Bool {
    [Layers.concat, Layers.concatND].contains(number)
  }
}
