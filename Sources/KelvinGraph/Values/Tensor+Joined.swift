extension Tensor {
  /// Concatenates tensors along the first axis.
  ///
  /// - Precondition: There is at least one, and they differ only in the size of that axis.
  package static func joined(_ parts: [Tensor]) -> Tensor {
    let type = TensorType(joining: parts.map(\.type))
    return Tensor(
      type,
      Bytes(count: type.byteCount) { target in
        var place = 0
        for part in parts {
          part.bytes.withUnsafeBytes {
            UnsafeMutableRawBufferPointer(rebasing: target[place..<place + $0.count]).copyMemory(from: $0)
          }
          place += part.bytes.count
        }
      })
  }
}

extension Weight {
  /// Concatenates weights along the first axis; they are expanded on demand.
  ///
  /// - Precondition: The same as for tensors.
  package static func joined(_ parts: [Weight]) -> Weight {
    Weight(TensorType(joining: parts.map(\.type)), from: parts, recipe: WeightRecipe("joined", parts)) {
      .joined(parts.map { $0.dense() })
    }
  }
}

extension TensorType {
  fileprivate init(joining parts: [TensorType]) {
    precondition(!parts.isEmpty && parts.allSatisfy { $0.scalar == parts[0].scalar && $0.shape.rank >= 1 })
    precondition(parts.allSatisfy { $0.shape.dimensions.dropFirst() == parts[0].shape.dimensions.dropFirst() })
    self = parts[0]
    shape[0] = parts.reduce(0) { $0 + $1.shape[0] }
  }
}
