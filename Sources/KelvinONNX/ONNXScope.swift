import KelvinGraph
import KelvinImport

/// The values of a graph and of its sub-graphs, by name, while they are emitted. A sub-graph reads the values around
/// it; its own values are local.
final class ONNXScope {
  private struct Level {
    /// The number of regions around the graph that has the values.
    var depth: Int
    var initializers: [String: ONNXTensor]
    var values: [String: ONNXEntity] = [:]
    /// The low-precision types of the values.
    var lowPrecisionTypes: [String: ONNXLowPrecisionType]
  }

  let emitter: Emitter
  private let file: String
  private let files: ModelFiles
  private var levels: [Level]
  private static let levelLimit = 16
  /// The number of elements of all defined sequences; each sequence has a list of its own.
  private var elementCount = 0
  private static let elementLimit = 1 << 22
  /// The number of operations of sub-graphs that are emitted once per iteration.
  private var unrolledCount = 0
  private static let unrolledLimit = 1 << 17

  init(_ emitter: Emitter, _ model: ONNXModel, file: String, files: ModelFiles) {
    self.emitter = emitter
    self.file = file
    self.files = files
    let graph = model.graph
    levels = [
      Level(depth: 0, initializers: graph.initializers, lowPrecisionTypes: model.lowPrecisionTypes)
    ]
  }

  /// Runs a closure in the scope of a sub-graph's names.
  func inside<Result>(_ graph: ONNXGraph, _ body: () throws -> Result) throws -> Result {
    guard levels.count <= Self.levelLimit else { throw emitter.invalid("sub-graphs are nested too deeply") }
    let lowPrecisionTypes = try graph.lowPrecisionTypes(around: lowPrecisionType)
    levels.append(
      Level(
        depth: emitter.depth, initializers: graph.initializers, lowPrecisionTypes: lowPrecisionTypes))
    defer { levels.removeLast() }
    return try body()
  }

  func define(_ name: String, _ id: ValueID, by place: String) throws { try define(name, .tensor(id), by: place) }

  func define(_ name: String, _ entity: ONNXEntity, by place: String) throws {
    if case .sequence(let elements) = entity {
      elementCount += elements.count
      guard elementCount <= Self.elementLimit else {
        throw GraphError(
          place, "its sequences have more than \(Self.elementLimit) elements in total")
      }
    }
    let last = levels.count - 1
    guard levels[last].initializers[name] == nil, levels[last].values.updateValue(entity, forKey: name) == nil else {
      throw GraphError(place, "computes '\(name)', which is already defined")
    }
  }

  /// Counts the nodes of a sub-graph that is emitted for one of several elements or iterations.
  ///
  /// - Throws: `GraphError` if there are too many.
  func unroll(_ graph: ONNXGraph) throws {
    unrolledCount += graph.nodes.count + 1
    guard unrolledCount <= Self.unrolledLimit else {
      throw emitter.invalid("its unrolled iterations have more than \(Self.unrolledLimit) operations")
    }
  }

  /// Returns the low-precision type of a value's elements, or nil.
  func lowPrecisionType(_ name: String) -> ONNXLowPrecisionType? {
    for level in levels.reversed() {
      if let type = level.lowPrecisionTypes[name] { return type }
      if level.values[name] != nil { return nil }
    }
    return nil
  }

  /// Returns the tensor of a name.
  func value(_ name: String, reader: String, offset: Int) throws(FormatError) -> ValueID {
    guard case .tensor(let id) = try entity(name, reader: reader, offset: offset) else {
      throw FormatError(
        .unsupported, file: file, place: reader, offset: offset,
        "reads '\(name)', a sequence or an omitted value, expected a tensor")
    }
    return id
  }

  /// Returns the entity of a name; an initializer becomes a constant when it is first read.
  func entity(_ name: String, reader: String, offset: Int) throws(FormatError) -> ONNXEntity {
    // Iterates over indices: a copy of a level would make each insertion into it copy its storage.
    for index in levels.indices.reversed() {
      let depth = levels[index].depth
      if let entity = levels[index].values[name] { return entity.map { emitter.value($0, of: depth) } }
      if let initializer = levels[index].initializers[name] {
        let id = emitter.constant(named: name, try initializer.weight(files))
        if depth == emitter.depth { levels[index].values[name] = .tensor(id) }
        return .tensor(id)
      }
    }
    throw FormatError(
      .malformed, file: file, place: reader, offset: offset, "reads '\(name)', which is not computed before it")
  }
}
