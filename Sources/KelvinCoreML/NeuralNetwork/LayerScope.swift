import KelvinGraph
import KelvinImport

/// A named tensor of a network: a graph value, and its logical shape, the shape that the layers refer to.
///
/// The value may have another shape with the same elements in the same order. Networks up to specification version 3
/// give every tensor five axes, `[Sequence, Batch, Channel, Height, Width]`, but compute on four,
/// `[Sequence · Batch, Channel, Height, Width]`. A value keeps the shape in which it was computed until a reader needs
/// another.
struct Blob {
  var id: ValueID
  var shape: Shape

  init(_ id: ValueID, _ shape: Shape) {
    self.id = id
    self.shape = shape
  }
}

/// The tensors of a network and of its nested networks while a graph is built.
final class LayerScope {
  /// A tensor, and the number of regions around the graph that has its value.
  private struct Held {
    var blob: Blob
    var depth: Int
  }

  let emitter: Emitter
  private let file: String
  private var blobs: [String: Held] = [:]
  /// The replaced tensors that `inside` restores.
  private var replaced: [(name: String, held: Held?)] = []
  private var depth = 0
  private var views: [View: ValueID] = [:]
  private var converted: [Conversion: ValueID] = [:]
  /// The number of layers emitted in trials, and the number of trials in progress. `hasTriedAll` tells whether the
  /// limit refused a trial.
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
    guard !isThere else { throw emitter.invalid("computes '\(name)', which is already defined") }
  }

  /// Replaces a tensor; only the copy layer and control flow may do so.
  func redefine(_ name: String, _ blob: Blob) {
    let before = blobs.updateValue(Held(blob: blob, depth: emitter.depth), forKey: name)
    if depth > 0 { replaced.append((name, before)) }
  }

  /// Returns a tensor whose size is known.
  ///
  /// - Throws: `GraphError` if nothing computes the tensor; `FormatError` with code `.unsupported` if its size is not
  ///   known before the graph has run.
  func read(_ name: String) throws -> Blob {
    guard let held = blobs[name], held.depth == 0, emitter.extents[held.blob.id] != nil else {
      return try self.held(name)
    }
    throw FormatError(
      .unsupported, file: file, place: "'\(name)'",
      "it is read before its size is known: such sizes are found between two graphs, and control flow or "
        + "another model crosses the cut", remedy: "export the layers that read it as a separate model")
  }

  /// Returns a tensor, whether or not its size is known.
  func held(_ name: String) throws -> Blob {
    guard let held = blobs[name] else { throw emitter.invalid("reads '\(name)', which is not computed before it") }
    return Blob(emitter.value(held.blob.id, of: held.depth), held.blob.shape)
  }

  /// Runs a trial: emits layers an additional time to determine the types of their results. Trials may nest.
  ///
  /// - Returns: Nil if the limit of layers emitted in trials is exceeded.
  func trying<Result>(_ write: () throws -> Result) rethrows -> Result? {
    guard layersTried < Self.trialLimit else {
      hasTriedAll = true
      return nil
    }
    trials += 1
    defer { trials -= 1 }
    return try write()
  }

  /// Counts an emitted layer if a trial is in progress.
  func count() { if trials > 0 { layersTried += 1 } }

  /// Runs a closure, and afterwards restores the tensors.
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

  /// Returns the same elements in another shape.
  func view(_ blob: Blob, _ shape: Shape) throws -> ValueID {
    if emitter.shape(blob.id) == shape { return blob.id }
    let key = View(id: blob.id, shape: shape)
    if let view = views[key] { return view }
    let view = try emitter.reshape(blob.id, shape, step: "view")
    views[key] = view
    return view
  }

  /// Returns the value in the tensor's logical shape.
  func logical(_ blob: Blob) throws -> ValueID { try view(blob, blob.shape) }

  /// Returns the value as `[everything before, C, H, W]`.
  func planes(_ blob: Blob) throws -> ValueID { try view(blob, try planeShape(blob)) }

  func planeShape(_ blob: Blob) throws -> Shape {
    let sizes = blob.shape.dimensions
    guard sizes.count >= 3 else { throw emitter.invalid("expected at least 3 axes, got \(blob.shape)") }
    return Shape([sizes.dropLast(3).reduce(1, *)] + sizes.suffix(3))
  }

  /// Returns the value converted to another element type.
  func convert(_ blob: Blob, to scalar: ScalarType) throws -> Blob {
    if emitter.scalar(blob.id) == scalar { return blob }
    let key = Conversion(id: blob.id, scalar: scalar)
    if let id = converted[key] { return Blob(id, blob.shape) }
    let id = try emitter.cast(blob.id, to: scalar, step: scalar.rawValue)
    converted[key] = id
    return Blob(id, blob.shape)
  }

  func scalar(_ value: Float, step: String) -> ValueID {
    emitter.constant(Double(value), .float32, step: step)
  }
}
