import KelvinGraph
import KelvinImport

/// The field numbers of layers in `NeuralNetworkLayer`.
typealias Layers = NetworkSchema.NeuralNetworkLayer

/// A mapper from a layer of a network to Kelvin's operators.
struct LayerMapper: OperationMapper {
  /// The layer's field number in `NeuralNetworkLayer`.
  let name: Int
  /// The indices of inputs whose elements must be known while the graph is built, because sizes depend on them.
  let valueDependentInputs: Set<Int>
  /// Whether the results depend only on the shapes of the inputs.
  let readsOnlyShapes: Bool
  /// Whether the layer has outputs whose size is known only after it ran.
  let hasDataDependentShape: Bool
  let map: @Sendable (LayerContext) throws -> [Blob]

  /// Creates a mapper for a layer with one output.
  ///
  /// - Parameter map: Emits the nodes and returns the layer's output.
  init(
    _ name: Int, valueDependent: Set<Int> = [], readsOnlyShapes: Bool = false, hasDataDependentShape: Bool = false,
    _ map: @escaping @Sendable (LayerContext) throws -> Blob
  ) {
    self.name = name
    valueDependentInputs = valueDependent
    self.readsOnlyShapes = readsOnlyShapes
    self.hasDataDependentShape = hasDataDependentShape
    self.map = { [try map($0)] }
  }

  /// Creates a mapper for a layer with several outputs.
  ///
  /// - Parameter map: Emits the nodes and returns the layer's outputs.
  init(
    several name: Int, valueDependent: Set<Int> = [], _ map: @escaping @Sendable (LayerContext) throws -> [Blob]
  ) {
    self.name = name
    valueDependentInputs = valueDependent
    (readsOnlyShapes, hasDataDependentShape) = (false, false)
    self.map = map
  }

  static let byName: [Int: LayerMapper] = table(layerMappers)
}

/// The view of a layer that mappers use: its parameters and inputs, and the graph under construction.
struct LayerContext {
  let layer: NetworkLayer
  let scope: LayerScope

  var emitter: Emitter { scope.emitter }
  var inputs: [String] { layer.inputs }
  var outputs: [String] { layer.outputs }
  var parameters: LayerParameters { layer.parameters }

  /// Returns an integer parameter, or a default if it is absent or 0.
  func integer(_ field: Int, default value: Int = 0) throws -> Int { try parameters.integer(field, default: value) }

  /// Returns a number parameter; 0 if it is absent.
  func number(_ field: Int) throws -> Float { try parameters.number(field) ?? 0 }

  /// Returns a number parameter, or a default if it is absent or 0.
  func number(_ field: Int, default value: Float) throws -> Float { try parameters.number(field, default: value) }

  func flag(_ field: Int) throws -> Bool { try parameters.flag(field) }
  func flags(_ field: Int) throws -> [Bool] { try parameters.flags(field) }
  func integers(_ field: Int, limit: Int = 1024) throws -> [Int] { try parameters.integers(field, limit: limit) }
  func message(_ field: Int) throws -> LayerParameters? { try parameters.message(field) }
  func choice(among fields: Set<Int>) throws -> Int? { try parameters.choice(among: fields) }

  /// Returns a parameter that is an axis of a value, counted from the front.
  func axis(_ field: Int, of value: ValueID) throws -> Int { try emitter.axis(try integer(field), of: value) }

  /// Returns an input as float32, the type in which networks compute.
  func input(_ index: Int = 0) throws -> Blob { try scope.convert(try raw(index), to: .float32) }

  /// Returns an error about a layer that the format allows and Kelvin does not support.
  private func unsupported(_ reason: String, remedy: String? = nil) -> FormatError {
    FormatError(
      .unsupported, file: parameters.message.file, offset: parameters.message.offset, reason, remedy: remedy)
  }

