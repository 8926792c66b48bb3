import KelvinGraph
import KelvinImport

/// A mapper for an ONNX operator on sequences and optional values, which is evaluated while the graph is emitted.
struct ONNXSequence: OperationMapper {
  let name: String
  /// The inputs whose elements must be known while the graph is built.
  let valueDependentInputs: Set<Int>
  /// Whether the result depends only on the number of tensors.
  let readsOnlyShapes: Bool
  let map: @Sendable (ONNXOperation) throws -> ONNXEntity

  init(
    _ name: String, valueDependent: Set<Int> = [], readsOnlyShapes: Bool = false,
    _ map: @escaping @Sendable (ONNXOperation) throws -> ONNXEntity
  ) {
    self.name = name
    valueDependentInputs = valueDependent
    self.readsOnlyShapes = readsOnlyShapes
    self.map = map
  }

  static let byName: [String: ONNXSequence] = table([
    construct, empty, at, insert, erase, length, splitTo, concatFrom, identity, optional, element, hasElement,
  ])

  private static let partLimit = 1 << 12

  private static let construct = ONNXSequence("SequenceConstruct") { c in .sequence(try c.allInputs()) }

  private static let empty = ONNXSequence("SequenceEmpty") { _ in .sequence([]) }

  private static let at = ONNXSequence("SequenceAt", valueDependent: [1]) { c in
    let elements = try c.sequence()
    return .tensor(elements[try c.position(1, of: elements)])
  }

  private static let insert = ONNXSequence("SequenceInsert", valueDependent: [2]) { c in
    var elements = try c.sequence()
    let place = c.optional(2) == nil ? elements.count : try c.position(2, of: elements, reachesEnd: true)
    elements.insert(try c.input(1), at: place)
    return .sequence(elements)
  }

  private static let erase = ONNXSequence("SequenceErase", valueDependent: [1]) { c in
    var elements = try c.sequence()
    let place = c.optional(1) == nil ? elements.count - 1 : try c.position(1, of: elements)
    guard elements.indices.contains(place) else { throw c.emitter.invalid("the sequence is empty") }
    elements.remove(at: place)
    return .sequence(elements)
  }

  private static let length = ONNXSequence("SequenceLength", readsOnlyShapes: true) { c in
    .tensor(c.emitter.constant(integers: [try c.sequence().count], shape: []))
  }

  /// Splits into parts of given sizes, of one size, or of size 1, which then may lose their axis.
  private static let splitTo = ONNXSequence("SplitToSequence", valueDependent: [1]) { c in
    let x = try c.input(0)
    let axis = try c.emitter.axis(c.integer("axis", default: 0), of: x)
    let size = c.emitter.shape(x)[axis]
    let isOneSize = c.optional(1).map { c.emitter.shape($0).rank == 0 } ?? true
    let given = try c.constantIntegers(1, "split")
    var sizes = given ?? []
    if isOneSize {
      let part = given?.first ?? 1
      guard part > 0, size / part < partLimit else {
        throw c.emitter.invalid("parts of \(part) along an axis of \(size), expected at most \(partLimit) of them")
      }
      sizes = stride(from: 0, to: size, by: part).map { min(part, size - $0) }
    }
    guard sizes.count <= partLimit else {
      throw c.emitter.invalid("\(sizes.count) parts, expected at most \(partLimit)")
    }
    let parts = try c.emitter.split(x, axis: axis, sizes: sizes, step: "part")
    guard given == nil, !c.flag("keepdims", default: true) else { return .sequence(parts) }
    var shape = c.emitter.shape(x).dimensions
    shape.remove(at: axis)
    return .sequence(try parts.enumerated().map { try c.emitter.reshape($1, Shape(shape), step: "element_\($0)") })
  }

  private static let concatFrom = ONNXSequence("ConcatFromSequence") { c in
    let elements = try c.sequence()
    guard let axis = c.node.attributes["axis"]?.integer, !elements.isEmpty else {
      throw c.emitter.invalid("has no axis, or its sequence is empty")
    }
    return .tensor(
      try c.flag("new_axis") ? c.emitter.stack(elements, axis: axis) : c.emitter.concat(elements, axis: axis))
  }

  private static let optional = ONNXSequence("Optional") { c in c.entities.first.flatMap { $0 } ?? .absent }

  private static let identity = ONNXSequence("Identity") { c in
    guard let entity = c.entities.first.flatMap({ $0 }) else { throw c.emitter.invalid("input 0 is missing") }
    return entity
  }

  private static let element = ONNXSequence("OptionalGetElement") { c in
    switch c.entities.first {
    case .tensor(let id)??: return .tensor(id)
    case .sequence(let ids)??: return .sequence(ids)
    default: throw c.emitter.invalid("its optional value is missing")
    }
  }

  private static let hasElement = ONNXSequence("OptionalHasElement", readsOnlyShapes: true) { c in
    var isThere = true
    switch c.entities.first {
    case .absent??, nil, .some(nil): isThere = false
    default: break
    }
    return .tensor(c.emitter.constant(isThere ? 1 : 0, .bool))
  }
}

extension ONNXOperation {
  fileprivate func sequence() throws -> [ValueID] {
    guard case .sequence(let elements)?? = entities.first else { throw emitter.invalid("expected a sequence") }
    return elements
  }

  /// Returns a position among elements; a negative one counts from the end. With `reachesEnd` it may be the end.
  fileprivate func position(_ index: Int, of elements: [ValueID], reachesEnd: Bool = false) throws -> Int {
    guard let given = try constantIntegers(index, "position")?.first else { throw emitter.invalid("has no position") }
    let place = given < 0 ? given &+ elements.count : given
    guard (0..<elements.count + (reachesEnd ? 1 : 0)).contains(place) else {
      throw emitter.invalid("position \(given) of a sequence of \(elements.count)")
    }
    return place
  }
}
