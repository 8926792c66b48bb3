import KelvinGraph
import KelvinImport

/// Operations on lists of tensors of one shape. A list is one tensor with a leading axis. A list that may grow
/// (`MILOperation.growsList`) does so while a graph is built, if the index of a written element is known and beyond its
/// end.
extension MILMapper {
  static let lists: [MILMapper] = [make, length, read, write, gather, scatter]

  private static let lengthLimit = 1 << 24

  private static let make = MILMapper("make_list") { operation, scope in
    let name = try operation.text("dtype", scope) ?? "fp32"
    guard let scalar = ScalarType(milName: name) else { throw scope.emitter.invalid("dtype '\(name)' is not known") }
    let length = try operation.integer("init_length", scope) ?? 1
    var sizes: [Int] = []
    for size in try operation.elementSizes(scope) {
      guard let known = try scope.emitter.integers(size)?.first else {
        throw scope.emitter.invalid("the shape of its elements depends on the model's inputs, expected constants")
      }
      sizes.append(known)
    }
    let type = TensorType(scalar, Shape([length] + sizes))
    guard (0...lengthLimit).contains(length), type.shape.isAddressable, type.byteCount <= 1 << 31 else {
      throw scope.emitter.invalid("a list of \(length) elements \(Shape(sizes))")
    }
    return try scope.emitter.fill(type.shape, with: Tensor(TensorType(scalar, []), rounding: [0]))
  }

  private static let length = MILMapper("list_length", readsOnlyShapes: true) { operation, scope in
    let list = try operation.value("ls", scope)
    return scope.emitter.constant(integers: [try scope.emitter.listLength(list)], .int32, shape: [])
  }

  private static let read = MILMapper("list_read") { operation, scope in
    let (list, emitter) = (try operation.value("ls", scope), scope.emitter)
    let place = try emitter.reshape(try operation.value("index", scope), [], step: "place")
    _ = try emitter.listLength(list)
    return try emitter.add(Gather(axis: 0), list, place)
  }

  private static let gather = MILMapper("list_gather") { operation, scope in
    let list = try operation.value("ls", scope)
    _ = try scope.emitter.listLength(list)
    return try scope.emitter.add(Gather(axis: 0), list, try operation.value("indices", scope))
  }

  private static let write = MILMapper("list_write") { operation, scope in
    let (value, emitter) = (try operation.value("value", scope), scope.emitter)
    let list = try operation.grown(operation.value("ls", scope), toHold: "index", scope)
    let element = try emitter.reshape(value, Shape([1] + emitter.shape(value).dimensions), step: "element")
    let place = try emitter.reshape(try operation.value("index", scope), [1, 1], step: "place")
    return try emitter.add(ScatterND(), list, place, element)
  }

  private static let scatter = MILMapper("list_scatter") { operation, scope in
    let (values, emitter) = (try operation.value("value", scope), scope.emitter)
    let list = try operation.grown(operation.value("ls", scope), toHold: "indices", scope)
    let indices = try operation.value("indices", scope)
    let places = try emitter.reshape(indices, [emitter.shape(indices).count, 1], step: "places")
    return try emitter.add(ScatterND(), list, places, values)
  }

  /// Returns the number of elements by which a list must grow to include the largest of the known indices.
  fileprivate static func room(_ indices: [Int], _ length: Int, _ emitter: Emitter) throws -> Int {
    let last = indices.max() ?? -1
    guard last < lengthLimit else { throw emitter.invalid("writes element \(last) of a list of \(length)") }
    return max(last + 1 - length, 0)
  }
}

extension MILOperation {
  /// Returns the sizes of a list's elements.
  fileprivate func elementSizes(_ scope: MILScope) throws -> [ValueID] {
    inputs["elem_shape"]?.isEmpty == false ? try values("elem_shape", scope) : []
  }

  fileprivate func grown(_ list: ValueID, toHold input: String, _ scope: MILScope) throws -> ValueID {
    let (length, emitter) = (try scope.emitter.listLength(list), scope.emitter)
    let room = try MILMapper.room(try knownIntegers(input, scope) ?? [], length, emitter)
    guard room > 0 else { return list }
    let rank = emitter.shape(list).rank
    var after = [Int](repeating: 0, count: rank)
    after[0] = room
    return try emitter.pad(
      list, before: [Int](repeating: 0, count: rank), after: after,
      value: Tensor(TensorType(emitter.scalar(list), []), rounding: [0]), step: "grown")
  }
}

extension Emitter {
  /// Returns the size of a list's leading axis.
  fileprivate func listLength(_ list: ValueID) throws -> Int {
    guard let length = shape(list).dimensions.first else { throw invalid("expected a list, got \(type(list))") }
    return length
  }
}