  /// Returns an input in the type in which it was computed.
  func raw(_ index: Int) throws -> Blob {
    guard index < inputs.count else { throw emitter.invalid("has \(inputs.count) inputs, needs \(index + 1)") }
    return try scope.read(inputs[index])
  }

  /// Returns an input that holds integers, as int32.
  func indices(_ index: Int) throws -> Blob {
    let blob = try raw(index)
    return emitter.scalar(blob.id).isFloatingPoint ? try scope.convert(blob, to: .int32) : blob
  }

  /// Returns an input in its logical shape: as float32, in its own type, or as indices.
  func logical(_ index: Int) throws -> ValueID { try logical(try input(index)) }
  func rawLogical(_ index: Int) throws -> ValueID { try logical(try raw(index)) }
  func logicalIndices(_ index: Int) throws -> ValueID { try logical(try indices(index)) }
  func allLogical() throws -> [ValueID] { try allInputs().map { try logical($0) } }

  /// Returns all inputs; there is at least one.
  func allInputs() throws -> [Blob] {
    guard !inputs.isEmpty else { throw emitter.invalid("has no inputs") }
    return try inputs.indices.map { try input($0) }
  }

  /// Returns the numbers of an input that is known while the graph is built.
  func known(_ index: Int) throws -> [Double] {
    let blob = try raw(index)
    guard let weight = emitter.weight(blob.id) else {
      throw unsupported(
        "'\(inputs[index])' depends on the model's inputs where control flow or another model keeps the graph from being "
          + "cut, expected a constant")
    }
    guard weight.type.count <= 1024 else { throw emitter.invalid("'\(inputs[index])' has \(weight.type)") }
    return weight.dense().doubles
  }

  func knownIntegers(_ index: Int) throws -> [Int] { try known(index).map { Int(saturating: $0) } }

  func weights(_ field: Int) throws -> LayerWeights {
    guard let weights = try message(field) else { throw emitter.invalid("it has no weights") }
    return LayerWeights(weights)
  }

  /// Returns a list of two numbers, one for rows and one for columns, or the format's default.
  func pair(_ field: Int, default value: Int) throws -> [Int] {
    let list = try integers(field)
    if list.isEmpty { return [value, value] }
    guard list.count == 2 else { throw emitter.invalid("a list has \(list.count) sizes, expected 2") }
    return list
  }
}

/// Values in the shapes that layers compute in, and functions of them.
extension LayerContext {
  func view(_ blob: Blob, _ shape: Shape) throws -> ValueID { try scope.view(blob, shape) }
  func logical(_ blob: Blob) throws -> ValueID { try scope.logical(blob) }
  func planes(_ blob: Blob) throws -> ValueID { try scope.planes(blob) }
  func planeShape(_ blob: Blob) throws -> Shape { try scope.planeShape(blob) }

  /// Returns the sizes before the last three axes.
  func lead(_ blob: Blob) -> [Int] { Array(blob.shape.dimensions.dropLast(3)) }

  /// Returns the tensor for a value computed from planes, with the batch axes of the layer's input.
  func fromPlanes(_ id: ValueID, _ input: Blob) -> Blob {
    Blob(id, Shape(lead(input) + emitter.shape(id).dimensions.suffix(3)))
  }

  /// Applies a function to every element.
  func unary(_ function: UnaryFunction, _ x: Blob, step: String? = nil) throws -> Blob {
    Blob(try emitter.unary(function, x.id, step: step), x.shape)
  }

  /// Returns two tensors in shapes that broadcast to the shape of the result: four axes if both have the same batch
  /// axes.
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

  /// Returns a constant that broadcasts to planes.
  func constant(_ weights: LayerWeights, _ shape: Shape, step: String) throws -> ValueID {
    emitter.constant(try weights.weight(shape), step: step)
  }

  func scalar(_ value: Float, step: String) -> ValueID { scope.scalar(value, step: step) }
  func convert(_ blob: Blob, to scalar: ScalarType) throws -> Blob { try scope.convert(blob, to: scalar) }
}
