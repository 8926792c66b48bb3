import KelvinGraph
import KelvinImport

/// The values of a graph and of the sub-graphs inside it, by name, while they are written. A sub-graph reads the values
/// around it; its own are its own.
final class ONNXScope {
  private struct Level {
    /// How many regions the graph lies in that has the values.
    var depth: Int
    var initializers: [String: ONNXTensor]
    var values: [String: ONNXEntity] = [:]
    /// Of its values whose elements have narrow types.
    var lowPrecisionTypes: [String: ONNXLowPrecisionType]
  }

  let emitter: Emitter
  private let file: String
  private let files: ModelFiles
  private var levels: [Level]
  private static let levelLimit = 16
  /// Of all sequences that are defined; each has a list of its own.
  private var elementCount = 0
  private static let elementLimit = 1 << 22
  /// The operations of sub-graphs that are written once for each trip.
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

  /// Does something with the names of a sub-graph.
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
          place, "its sequence is one of many, which have more than \(Self.elementLimit) elements in all")
      }
    }
    let last = levels.count - 1
    guard levels[last].initializers[name] == nil, levels[last].values.updateValue(entity, forKey: name) == nil else {
      throw GraphError(place, "computes '\(name)', which is there already")
    }
  }

  /// Counts the nodes of a sub-graph that is written for one of several elements or trips.
  ///
  /// - Throws: `GraphError` where these are too many.
  func unroll(_ graph: ONNXGraph) throws {
    unrolledCount += graph.nodes.count + 1
    guard unrolledCount <= Self.unrolledLimit else {
      throw emitter.invalid("its trips, one after another, have more than \(Self.unrolledLimit) operations")
    }
  }

  /// The narrow type of a name's elements, where they have one.
  func lowPrecisionType(_ name: String) -> ONNXLowPrecisionType? {
    for level in levels.reversed() {
      if let type = level.lowPrecisionTypes[name] { return type }
      if level.values[name] != nil { return nil }
    }
    return nil
  }

  /// The tensor of a name.
  func value(_ name: String, reader: String, offset: Int) throws(FormatError) -> ValueID {
    guard case .tensor(let id) = try entity(name, reader: reader, offset: offset) else {
      throw FormatError(
        .unsupported, file: file, place: reader, offset: offset,
        "reads '\(name)', a sequence or a value that is left out, expected a tensor")
    }
    return id
  }

  /// What a name stands for; an initialiser becomes a constant the first time it is read.
  func entity(_ name: String, reader: String, offset: Int) throws(FormatError) -> ONNXEntity {
    // By places: a level that is held elsewhere would be copied with each value that is added to it.
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
      .malformed, file: file, place: reader, offset: offset, "reads '\(name)', which nothing before it computes")
  }
}
