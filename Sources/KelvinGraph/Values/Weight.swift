import Synchronization

/// A constant tensor of a model, in the encoding of the file.
///
/// Devices pack weights once into their own layouts, so a weight exposes its encoding and lets each device choose when
/// to expand it. `dense()` is the expansion that works for every encoding. Encodings nest: their components are weights
/// again.
///
/// Except for counting the bits of masks, nothing is read from the file before expansion. A model whose packed weights
/// are cached starts without reading its weights.
package struct Weight: Sendable {
  package indirect enum Encoding: Sendable {
    /// Dense elements, usually in a mapped file.
    case dense(Tensor)
    /// Elements that are computed from other weights when they are first needed.
    case deferred(DeferredTensor)
    /// Integers of 1 to 8 bits.
    case packed(PackedIntegers)
    /// A palettized weight: indices into lookup tables.
    case palettized(PalettizedWeight)
    /// A linearly quantized weight.
    case affine(AffineWeight)
    /// A sparse weight: a mask and the elements that it selects.
    case sparse(SparseWeight)
    /// The elements that a mask selects, in one dimension.
    case selected(SelectedWeight)
    /// The elements of another weight, rounded to another element type.
    case converted(Weight, ScalarType)
  }

  package let encoding: Encoding
  package let type: TensorType
  /// The number of elements that an expansion computes, including those of nested encodings.
  let work: Int
  /// The depth of nested encodings.
  let depth: Int

  package init(_ tensor: Tensor) {
    encoding = .dense(tensor)
    type = tensor.type
    work = 0
    depth = 0
  }

  /// Creates a weight of packed integers; fewer than 8 bits are expanded to 8.
  package init(_ integers: PackedIntegers) {
    encoding = .packed(integers)
    type = integers.type
    work = integers.count
    depth = 0
  }

  /// Creates a weight that is computed once, at its first use.
  ///
  /// - Parameters:
  ///   - sources: The weights that are expanded in the computation.
  ///   - recipe: Identifies everything that the elements depend on; nil if this may include the shapes of the model's
  ///     inputs.
  ///   - quantizedBits: The number of bits that suffice for every element of 8-bit integers.
  ///   - isLong: Whether the computation takes much longer than reading its sources; `release` then keeps its result.
  ///   - compute: Returns a tensor of exactly this type.
  package init(
    _ type: TensorType, from sources: [Weight] = [], recipe: WeightRecipe? = nil, quantizedBits: Int = 8,
    isLong: Bool = false, computing compute: @escaping @Sendable () -> Tensor
  ) {
    encoding = .deferred(DeferredTensor(type, sources, recipe, quantizedBits, isLong: isLong, compute))
    self.type = type
    work = type.count
    depth = 0
  }

  /// Creates a weight of an encoding.
  ///
  /// - Throws: `GraphError` if the expansion takes work or memory out of proportion to the file's contents.
  init(_ encoding: Encoding, _ type: TensorType, of parts: [Weight]) throws(GraphError) {
    self.encoding = encoding
    self.type = type
    depth = 1 + (parts.map(\.depth).max() ?? 0)
    guard type.shape.isAddressable else { throw GraphError("compressed weight", "\(type) is too large") }
    guard depth <= Self.depthLimit else {
      throw GraphError("compressed weight", "encodings are nested more than \(Self.depthLimit) deep")
    }
    work = parts.reduce(type.count) { $0 + $1.work }
    guard work <= 64 * type.count + 1 << 16 else {
      throw GraphError("compressed weight", "expanding \(type) takes \(work) steps")
    }
    let stored = parts.reduce(0) { $0 + $1.storedByteCount }
    guard type.byteCount <= 256 * stored + 1 << 20 else {
      throw GraphError("compressed weight", "\(type) is stored in only \(stored) bytes")
    }
  }

  private static let depthLimit = 16

  /// Returns the elements rounded to another type, or the weight itself if it has that type.
  package func converted(to scalar: ScalarType) throws(GraphError) -> Weight {
    if scalar == type.scalar { return self }
    return try Weight(.converted(self, scalar), TensorType(scalar, type.shape), of: [self])
  }

  /// Returns the same elements in another shape, in the same encoding if that does not depend on the shape.
  package func reshaped(to shape: Shape) -> Weight {
    if shape == type.shape { return self }
    let single = Shape([Int](repeating: 1, count: shape.rank))
    switch encoding {
    case .dense(let tensor): return Weight(tensor.reshaped(to: shape))
    case .packed(let integers):
      if let integers = try? PackedIntegers(
        integers.bytes, bits: integers.bits, isSigned: integers.isSigned, order: integers.order, shape: shape)
      {
        return Weight(integers)
      }
    case .palettized(let palettized) where palettized.table.type.shape.dimensions.dropLast(2).allSatisfy({ $0 == 1 }):
      let sizes = palettized.table.type.shape.dimensions.suffix(2)
      if sizes.last == 1,
        let weight = try? Weight(
          palettized: palettized.indices.reshaped(to: shape),
          table: palettized.table.reshaped(to: Shape(single.dimensions + sizes)))
      {
        return weight
      }
    case .affine(let affine) where affine.scale.type.count == 1:
      let data = affine.data.reshaped(to: shape)
      let scale = affine.scale.reshaped(to: single)
      if let bias = affine.bias?.reshaped(to: single) {
        if let weight = try? Weight(affine: data, scale: scale, bias: bias) { return weight }
      } else if let weight = try? Weight(
        affine: data, scale: scale, offset: affine.offset?.reshaped(to: single))
      {
        return weight
      }
    default: break
    }
    return Weight(TensorType(type.scalar, shape), from: [self], recipe: WeightRecipe("reshaped", [self])) {
      dense().reshaped(to: shape)
    }
  }

  /// Returns the same elements with axes in another order, in the same encoding if possible. Axis `i` of the result is
  /// axis `order[i]`.
  package func transposed(_ order: [Int]) -> Weight {
    switch encoding {
    case .palettized(let palettized) where palettized.table.type.shape.dimensions.last == 1:
      let rank = order.count
      if let weight = try? Weight(
        palettized: palettized.indices.transposed(order),
        table: palettized.table.transposed(order + [rank, rank + 1]))
      {
        return weight
      }
    case .affine(let affine):
      let (data, scale) = (affine.data.transposed(order), affine.scale.transposed(order))
      if let bias = affine.bias?.transposed(order) {
        if let weight = try? Weight(affine: data, scale: scale, bias: bias) { return weight }
      } else if let weight = try? Weight(affine: data, scale: scale, offset: affine.offset?.transposed(order)) {
        return weight
      }
    case .deferred(let deferred):
      let inverse = order.indices.map { order.firstIndex(of: $0) ?? $0 }
      if let source = deferred.source(transposedBy: inverse) { return source }
    default: break
    }
    return Weight(
      TensorType(type.scalar, Shape(order.map { type.shape[$0] })), from: [self],
      recipe: WeightRecipe(WeightRecipe.transposition(order), [self]), quantizedBits: quantizedBits
    ) { dense().transposed(order) }
  }

  /// The matrix whose transposition this weight is, if that is a dense tensor; nil otherwise.
  package var transposedTensor: Tensor? {
    guard case .deferred(let deferred) = encoding, let source = deferred.source(transposedBy: [1, 0]),
      case .dense(let tensor) = source.encoding
    else { return nil }
    return tensor
  }

  /// Returns the expanded elements. An encoding is expanded anew at each call.
  package func dense() -> Tensor {
    switch encoding {
    case .dense(let tensor): tensor
    case .deferred(let deferred): deferred.value()
    case .packed(let integers): integers.unpacked()
    case .palettized(let palettized): palettized.dense()
    case .affine(let affine): affine.dense()
    case .sparse(let sparse): sparse.dense()
    case .selected(let selected): selected.dense()
    case .converted(let weight, let scalar): weight.dense().converted(to: scalar)
    }
  }

  /// Frees memory after a use that is expected to be the last: results of short computations, their sources that are
  /// not larger, and the pages of a mapped file. A later use computes and reads them again.
  package func release() {
    switch encoding {
    case .dense(let tensor): tensor.bytes.dropPages()
    case .packed(let integers): integers.bytes.dropPages()
    case .deferred(let deferred): deferred.release()
    default: for part in parts { part.release() }
    }
  }

  /// The components of an encoding, or the sources of a deferred weight.
  package var parts: [Weight] {
    switch encoding {
    case .dense, .packed: []
    case .deferred(let deferred): deferred.sources
    case .palettized(let palettized): [palettized.indices, palettized.table]
    case .affine(let affine): [affine.data, affine.scale] + [affine.offset, affine.bias].compactMap { $0 }
    case .sparse(let sparse): [sparse.values, sparse.mask]
    case .selected(let selected): [selected.source, selected.mask]
    case .converted(let weight, _): [weight]
    }
  }

  /// Whether the elements are encoded, or computed from encoded ones. Their expansions are not cached on disk. Dense
  /// elements that are only rounded to another type do not count as encoded.
  package var isCompressed: Bool {
    switch encoding {
    case .dense: false
    case .deferred(let deferred): deferred.isCompressed
    case .packed, .palettized, .affine, .sparse, .selected: true
    case .converted(let weight, _): weight.isCompressed
    }
  }

  /// Whether float16 represents each element, derived from the encoding without reading elements.
  package var isHeldByFloat16: Bool {
    switch encoding {
    case .converted(let weight, .float32), .converted(let weight, .float64): weight.isHeldByFloat16
    case .palettized(let palettized): palettized.table.isHeldByFloat16
    case .sparse(let sparse): sparse.values.isHeldByFloat16
    default: type.scalar == .float16
    }
  }

  /// The number of bytes of the stored encoding. A deferred weight without sources counts as its result.
  package var storedByteCount: Int {
    switch encoding {
    case .dense: type.byteCount
    case .packed(let integers): integers.bytes.count
    case .deferred(let deferred): deferred.storedByteCount
    default: parts.reduce(0) { $0 + $1.storedByteCount }
    }
  }
}

