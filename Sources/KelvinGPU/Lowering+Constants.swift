internal import KelvinDevices
internal import KelvinGraph

extension Lowering {
  /// Returns the memory of a constant in the layout that a kernel reads.
  func constant(_ id: ValueID, _ weight: Weight, _ layout: ValueLayout) throws(DeviceError) -> Storage {
    let (name, type) = (graph[id].name, type(id))
    guard type.scalar.isFloatingPoint else { return try integers(name, weight) }
    guard layout != .dense else {
      return self.weight("\(name)/gpu-dense", count: type.count, of: type.scalar) { weight.fill($0) }
    }
    let shape = blocked(id)
    return self.weight("\(name)/gpu-blocked-\(shape.lanes)", count: shape.count, of: type.scalar) { target in
      weight.withFloats { source in
        for (index, element) in source.enumerated() {
          let (plane, place) = index.quotientAndRemainder(dividingBy: shape.area)
          let (image, channel) = plane.quotientAndRemainder(dividingBy: shape.channels)
          let block = image * shape.blocks + channel / shape.lanes
          target[(block * shape.area + place) * shape.lanes + channel % shape.lanes] = element
        }
      }
    }
  }

  /// Returns a value's dense memory. Constants are float32 even if the target stores floats as float16, for scales: a
  /// rounded scale would change all elements that it scales.
  func parameters(_ id: ValueID) throws(DeviceError) -> Storage {
    guard let weight = graph[id].weight, target.isHalf(type(id).scalar) else { return try read(id, .dense) }
    return self.weight("\(graph[id].name)/gpu-dense", count: type(id).count) { weight.fill($0) }
  }

  /// Returns integers as stored in the graph, or each widened to a word.
  private func integers(_ name: String, _ weight: Weight) throws(DeviceError) -> Storage {
    let scalar = weight.type.scalar
    let isSame = target.isSameOutside(scalar)
    let words = (weight.type.count * target.byteCount(scalar) + 3) / 4
    return self.weight("\(name)/gpu-\(isSame ? "integers" : "words")", count: words) { target in
      let tensor = weight.dense()
      if isSame {
        tensor.bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(target).copyMemory(from: $0) }
      } else {
        for (index, integer) in tensor.integers.enumerated() {
          target[index] = Float(bitPattern: UInt32(truncatingIfNeeded: integer))
        }
      }
    }
  }
}

extension Weight {
  /// Calls `body` with the elements as float32, without a copy if they have that type.
  package func withFloats(_ body: (UnsafeBufferPointer<Float>) -> Void) {
    guard type.scalar == .float32 else { return floats().withUnsafeBufferPointer(body) }
    dense().bytes.aligned(to: Float.self).withUnsafeBytes { body($0.bindMemory(to: Float.self)) }
  }

  /// The elements as float32.
  package func floats() -> [Float] {
    [Float](unsafeUninitializedCapacity: type.count) { target, count in
      count = type.count
      fill(UnsafeMutableBufferPointer(rebasing: target[..<count]))
    }
  }

  /// Writes the elements as float32 to the start of `target`.
  package func fill(_ target: UnsafeMutableBufferPointer<Float>) {
    let tensor = dense()
    tensor.bytes.withUnsafeBytes { raw in
      switch tensor.type.scalar {
      case .float32: UnsafeMutableRawBufferPointer(target).copyMemory(from: raw)
      case .float16:
        for index in 0..<tensor.count {
          target[index] = Float(halfBits: raw.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
        }
      default: for (index, value) in tensor.doubles.enumerated() { target[index] = Float(value) }
      }
    }
  }
}
