import KelvinGraph
import KelvinImport

/// Emits the layers of a network and of its nested networks.
///
/// Control flow layers have no outputs of their own: their networks compute the tensors of the network around them. The
/// results of a branch, and the carried values of a loop, are those of these tensors that are read later.
struct NetworkWriter {
  /// The loop whose body is being emitted.
  struct EnclosingLoop {
    /// The tensor that tells whether a break ended the loop.
    let broken: String
    /// The tensors that are read after the end of an iteration.
    let readLater: Set<String>
    /// Whether the body is emitted only to determine types.
    var isTrial = false
  }

  /// The outcome at the end of a sequence of layers.
  enum End {
    case onwards
    /// The sequence left the iteration of the enclosing loop.
    case left
    /// The value, known when the model runs, tells whether the sequence left the iteration.
    case mayHaveLeft(ValueID)
  }

  let scope: LayerScope
  let file: String
  var loop: EnclosingLoop?
  /// Whether the network is nested in control flow; its tensors may then be defined already.
  var isNested = false
  static let controlLimit = 1024

  var emitter: Emitter { scope.emitter }

  /// Emits layers.
  ///
  /// - Parameter readLater: The tensors that layers after these read.
  func write(_ layers: ArraySlice<NetworkLayer>, readLater: Set<String>) throws -> End {
    try write(NetworkTensorUses(Array(layers)), from: 0, readLater: readLater)
  }

  func write(_ layers: NetworkTensorUses, from start: Int, readLater: Set<String>) throws -> End {
    let count = start == 0 ? layers.layers.count { $0.isControl } : 0
    guard count <= Self.controlLimit else {
      throw FormatError(
        .malformed, file: file, "a network has \(count) layers of control flow, expected at most \(Self.controlLimit)")
    }
    for index in layers.layers.indices[start...] {
      let layer = layers.layers[index]
      scope.count()
      switch layer.number {
      case Layers.loopBreak, Layers.loopContinue:
        begin(layer)
        guard let loop else { throw emitter.invalid("is not in the body of a loop") }
        if layer.number == Layers.loopBreak { scope.redefine(loop.broken, number(1)) }
        return .left
      case Layers.branch:
        switch try branch(layer, readLater: needed(layer, layers, from: index + 1, readLater: readLater)) {
        case .onwards: continue
        case .left: return .left
        case .mayHaveLeft(let hasLeft):
          guard index + 1 < layers.layers.count else { return .mayHaveLeft(hasLeft) }
          return try write(layers, from: index + 1, unless: hasLeft, layer, readLater: readLater)
        }
      case Layers.loop:
        try self.loop(layer, readLater: needed(layer, layers, from: index + 1, readLater: readLater))
      default: try add(layer)
      }
    }
    return .onwards
  }

  /// Returns those of the tensors that control flow may compute that are read after it.
  private func needed(
    _ layer: NetworkLayer, _ layers: NetworkTensorUses, from rest: Int, readLater: Set<String>
  ) -> Set<String> {
    let leaving = loop?.readLater ?? []
    let own = CollectionOfOne(layer)
    let broken = own.mayBreak ? loop?.broken : nil
    let mayLeave = own.mayLeave
    // Later layers may compute a tensor again, but they are not reached if a side leaves the iteration.
    return own.computed.union([broken].compactMap { $0 }).filter {
      mayLeave && leaving.contains($0) || layers.isRead($0, from: rest, later: readLater, leaving: leaving)
    }
  }

  func begin(_ layer: NetworkLayer) {
    emitter.begin(Origin(name: layer.name, kind: layer.kind, index: layer.index), outputNames: layer.outputs)
  }

  private func add(_ layer: NetworkLayer) throws {
    if let setting = layer.setting {
      begin(layer)
      for name in layer.outputs where !setting.unlessThere || !scope.has(name) {
        scope.redefine(name, number(setting.number))
      }
      return
    }
    guard let mapper = LayerMapper.byName[layer.number] else { return }
    begin(layer)
    let results: [Blob]
    do { results = try mapper.map(LayerContext(layer: layer, scope: scope)) } catch let error as FormatError {
      throw FormatError(
        error.code, file: error.file, place: "\(layer.kind) '\(layer.name)'", offset: error.offset,
        error.place.map { "\($0): \(error.reason)" } ?? error.reason, remedy: error.remedy)
    }
    guard results.count >= layer.outputs.count else {
      throw emitter.invalid("has \(layer.outputs.count) outputs, expected \(results.count)")
    }
    let mayReplace = isNested || layer.number == Layers.copy
    for (name, blob) in zip(layer.outputs, results) {
      if mayReplace { scope.redefine(name, blob) } else { try scope.define(name, blob) }
    }
  }

  /// Returns the types of the tensors that some layers compute. The emitted nodes are discarded.
  ///
  /// The result is empty if a layer cannot be emitted, an error which the actual emission reports, or if the limit of
  /// trials is exceeded.
  func trial(_ names: some Sequence<String>, _ write: () throws -> Void) throws -> [String: TensorType] {
    var types: [String: TensorType] = [:]
    _ = scope.trying {
      try? emitter.region(.body) {
        try scope.inside {
          try write()
          for name in names where scope.has(name) { types[name] = emitter.type(try settled(name)) }
          return []
        }
      }
    }
    return types
  }

  /// Gives tensors zeros as initial values, for reads that no other definition reaches.
  func defineZeros(_ types: [String: TensorType]) {
    for (name, type) in types.sorted(by: { $0.key < $1.key }) {
      scope.redefine(name, Blob(emitter.zeros(type, step: "none"), type.shape))
    }
  }

  /// Returns a tensor as it crosses the boundary of a network: float32, in its logical shape.
  func settled(_ name: String) throws -> ValueID {
    try scope.logical(try scope.convert(try scope.read(name), to: .float32))
  }

  /// Returns a condition: whether a number differs from 0 by more than 1e-6.
  func truth(_ blob: Blob, step: String) throws -> ValueID {
    guard blob.shape.count == 1 else { throw emitter.invalid("its condition is \(blob.shape), expected one element") }
    guard emitter.scalar(blob.id) != .bool else { return try emitter.reshape(blob.id, [], step: step) }
    let float = try scope.convert(blob, to: .float32)
    let size = try emitter.unary(UnaryFunction(.abs), float.id, step: "\(step)/size")
    let least = scope.scalar(1e-6, step: "\(step)/least")
    return try emitter.reshape(try emitter.add(Compare(.greater), size, least, step: "\(step)/holds"), [], step: step)
  }

  /// Returns the value of an output of a part of the network.
  func value(_ left: NetworkPartOutput) throws -> ValueID {
    switch left.value {
    case .tensor(let name): return try scope.logical(try scope.held(name))
    case .truth(let name):
      emitter.begin(Origin(name: name, kind: "condition", index: 0), outputNames: [])
      return try truth(try scope.read(name), step: "holds")
    case .number(let number): return emitter.constant(integers: [number], .int64, shape: [])
    }
  }

  func number(_ value: Float) -> Blob { Blob(emitter.constant(Weight(Tensor([value], [1])), step: "number"), [1]) }

  func flag(_ value: Bool, step: String) -> ValueID { emitter.constant(value ? 1 : 0, .bool, step: step) }
}