/// The identity of a computation of a weight from others. Equal recipes with equal inputs give equal elements of one
/// type, independent of the shapes of the model's inputs, so that specializations can share packed weights.
package struct WeightRecipe: Sendable {
  /// The name of the computation, including its parameters.
  package let name: String
  package let inputs: [Weight]

  package init(_ name: String, _ inputs: [Weight]) {
    self.name = name
    self.inputs = inputs
  }

  /// The name of the recipe of `Weight.transposed`.
  package static func transposition(_ order: [Int]) -> String { "transposed \(order)" }
}

/// A tensor that is computed on demand.
package final class DeferredTensor: Sendable {
  package let type: TensorType
  package let sources: [Weight]
  package let recipe: WeightRecipe?
  let isCompressed: Bool
  let storedByteCount: Int
  let quantizedBits: Int
  private let isLong: Bool
  private let compute: @Sendable () -> Tensor
  private let computed = Mutex<Tensor?>(nil)

  fileprivate init(
    _ type: TensorType, _ sources: [Weight], _ recipe: WeightRecipe?, _ quantizedBits: Int, isLong: Bool,
    _ compute: @escaping @Sendable () -> Tensor
  ) {
    self.quantizedBits = quantizedBits
    self.isLong = isLong
    self.type = type
    self.sources = sources
    self.recipe = recipe
    self.compute = compute
    isCompressed = sources.contains { $0.isCompressed }
    storedByteCount =
      sources.isEmpty
      ? type.byteCount
      : sources.reduce(0) {
        let (sum, overflow) = $0.addingReportingOverflow($1.storedByteCount)
        return overflow ? .max : sum
      }
  }

  package func value() -> Tensor {
    computed.withLock { computed in
      if let computed { return computed }
      let tensor = compute()
      precondition(tensor.type == type, "a deferred weight of \(type) was computed as \(tensor.type)")
      computed = tensor
      return tensor
    }
  }

  /// Returns the weight that this one is with its axes in the given order; nil if it is computed in another way.
  fileprivate func source(transposedBy order: [Int]) -> Weight? {
    recipe?.name == WeightRecipe.transposition(order) ? recipe?.inputs.first : nil
  }

  /// Implements `Weight.release()`. Sources that this weight did not compute are not visited again, because there may
  /// be exponentially many ways to them. Larger ones stay, because many weights may be parts of them.
  fileprivate func release() {
    if isLong { return }
    let wasComputed = computed.withLock { $0.take() } != nil
    for source in sources where source.type.byteCount <= type.byteCount {
      if case .deferred = source.encoding, !wasComputed { continue }
      source.release()
    }
  }
}
