import KelvinGraph
import KelvinImport

/// A named tensor of a network: a value of the graph, and the shape by which layers know it.
///
/// The value may have another shape with the same elements in the same order. Networks of the old kind give every
/// tensor five axes, `[Sequence, Batch, Channel, Height, Width]`; their layers compute on four,
/// `[Sequence · Batch, Channel, Height, Width]`, and a value stays in the form in which it was computed until someone
/// needs another.
struct Blob {
  var id: ValueID
  var shape: Shape

  init(_ id: ValueID, _ shape: Shape) {
    self.id = id
    self.shape = shape
  }
}

/// The tensors of a network and of the networks inside it while its graph is built.
final class LayerScope {
  /// A tensor, and how many regions the graph lies in that has its value.
  private struct Held {
    var blob: Blob
    var depth: Int
  }

  let emitter: Emitter
  private let file: String
  private var blobs: [String: Held] = [:]
  /// What `inside` puts back: what stood under a name before it was given another.
  private var replaced: [(name: String, held: Held?)] = []
  private var depth = 0
  private var views: [View: ValueID] = [:]
  private var converted: [Conversion: ValueID] = [:]
  /// How many layers have been written in trials, in how many trials something is being written, and whether one was refused.
  private var (layersTried, trials) = (0, 0)
  private(set) var hasTriedAll = false
  static let trialLimit = 65_536

  private struct View: Hashable {
    var id: ValueID
    var shape: Shape
  }
  private struct Conversion: Hashable {
    var id: ValueID
    var scalar: ScalarType
  }

  init(_ emitter: Emitter, file: String) {
    self.emitter = emitter
    self.file = file
  }

  func has(_ name: String) -> Bool { blobs[name] != nil }

  func define(_ name: String, _ blob: Blob) throws {
    let isThere = has(name)
    redefine(name, blob)
    guard !isThere else { throw emitter.invalid("computes '\(name)', which is there already") }
  }

  /// Replaces a tensor; only the copy layer and control flow may.
  func redefine(_ name: String, _ blob: Blob) {
    let before = blobs.updateValue(Held(blob: blob, depth: emitter.depth), forKey: name)
    if depth > 0 { replaced.append((name, before)) }
  }

  /// - Throws: `GraphError` where nothing computes it; where its size is not known before the graph has run, the file's
  ///   `unsupported`.
  func read(_ name: String) throws -> Blob {
    guard let held = blobs[name], held.depth == 0, emitter.extents[held.blob.id] != nil else {
      return try self.held(name)
    }
    throw FormatError(
      .unsupported, file: file, place: "'\(name)'",
      "it is read before it is known how large it is: such sizes are found between two graphs, and control flow or "
        + "another model lies across the cut", remedy: "export what reads it as a model of its own")
  }

  /// A tensor, whether or not its size is known.
  func held(_ name: String) throws -> Blob {
    guard let held = blobs[name] else { throw emitter.invalid("reads '\(name)', which nothing before it computes") }
    return Blob(emitter.value(held.blob.id, of: held.depth), held.blob.shape)
  }

  /// Writes layers once more to find out the types of what they compute, for which those inside them may want the same.
  ///
  /// - Returns: nil where too many have been written so.
  func trying<Result>(_ write: () throws -> Result) rethrows -> Result? {
    guard layersTried < Self.trialLimit else {
      hasTriedAll = true
      return nil
    }
    trials += 1
    defer { trials -= 1 }
    return try write()
  }

  /// Notes that a layer is written.
  func count() { if trials > 0 { layersTried += 1 } }

  /// Does something with the tensors that are there, behind which they are what they were.
  func inside<Result>(_ body: () throws -> Result) throws -> Result {
    let before = (views, converted)
    let count = replaced.count
    (views, converted) = ([:], [:])
    depth += 1
    defer {
      depth -= 1
      (views, converted) = before
      for (name, held) in replaced[count...].reversed() { blobs[name] = held }
      replaced.removeSubrange(count...)
    }
    return try body()
  }

  /// The same elements in another shape.
  func view(_ blob: Blob, _ shape: Shape) throws -> ValueID {
    if emitter.shape(blob.id) == shape { return blob.id }
    let key = View(id: blob.id, shape: shape)
    if let view = views[key] { return view }
    let view = try emitter.reshape(blob.id, shape, step: "view")
    views[key] = view
    return view
  }

  /// The value in the shape by which layers know it.
  func logical(_ blob: Blob) throws -> ValueID { try view(blob, blob.shape) }

  /// The value as `[everything before, C, H, W]`.
  func planes(_ blob: Blob) throws -> ValueID { try view(blob, try planeShape(blob)) }

  func planeShape(_ blob: Blob) throws -> Shape {
    let sizes = blob.shape.dimensions
    guard sizes.count >= 3 else { throw emitter.invalid("expected at least 3 axes, got \(blob.shape)") }
    return Shape([sizes.dropLast(3).reduce(1, *)] + sizes.suffix(3))
  }

  /// The sizes before the last three.
  func lead(_ blob: Blob) -> [Int] { Array(blob.shape.dimensions.dropLast(3)) }

  /// What a layer computed from planes, with the batch axes of its input.
  func fromPlanes(_ id: ValueID, _ input: Blob) -> Blob {
    Blob(id, Shape(lead(input) + emitter.shape(id).dimensions.suffix(3)))
  }

  /// The value converted to another element type.
  func convert(_ blob: Blob, to scalar: ScalarType) throws -> Blob {
    if emitter.scalar(blob.id) == scalar { return blob }
    let key = Conversion(id: blob.id, scalar: scalar)
    if let id = converted[key] { return Blob(id, blob.shape) }
    let id = try emitter.cast(blob.id, to: scalar, step: scalar.rawValue)
    converted[key] = id
    return Blob(id, blob.shape)
  }

  /// Applies a function to every element.
  func unary(_ function: UnaryFunction, _ x: Blob, step: String? = nil) throws -> Blob {
    Blob(try emitter.unary(function, x.id, step: step), x.shape)
  }

  /// Two tensors in shapes that broadcast to the result's; on four axes where both have the same batch axes.
  func aligned(_ x: Blob, _ y: Blob) throws -> (x: ValueID, y: ValueID, shape: Shape) {
    guard let shape = x.shape.broadcast(with: y.shape) else {
      throw emitter.invalid("shapes \(x.shape) and \(y.shape) do not broadcast")
    }
    if x.shape == y.shape, emitter.shape(x.id) == emitter.shape(y.id) { return (x.id, y.id, shape) }
    let batches = [x, y].map { lead($0).reduce(1, *) }
    if x.shape.rank == y.shape.rank, x.shape.rank >= 3, lead(x) == lead(y) || batches.contains(1) {
      return (try planes(x), try planes(y), shape)
    }
    return (try logical(x), try logical(y), shape)
  }

  func binary(_ function: Binary.Function, _ x: Blob, _ y: Blob, step: String? = nil) throws -> Blob {
    let (left, right, shape) = try aligned(x, y)
    return Blob(try emitter.binary(function, left, right, step: step), shape)
  }

  /// A constant that broadcasts to planes.
  func constant(_ weights: LayerWeights, _ shape: Shape, step: String) throws -> ValueID {
    emitter.constant(try weights.weight(shape), step: step)
  }

  func scalar(_ value: Float, step: String) -> ValueID {
    emitter.constant(Double(value), .float32, step: step)
  }
}
