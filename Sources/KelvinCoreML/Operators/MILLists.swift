import KelvinGraph
import KelvinImport

/// Operations on lists of tensors of one shape. A list is one tensor with a leading axis. A list that may grow
/// (`MILOperation.growsList`) does so while a graph is built, if the index of a written element is known and beyond its
/// end.
extension MILMapper {
  static let lists: [MILMapper] = [make, length, read, write, gather, scatter]

  private static let lengthLimit = 1 << 24

  private static let make = MILMapper("make_list") { c in
    let name = try c.text("dtype") ?? "fp32"
    guard let scalar = ScalarType(milName: name) else { throw c.emitter.invalid("dtype '\(name)' is not known") }
    let length = try c.integer("init_length") ?? 1
    var sizes: [Int] = []
    for size in c.operation.inputs["elem_shape"] ?? [] {
      // A size with a name is that of the first element written.
      if try c.scope.text(size) != nil {
        sizes.append(0)
        continue
      }
      guard let known = try c.emitter.integers(c.scope.value(size, c.operation, "elem_shape"))?.first else {
        throw c.emitter.invalid("the shape of its elements depends on the model's inputs, expected constants")
      }
      sizes.append(known)
    }
    let type = TensorType(scalar, Shape([length] + sizes))
    guard (0...lengthLimit).contains(length), type.shape.isAddressable, type.byteCount <= 1 << 31 else {
      throw c.emitter.invalid("a list of \(length) elements \(Shape(sizes))")
    }
    return try c.emitter.fill(type.shape, with: Tensor(TensorType(scalar, []), rounding: [0]))
  }

  private static let length = MILMapper("list_length", readsOnlyShapes: true) { c in
    let list = try c.value("ls")
    return c.emitter.constant(integers: [try c.emitter.listLength(list)], .int32, shape: [])
  }

  private static let read = MILMapper("list_read") { c in
    let (list, emitter) = (try c.value("ls"), c.emitter)
    let place = try emitter.reshape(try c.value("index"), [], step: "place")
    _ = try emitter.listLength(list)
    return try emitter.add(Gather(axis: 0), list, place)
  }

  private static let gather = MILMapper("list_gather") { c in
    let list = try c.value("ls")
    _ = try c.emitter.listLength(list)
    return try c.emitter.add(Gather(axis: 0), list, try c.value("indices"))
  }

  private static let write = MILMapper("list_write") { c in
    let (value, emitter) = (try c.value("value"), c.emitter)
    let list = try c.grown(c.list(of: emitter.shape(value)), toHold: "index")
    let element = try emitter.reshape(value, Shape([1] + emitter.shape(value).dimensions), step: "element")
    let place = try emitter.reshape(try c.value("index"), [1, 1], step: "place")
    return try emitter.add(ScatterND(), list, place, element)
  }

  private static let scatter = MILMapper("list_scatter") { c in
    let (values, emitter) = (try c.value("value"), c.emitter)
    let list = try c.grown(c.list(of: Shape(Array(emitter.shape(values).dimensions.dropFirst()))), toHold: "indices")
    let indices = try c.value("indices")
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

extension MILContext {
  /// Returns the list. If it has named sizes and no element has been written, its elements get the given shape.
  fileprivate func list(of element: Shape) throws -> ValueID {
    let list = try value("ls")
    let length = try emitter.listLength(list)
    let sizes = emitter.shape(list).dimensions.dropFirst()
    guard sizes.contains(0), sizes.count == element.rank,
      zip(sizes, element.dimensions).allSatisfy({ $0 == 0 || $0 == $1 })
    else { return list }
    let shape = Shape([length] + element.dimensions)
    guard shape.isAddressable, shape.count <= 1 << 29 else {
      throw emitter.invalid("a list of \(length) elements \(element)")
    }
    return try emitter.fill(shape, with: Tensor(TensorType(emitter.scalar(list), []), rounding: [0]), step: "sized")
  }

  fileprivate func grown(_ list: ValueID, toHold input: String) throws -> ValueID {
    let (length, emitter) = (try emitter.listLength(list), emitter)
    let room = try MILMapper.room(try knownIntegers(input) ?? [], length, emitter)
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
