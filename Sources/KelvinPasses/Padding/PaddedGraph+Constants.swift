import KelvinGraph

extension PaddedGraph {
  /// The number of elements above which constants are compared by their origin only.
  private static let comparedCount = 1 << 20

  /// Returns the operand of a node for a value: the value itself, or the replacement of a constant that depends on the
  /// length.
  mutating func operand(_ id: ValueID, place: String) throws(GraphError) -> ValueID {
    if id.index >= builds[0].values.count { return id }
    if let known = constants[id] { return known }
    var weights: [Weight] = []
    for build in builds { if let weight = build[id].weight { weights.append(weight) } }
    guard !weights.isEmpty else { return id }
    guard weights.count == builds.count else {
      throw GraphError(place, "reads a value that is constant for some lengths only")
    }
    let result = try standIn(for: id, weights, place)
    constants[id] = result
    return result
  }

  private mutating func standIn(
    for id: ValueID, _ weights: [Weight], _ place: String
  ) throws(GraphError) -> ValueID {
    let axes = grows(id)
    var comparison = WeightComparison(comparedCount: Self.comparedCount)
    if axes.isEmpty, comparison.isSame(weights[0], weights[1]), comparison.isSame(weights[1], weights[2]) { return id }
    let name = graph[id].name
    guard weights[0].type.count <= Self.comparedCount else {
      throw GraphError(place, "'\(name)' of \(weights[0].type) depends on the length")
    }
    let tensors = weights.map { $0.dense() }
    let places = [
      Self.places(of: tensors[1].shape, in: tensors[0].shape), Self.places(of: tensors[2].shape, in: tensors[1].shape),
    ]
    let scalar = weights[0].type.scalar
    guard !scalar.isFloatingPoint, scalar != .bool else {
      let isShifted = zip(places, zip(tensors, tensors.dropFirst())).allSatisfy { places, pair in
        let (longer, shorter) = (pair.0.doubles, pair.1.doubles)
        return places.indices.allSatisfy { longer[places[$0]].bitPattern == shorter[$0].bitPattern }
      }
      guard isShifted else { throw GraphError(place, "elements of '\(name)' depend on the length") }
      return id
    }
    let words = tensors.map(\.words)
    var slopes = [Int64](repeating: 0, count: words[0].count)
    for (index, place) in places[0].enumerated() { slopes[place] = words[0][place] &- words[1][index] }
    for (index, inner) in places[1].enumerated() where words[1][inner] &- words[2][index] != slopes[places[0][inner]] {
      throw GraphError(place, "elements of '\(name)' do not grow with the length by a fixed step")
    }
    guard slopes.contains(where: { $0 != 0 }) else { return id }
    return try counted(tensors[0], slopes, name, isNatural: words.joined().allSatisfy { $0 >= 0 })
  }

  /// Returns `constant - slopes · padding`. If no element is negative at any length, none in the padding is.
  private mutating func counted(
    _ tensor: Tensor, _ slopes: [Int64], _ name: String, isNatural: Bool
  ) throws(GraphError) -> ValueID {
    let scalar = tensor.type.scalar
    var step = try cast(scalar)
    if slopes.contains(where: { $0 != 1 }) {
      let factors = constant(Tensor(tensor.type, wrapping: slopes), name: "\(name)/slopes")
      step = try add(Binary(.multiply), factors, step, name: "\(name)/steps")
    }
    let longest = constant(tensor, name: "\(name)/longest")
    let result = try add(Binary(.subtract), longest, step, name: name)
    guard isNatural else { return result }
    return try add(Binary(.maximum), result, zero(scalar), name: "\(name)/natural")
  }

  private mutating func cast(_ scalar: ScalarType) throws(GraphError) -> ValueID {
    scalar == .int64 ? padding : try add(Cast(scalar), padding, name: "rows")
  }

  mutating func zero(_ scalar: ScalarType) -> ValueID {
    constant(Tensor(TensorType(scalar, []), rounding: [0]), name: "zero")
  }

  /// Returns the indices of a tensor's elements in a tensor that is longer at the front.
  private static func places(of shape: Shape, in longer: Shape) -> [Int] {
    let strides = longer.strides
    var places = [0]
    for axis in 0..<shape.rank {
      let first = longer[axis] - shape[axis]
      places = places.flatMap { place in (0..<shape[axis]).map { place + (first + $0) * strides[axis] } }
    }
    return places
  }
}

/// Compares weights as far as this is possible without expanding large ones.
private struct WeightComparison {
  private struct Pair: Hashable {
    let first, second: ObjectIdentifier
  }

  /// The number of elements above which constants are compared by their origin only.
  let comparedCount: Int
  /// The results for computed weights. A weight may be computed from another in exponentially many ways.
  private var known: [Pair: Bool] = [:]

  init(comparedCount: Int) { self.comparedCount = comparedCount }

  /// Returns whether two weights are known to have equal elements.
  mutating func isSame(_ first: Weight, _ second: Weight) -> Bool {
    guard first.type == second.type else { return false }
    let isSmall = first.type.count <= comparedCount
    switch (first.encoding, second.encoding) {
    case (.dense(let own), .dense(let other)):
      return own.bytes.withUnsafeBytes { own in
        other.bytes.withUnsafeBytes { other in
          own.baseAddress == other.baseAddress || isSmall && own.elementsEqual(other)
        }
      }
    case (.packed(let own), .packed(let other)):
      return own.bytes.withUnsafeBytes { own in
        other.bytes.withUnsafeBytes { own.baseAddress == $0.baseAddress || own.elementsEqual($0) }
      }
    case (.deferred(let own), .deferred(let other)):
      let pair = Pair(first: ObjectIdentifier(own), second: ObjectIdentifier(other))
      if let result = known[pair] { return result }
      let result: Bool
      if own === other {
        result = true
      } else if let recipe = own.recipe, let wanted = other.recipe {
        result = recipe.name == wanted.name && areSame(recipe.inputs, wanted.inputs)
      } else {
        result = isSmall && isSame(Weight(own.value()), Weight(other.value()))
      }
      known[pair] = result
      return result
    default:
      return !first.parts.isEmpty && areSame(first.parts, second.parts)
    }
  }

  private mutating func areSame(_ first: [Weight], _ second: [Weight]) -> Bool {
    guard first.count == second.count else { return false }
    for (first, second) in zip(first, second) where !isSame(first, second) { return false }
    return true
  }
}
