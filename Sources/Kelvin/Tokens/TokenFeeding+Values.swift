import KelvinFeatures
package import KelvinGraph

extension TokenFeeding {
  /// Returns the shapes of a step's inputs.
  ///
  /// - Parameters:
  ///   - count: the number of tokens that the step reads.
  ///   - past: the number of tokens read before it.
  package func shapes(reading count: Int, after past: Int) -> [String: Shape] {
    var shapes: [String: Shape] = [:]
    for input in inputs { shapes[input.name] = input.shape(reading: count, after: past) }
    for cache in caches { shapes[cache.past] = cache.type(holding: past).shape }
    return shapes
  }

  /// Returns the values of a step's inputs.
  ///
  /// - Parameters:
  ///   - tokens: the tokens that the step reads.
  ///   - past: the number of tokens read before it.
  ///   - padding: the number of ignored rows in front of the tokens' rows.
  ///   - held: the outputs of the previous step, by the name of the input; nil for zeros.
  ///   - passesCaches: whether the model has inputs for the caches.
  package func values(
    reading tokens: [Int], after past: Int, behind padding: Int = 0, _ held: [String: FeatureValue]?,
    passesCaches: Bool = true
  ) -> DictionaryFeatureProvider {
    var values = held ?? [:]
    for input in inputs {
      let type = TensorType(input.scalar, input.shape(reading: tokens.count, after: padding + past))
      values[input.name] = FeatureValue(multiArray: MultiArray(input.tensor(type, tokens, past, behind: padding)))
    }
    for cache in caches where passesCaches && values[cache.past] == nil {
      let type = cache.type(holding: past)
      values[cache.past] = FeatureValue(
        multiArray: MultiArray(type) { _ = $0.initializeMemory(as: UInt8.self, repeating: 0) })
    }
    return DictionaryFeatureProvider(dictionary: values)
  }
}

extension TokenFeeding.Input {
  /// Leading axes of open size are 1.
  fileprivate func shape(reading count: Int, after past: Int) -> Shape {
    var sizes = dimensions.map { dimension -> Int in if case .fixed(let size) = dimension { size } else { 1 } }
    func set(_ axis: Int, _ size: Int) {
      if axis >= 0, case .flexible = dimensions[axis] { sizes[axis] = size }
    }
    let last = sizes.count - 1
    switch role {
    case .tokens, .positions: set(last, count)
    case .mask:
      set(last, past + count)
      if sizes.count > 2 { set(last - 1, count) }
    default: break
    }
    return Shape(sizes)
  }

  fileprivate func tensor(_ type: TensorType, _ tokens: [Int], _ past: Int, behind padding: Int) -> Tensor {
    func filled(_ value: (Int) -> Int) -> Tensor {
      let words = (0..<type.count).map { Int64(value($0)) }
      return scalar.isFloatingPoint ? Tensor(type, rounding: words.map(Double.init)) : Tensor(type, wrapping: words)
    }
    let total = past + tokens.count
    switch role {
    case .tokens: return filled { tokens[$0 % tokens.count] }
    case .positions: return filled { past + $0 % tokens.count }
    case .pastLength: return filled { _ in past }
    case .totalLength: return filled { _ in total }
    case .lastPosition: return filled { _ in total - 1 }
    case .past, .scores: preconditionFailure("'\(name)' is not an input of this kind")
    case .mask: break
    }
    let keys = max(type.shape.dimensions.last ?? 1, 1)
    guard type.shape.rank > 2 else { return filled { (padding..<padding + total).contains($0 % keys) ? 1 : 0 } }
    let queries = max(type.shape[type.shape.rank - 2], 1)
    func isSeen(_ place: Int) -> Bool {
      (padding...padding + past + place / keys % queries).contains(place % keys)
    }
    guard scalar.isFloatingPoint else { return filled { isSeen($0) ? 1 : 0 } }
    return filled { isSeen($0) ? 0 : Self.unseen }
  }

  /// The mask value for tokens that are not seen: the most negative float16, which makes a score's softmax weight zero.
  private static var unseen: Int { -65504 }
}
