import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// Packs constant inputs in the layouts that kernels require.
struct CPUPacker {
  let graph: Graph
  let weights: any PackedWeights
  let variant: CPUVariant

  func pack(_ pack: CPUPack, of node: Node) throws(DeviceError) -> Bytes {
    let ids = pack.inputs.map { node.inputs[$0] }
    let key = "\(ids.map { graph[$0].name }.joined(separator: "+"))/\(pack.layout)"
    return try weights.packed(key, byteCount: pack.byteCount) { (target) throws(DeviceError) in
      switch pack.content {
      case .floats(let fill): withFloats(ids[...]) { fill(target, $0) }
      case .elements(let fill): fill(target, ids.compactMap { graph[$0].weight?.dense().bytes })
      case .encoded(let fill): fill(target)
      }
      for id in ids { graph[id].weight?.release() }
    }
  }

  /// Returns the tensor as kernels see it inside a segment.
  ///
  /// - Parameter isAligned: whether its address is a multiple of the size of an element.
  func dense(_ id: ValueID, isAligned: Bool) throws(DeviceError) -> Bytes {
    let value = graph[id]
    if let stored = stored(value), !isAligned || stored.isAligned(for: value.type.scalar) { return stored }
    let layout = value.type.scalar.isFloatingPoint ? "dense-f\(value.type.scalar.innerByteCount * 8)" : "dense"
    return try weights.packed("\(value.name)/\(layout)", byteCount: value.type.innerByteCount) {
      (target) throws(DeviceError) in
      if value.type.scalar == .float16 {
        withFloats([id]) { target.copyMemory(from: UnsafeRawBufferPointer($0[0])) }
      } else {
        value.weight?.dense().bytes.withUnsafeBytes { target.copyMemory(from: $0) }
      }
      value.weight?.release()
    }
  }

  /// The size in bytes from which tensors are read in the model's file. Smaller ones are together in the pack, so that
  /// a start reads few pages of the model.
  private static let storedFrom = 1 << 16

  /// Returns a large tensor that the model's file has as kernels see it.
  private func stored(_ value: Value) -> Bytes? {
    guard case .dense(let tensor)? = value.weight?.encoding, tensor.bytes.isOfFile,
      tensor.bytes.count >= Self.storedFrom, value.type.scalar != .float16
    else { return nil }
    return tensor.bytes
  }

  /// Calls `body` with the elements of weights as float32, valid only during the call.
  private func withFloats(
    _ ids: ArraySlice<ValueID>, _ floats: [UnsafeBufferPointer<Float>] = [],
    _ body: ([UnsafeBufferPointer<Float>]) -> Void
  ) {
    guard let id = ids.first else { return body(floats) }
    guard let tensor = graph[id].weight?.dense(), tensor.type.scalar == .float32 else {
      return self.floats(id).withUnsafeBufferPointer { withFloats(ids.dropFirst(), floats + [$0], body) }
    }
    tensor.bytes.aligned(to: Float.self).withUnsafeBytes {
      withFloats(ids.dropFirst(), floats + [$0.bindMemory(to: Float.self)], body)
    }
  }

  private func floats(_ id: ValueID) -> [Float] {
    guard let tensor = graph[id].weight?.dense() else { return [] }
    guard tensor.type.scalar == .float16 else { return tensor.floats }
    let count = tensor.count
    let source = tensor.bytes.aligned(to: UInt16.self)
    return [Float](unsafeUninitializedCapacity: count) { target, initialized in
      withExtendedLifetime(source) {
        var convert = ck_convert_args(x: source.baseAddress, y: target.baseAddress, count: count)
        variant.kernels.float_from_half?(&convert, 0, parts(count, of: Int(ck_map_chunk)), nil)
      }
      initialized = count
    }
  }
}

extension Bytes {
  /// Whether the address is a multiple of the size of an element.
  func isAligned(for scalar: ScalarType) -> Bool { UInt(bitPattern: baseAddress) % UInt(scalar.byteCount) == 0 }
}
