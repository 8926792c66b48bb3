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
      case .floats(let fill): fill(target, ids.map(floats))
      case .elements(let fill): fill(target, ids.compactMap { graph[$0].weight?.dense().bytes })
      case .encoded(let fill): fill(target)
      }
    }
  }

  /// Returns the tensor as kernels see it inside a segment.
  func dense(_ id: ValueID) throws(DeviceError) -> Bytes {
    let value = graph[id]
    let layout = value.type.scalar.isFloatingPoint ? "dense-f\(value.type.scalar.innerByteCount * 8)" : "dense"
    return try weights.packed("\(value.name)/\(layout)", byteCount: value.type.innerByteCount) {
      (target) throws(DeviceError) in
      if value.type.scalar == .float16 {
        floats(id).withUnsafeBytes { target.copyMemory(from: $0) }
      } else {
        value.weight?.dense().bytes.withUnsafeBytes { target.copyMemory(from: $0) }
      }
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
