import KelvinBasics
package import KelvinFeatures
package import KelvinGraph
import KelvinImages
package import KelvinRuntime

/// Converts feature values to inputs of graphs and host operations, and their outputs to feature values.
package struct FeatureBinding: Sendable {
  package let function: Function

  package init(function: Function) { self.function = function }

  /// Returns the shapes of the caller's arrays for flexible inputs.
  ///
  /// - Throws: `featureType` for a shape outside the feature's range.
  package func shapes(_ provider: some FeatureProvider) throws(ModelError) -> [String: Shape] {
    var shapes: [String: Shape] = [:]
    for feature in function.inputs {
      if case .image(let image) = feature.type, image.isFlexible,
        case .image(let input)? = provider.featureValue(for: feature.name)?.storage
      {
        shapes[feature.name] = image.tensorShape(input.size(for: image))
      }
      // An image input also accepts the tensor that an image is converted to.
      if case .image(let image) = feature.type, image.isFlexible,
        let array = provider.featureValue(for: feature.name)?.multiArrayValue, array.shape.count == 4,
        image.accepts(.init(width: array.shape[3], height: array.shape[2]))
      {
        shapes[feature.name] = Shape(array.shape)
      }
      guard case .tensor(_, let dimensions) = feature.type, feature.hasOpenSizes,
        let array = provider.featureValue(for: feature.name)?.multiArrayValue,
        feature.takesAnyShape || dimensions.contains(where: \.isFlexible) || array.shape.count != dimensions.count
      else { continue }
      try check(Shape(array.shape), of: feature, dimensions)
      shapes[feature.name] = Shape(array.shape)
    }
    return shapes
  }

  /// Returns the size of a prediction: the number of elements of the flexible inputs.
  func size(_ provider: some FeatureProvider) throws(ModelError) -> Int {
    try shapes(provider).values.reduce(0) { $0 + $1.count }
  }

  func check(_ shape: Shape, of feature: Feature, _ dimensions: [Dimension]) throws(ModelError) {
    let own = feature.described(shape)
    let fits =
      own.rank == dimensions.count && zip(own.dimensions, dimensions).allSatisfy { $1.accepts($0) }
      && (feature.allowedShapes.isEmpty || feature.allowedShapes.contains(own))
    guard fits else {
      let expected = dimensions.map(\.description).joined(separator: " x ")
      throw mismatch(feature, "expected a shape of \(expected), got \(shape)")
    }
  }

  /// Returns the values that a prediction uses. The provider is queried once, before a session is acquired, since it
  /// may itself predict.
  ///
  /// - Throws: `featureType` naming a feature that the model does not have.
  package func values(_ provider: some FeatureProvider) throws(ModelError) -> DictionaryFeatureProvider {
    let given = provider.featureNames.map { (name: $0, own: ownName(of: $0)) }
    try checkNames(Set(given.map(\.own)))
    var values: [String: FeatureValue] = [:]
    for (name, own) in given {
      guard let value = provider.featureValue(for: name), !value.isUndefined else { continue }
      values[own] = value
    }
    return DictionaryFeatureProvider(dictionary: values)
  }

  /// Returns the names of the constants for which values are given.
  ///
  /// - Parameter values: the result of `values(_:)`, whose names the model has.
  func overridden(_ values: DictionaryFeatureProvider) -> Set<String> {
    function.overridable.isEmpty ? [] : values.featureNames.subtracting(function.inputs.map(\.name))
  }

  /// Returns the name of the feature that a caller's name means; the escaped name for one that the model does not have.
  private func ownName(of given: String) -> String {
    guard !ExactString(given).isASCII else { return given }
    return (function.inputs + function.overridable).first { $0.isNamed(given) }?.name ?? ExactString(given).escaped
  }

  private func checkNames(_ given: Set<String>) throws(ModelError) {
    let names = Set(function.inputs.map(\.name))
    let others = given.subtracting(names)
    guard !others.isEmpty else { return }
    if let unknown = others.subtracting(function.overridable.map(\.name)).min() {
      throw ModelError(
        .featureType, "the model has no input '\(unknown)'; it has \(names.sorted().joined(separator: ", "))")
    }
  }

  /// The number of bytes from which an array is worth a session that reads it in place.
  private static let leastBorrowed = 1 << 16

  /// Returns the caller's memory of the inputs of a graph that can be read in place, by index. It is valid as long as
  /// the values are.
  func borrowable(
    _ values: DictionaryFeatureProvider, besides slots: [String: HostValue], _ graph: Graph
  ) -> [Int: CallerBuffer] {
    var buffers: [Int: CallerBuffer] = [:]
    for (index, id) in graph.inputs.enumerated() where graph[id].type.byteCount >= Self.leastBorrowed {
      let (name, type) = (graph[id].name, graph[id].type)
      guard slots[name] == nil, let array = values[name]?.multiArrayValue, array.isDense,
        array.dataType.scalar == type.scalar, Shape(array.shape) == type.shape
      else { continue }
      // A kept session must not keep the caller's array: it may be one of a few that the caller uses in turn.
      buffers[index] = CallerBuffer(array.memory, owner: nil)
    }
    return buffers
  }

  /// Writes every input of a session's graph, except for inputs that are read in place.
  ///
  /// - Parameters:
  ///   - values: the caller's values.
  ///   - slots: the results of earlier parts, which take precedence over the caller's values.
  /// - Throws: the errors of writing one input.
  package func write(
    _ values: DictionaryFeatureProvider, _ slots: [String: HostValue] = [:], to session: Session
  ) throws(ModelError) {
    let graph = session.model.graph
    for (index, id) in graph.inputs.enumerated() where !session.callerOwnedInputs.contains(index) {
      let (name, type) = (graph[id].name, graph[id].type)
      try session.withInput(index) { (memory) throws(ModelError) in try write(name, type, values, slots, to: memory) }
    }
  }

  /// Writes one input of a graph.
  ///
  /// - Throws: `featureType` naming the feature, if it is missing or does not fit, with the expected and given types.
  func write(
    _ name: String, _ type: TensorType, _ values: DictionaryFeatureProvider, _ slots: [String: HostValue],
    to memory: UnsafeMutableRawBufferPointer
  ) throws(ModelError) {
    if let computed = slots[name] {
      guard case .tensor(let tensor) = computed, tensor.type == type else {
        throw ModelError(.generic, "the graph's input '\(name)' is \(type), its computed value \(computed.type)")
      }
      return tensor.bytes.withUnsafeBytes { memory.copyMemory(from: $0) }
    }
    guard let feature = function.inputs.first(where: { $0.name == name }) else {
      throw ModelError(.generic, "the graph's input '\(name)' is not a feature of the model")
    }
    if let value = values[name], !value.isUndefined {
      try write(value, feature, type, to: memory)
    } else if let number = feature.defaultValue {
      Tensor.store([Double](repeating: number, count: type.count), as: type.scalar, in: memory)
    } else {
      throw missing(feature)
    }
  }

  func write(
    _ value: FeatureValue, _ feature: Feature, _ type: TensorType, to memory: UnsafeMutableRawBufferPointer
  ) throws(ModelError) {
    switch (value.storage, feature.type) {
    case (.image(let input), .image(let image)):
      var image = image
      if type.shape.rank == 4 { (image.height, image.width) = (type.shape[2], type.shape[3]) }
      try write(input, feature, image, to: memory)
    case (.multiArray(let array), _):
      try write(array, feature, type, to: memory)
    case (.int64(let number), _) where type.count == 1:
      Tensor.store([Double(number)], as: type.scalar, in: memory)
    case (.double(let number), _) where type.count == 1:
      Tensor.store([number], as: type.scalar, in: memory)
    default:
      throw mismatch(
        feature, "expected \(FeatureDescription(feature).type.rawValue) (\(type)), got \(value.type.rawValue)")
    }
  }

  private func write(
    _ array: MultiArray, _ feature: Feature, _ type: TensorType, to memory: UnsafeMutableRawBufferPointer
  ) throws(ModelError) {
    let (shape, scalar) = (Shape(array.shape), array.dataType.scalar)
    guard shape == type.shape else {
      throw mismatch(feature, "expected shape \(type.shape), got \(shape)")
    }
    if scalar == type.scalar {
      array.withDenseBytes { memory.copyMemory(from: $0) }
    } else {
      // As in Core ML, floating-point values are accepted for integers; values that would lose information are
      // rejected.
      if let lost = array.firstElement(lostAs: MultiArrayDataType(type.scalar)) {
        throw mismatch(
          feature,
          "expected \(type.scalar.rawValue) elements, got \(scalar.rawValue) with \(lost); round them first"
        )
      }
      array.tensor.converted(to: type.scalar).bytes.withUnsafeBytes { memory.copyMemory(from: $0) }
    }
  }

  func missing(_ feature: Feature) -> ModelError {
    mismatch(feature, "no value was given, and the model has no default for it")
  }

  func mismatch(_ feature: Feature, _ reason: String) -> ModelError {
    ModelError(.featureType, "input '\(feature.name)': \(reason)")
  }
}
