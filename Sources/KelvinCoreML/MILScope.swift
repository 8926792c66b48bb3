import KelvinGraph
import KelvinImport

/// The values of a function and of its nested blocks while a graph is built. A constant becomes a graph value when a
/// node first reads it. A block may read the values around it.
final class MILScope {
  private struct Level {
    /// The number of regions around the graph that has the values.
    var depth: Int
    var values: [String: ValueID] = [:]
    var constants: [String: MILValue] = [:]
    var weights: [String: Weight] = [:]

    func has(_ name: String) -> Bool { values[name] != nil || constants[name] != nil || weights[name] != nil }
  }

  private struct State {
    var type: TensorType
    var id: ValueID
    /// The number of regions around the graph that has the value.
    var depth: Int
  }

  let emitter: Emitter
  /// The version of iOS that introduced the function's operator set. The meaning of some operations depends on it.
  let version: Int
  private let files: ModelFiles
  private var levels: [Level]
  /// The current value of each state at this point of the program, by the name of the function's input.
  private var states: [String: State] = [:]
  private static let levelLimit = 16

  init(_ emitter: Emitter, _ function: MILFunction, _ files: ModelFiles) {
    self.emitter = emitter
    version = function.version ?? 0
    self.files = files
    levels = [Level(depth: emitter.depth)]
  }

  /// Runs a closure in the scope of a block's names.
  func inside<Result>(_ body: () throws -> Result) throws -> Result {
    guard levels.count <= Self.levelLimit else { throw emitter.invalid("blocks are nested too deeply") }
    levels.append(Level(depth: emitter.depth))
    defer { levels.removeLast() }
    return try body()
  }

  func define(_ name: String, _ id: ValueID, by place: String) throws {
    try define(name, "\(place) computes '\(name)', which is already defined") { $0.values[name] = id }
  }

  func define(_ name: String, constant: MILValue) throws {
    try define(name, "const '\(name)': the name is used twice") { $0.constants[name] = constant }
  }

  func define(_ name: String, weight: Weight) throws {
    try define(name, "const '\(name)': the name is used twice") { $0.weights[name] = weight }
  }

  private func define(_ name: String, _ complaint: @autoclosure () -> String, _ change: (inout Level) -> Void) throws {
    let last = levels.count - 1
    guard !levels[last].has(name) else { throw emitter.invalid(complaint()) }
    change(&levels[last])
  }

  /// Returns the innermost level that defines a name.
  private func level(of name: String) -> Int? { levels.lastIndex { $0.has(name) } }

  func value(_ name: String, reader: String) throws -> ValueID {
    guard let index = level(of: name) else {
      throw GraphError(reader, "reads '\(name)', which is not computed before it")
    }
    let level = levels[index]
    if let id = level.values[name] { return emitter.value(id, of: level.depth) }
    guard let weight = try level.constants[name]?.weight(files, name: name) ?? level.weights[name] else {
      throw GraphError(reader, "reads '\(name)', which is not computed before it")
    }
    let id = emitter.constant(named: name, weight)
    if level.depth == emitter.depth { levels[index].values[name] = id }
    return id
  }

  func value(_ binding: MILOperation.Binding, _ operation: MILOperation, _ input: String) throws -> ValueID {
    switch binding {
    case .name(let name):
      guard !isRoom(name) else {
        throw emitter.invalid(
          "reads '\(name)' before its size is known: such sizes are found between two graphs, which a "
            + "program with states, or within a pipeline, does not have; export that part as a model of its own")
      }
      return try value(name, reader: "\(operation.kind) '\(operation.name)'")
    case .value(let value):
      let name = "\(operation.name)/\(input)"
      return emitter.constant(named: name, try value.weight(files, name: name))
    }
  }

  /// Whether a value outside all blocks has a size that is known only after its node ran; its buffer has the maximum
  /// size.
  private func isRoom(_ name: String) -> Bool {
    guard let index = level(of: name), levels[index].depth == 0, let id = levels[index].values[name] else {
      return false
    }
    return emitter.extents[id] != nil
  }

  /// Returns the constant that a binding refers to, or nil if the program does not hold one.
  private func constant(_ binding: MILOperation.Binding) -> MILValue? {
    switch binding {
    case .name(let name): level(of: name).flatMap { levels[$0].constants[name] }
    case .value(let value): value
    }
  }

  /// Returns the weight that a binding refers to, or nil if the value depends on the model's inputs.
  func weight(_ binding: MILOperation.Binding, _ input: String) throws -> Weight? {
    if let constant = constant(binding) { return try constant.weight(files, name: input) }
    return binding.name.flatMap(knownWeight)
  }

  private func knownWeight(_ name: String) -> Weight? {
    guard let index = level(of: name) else { return nil }
    let level = levels[index]
    return level.weights[name] ?? level.values[name].flatMap { emitter.weight($0, of: level.depth) }
  }

  func text(_ binding: MILOperation.Binding) throws -> String? { try constant(binding)?.strings().first }

  /// Returns the elements of a constant, or of a value that is known while the graph is built; nil if they depend on
  /// the model's inputs.
  ///
  /// - Throws: An error if the value has more than `limit` elements.
  func tensor(_ binding: MILOperation.Binding, _ input: String, atMost limit: Int) throws -> Tensor? {
    func check(_ type: TensorType?) throws {
      guard let type, type.count > limit else { return }
      throw emitter.invalid("'\(input)' has \(type.count) elements, expected at most \(limit)")
    }
    if let constant = constant(binding) {
      try check(constant.type.tensorType)
      return try constant.tensor(files, name: input)
    }
    guard let weight = binding.name.flatMap(knownWeight) else { return nil }
    try check(weight.type)
    return weight.dense()
  }

  /// Declares a state. Its initial value is the one that the previous prediction left.
  func defineState(_ name: String, _ type: TensorType) throws {
    states[name] = State(type: type, id: try emitter.state(name, type), depth: emitter.depth)
  }

  /// Returns the value of a state at this point.
  func state(_ name: String) throws -> ValueID {
    let state = try known(name)
    return emitter.value(state.id, of: state.depth)
  }

  /// Sets the value of a state from this point on; inside a region, until the region ends.
  func update(_ name: String, _ id: ValueID) throws {
    let held = try known(name)
    guard emitter.type(id) == held.type else {
      throw emitter.invalid("the state '\(name)' is \(held.type), but is set to \(emitter.type(id))")
    }
    states[name] = State(type: held.type, id: id, depth: emitter.depth)
    if emitter.depth == 0 { emitter.write(id, to: name) }
  }

  private func known(_ name: String) throws -> State {
    guard let state = states[name] else { throw emitter.invalid("'\(name)' is not a state of the function") }
    return state
  }

  /// Runs a closure, and afterwards restores the values of the states.
  func keepingStates<Result>(_ body: () throws -> Result) throws -> Result {
    let before = states
    defer { states = before }
    return try body()
  }
}
