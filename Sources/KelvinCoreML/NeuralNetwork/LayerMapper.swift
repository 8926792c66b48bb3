import KelvinGraph
import KelvinImport

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
  let map: @Sendable (NetworkLayer, LayerScope) throws -> [Blob]

  /// Creates a mapper for a layer with one output.
  ///
  /// - Parameter map: Emits the nodes and returns the layer's output.
  init(
    _ name: Int, valueDependent: Set<Int> = [], readsOnlyShapes: Bool = false, hasDataDependentShape: Bool = false,
    _ map: @escaping @Sendable (NetworkLayer, LayerScope) throws -> Blob
  ) {
    self.init(
      several: name, valueDependent: valueDependent, readsOnlyShapes: readsOnlyShapes,
      hasDataDependentShape: hasDataDependentShape
    ) {
      [try map($0, $1)]
    }
  }

  /// Creates a mapper for a layer with several outputs.
  ///
  /// - Parameter map: Emits the nodes and returns the layer's outputs.
  init(
    several name: Int, valueDependent: Set<Int> = [], readsOnlyShapes: Bool = false,
    hasDataDependentShape: Bool = false,
    _ map: @escaping @Sendable (NetworkLayer, LayerScope) throws -> [Blob]
  ) {
    self.name = name
    valueDependentInputs = valueDependent
    self.readsOnlyShapes = readsOnlyShapes
    self.hasDataDependentShape = hasDataDependentShape
    self.map = map
  }

  static let byName: [Int: LayerMapper] = table(layerMappers)
}

/// Accessors that mappers use to read a layer's inputs.
extension NetworkLayer {
  /// Returns an input as float32, the type in which networks compute.
  func input(_ index: Int = 0, _ scope: LayerScope) throws -> Blob {
    try scope.convert(try raw(index, scope), to: .float32)
  }

  /// Returns an error about a layer that the format allows and Kelvin does not support.
  func unsupported(_ reason: String, remedy: String? = nil) -> FormatError {
    FormatError(
      .unsupported, file: parameters.message.file, offset: parameters.message.offset, reason, remedy: remedy)
  }

  /// Returns an input in the type in which it was computed.
  func raw(_ index: Int, _ scope: LayerScope) throws -> Blob {
    guard index < inputs.count else { throw scope.emitter.invalid("has \(inputs.count) inputs, needs \(index + 1)") }
    return try scope.read(inputs[index])
  }

  /// Returns an input that holds integers, as int32.
  func indices(_ index: Int, _ scope: LayerScope) throws -> Blob {
    let blob = try raw(index, scope)
    return scope.emitter.scalar(blob.id).isFloatingPoint ? try scope.convert(blob, to: .int32) : blob
  }

  /// Returns all inputs; there is at least one.
  func allInputs(_ scope: LayerScope) throws -> [Blob] {
    guard !inputs.isEmpty else { throw scope.emitter.invalid("has no inputs") }
    var blobs: [Blob] = []
    for index in inputs.indices { blobs.append(try input(index, scope)) }
    return blobs
  }

  /// Returns the numbers of an input that is known while the graph is built.
  func known(_ index: Int, _ scope: LayerScope) throws -> [Double] {
    let blob = try raw(index, scope)
    guard let weight = scope.emitter.weight(blob.id) else {
      throw unsupported(
        "'\(inputs[index])' depends on the model's inputs where control flow or another model keeps the graph from being "
          + "cut, expected a constant")
    }
    guard weight.type.count <= 1024 else { throw scope.emitter.invalid("'\(inputs[index])' has \(weight.type)") }
    return weight.dense().doubles
  }

  func knownIntegers(_ index: Int, _ scope: LayerScope) throws -> [Int] {
    try known(index, scope).map { Int(saturating: $0) }
  }

  func weights(_ field: Int, _ scope: LayerScope) throws -> LayerWeights {
    guard let weights = try parameters.message(field) else { throw scope.emitter.invalid("it has no weights") }
    return LayerWeights(weights)
  }

  /// Returns a list of two numbers, one for rows and one for columns, or the format's default.
  func pair(_ field: Int, default value: Int, _ scope: LayerScope) throws -> [Int] {
    let list = try parameters.integers(field)
    if list.isEmpty { return [value, value] }
    guard list.count == 2 else { throw scope.emitter.invalid("a list has \(list.count) sizes, expected 2") }
    return list
  }
}
