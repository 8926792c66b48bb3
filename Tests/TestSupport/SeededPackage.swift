import FoundationEssentials
import KelvinGraph

/// A copy of an ML Program's package with other weights, for packages without their weight file.
///
/// Every blob that the program refers to is written with a valid record. Weights are random with a variance of one over
/// the fan-in. Vectors are between 1/4 and 3/4, so that scales and variances are positive and activations stay finite.
package struct SeededPackage {
  package let path: String

  /// - Parameter source: a package whose specification is at `Data/com.apple.CoreML/model.mlmodel`.
  package init(copying source: String, to folder: String, seed: UInt64) throws {
    let inner = "Data/com.apple.CoreML"
    path = "\(folder)/Seeded.mlpackage"
    try FileManager.default.createDirectory(atPath: "\(path)/\(inner)/weights", withIntermediateDirectories: true)
    for name in ["Manifest.json", "\(inner)/model.mlmodel"] {
      try FileManager.default.copyItem(atPath: "\(source)/\(name)", toPath: "\(path)/\(name)")
    }
    let specification = try Data(contentsOf: URL(filePath: "\(source)/\(inner)/model.mlmodel"))
    let blobs = Fields(specification[...]).blobs
    try Data(Self.weights(blobs, seed: seed)).write(to: URL(filePath: "\(path)/\(inner)/weights/weight.bin"))
  }

  /// The bytes of a weight file: a header, and for each blob a record of 64 bytes with its elements behind it.
  private static func weights(_ blobs: [Blob], seed: UInt64) -> [UInt8] {
    let end = blobs.map { $0.offset + 64 + $0.byteCount }.max() ?? 64
    var random = Generator(state: seed)
    return [UInt8](unsafeUninitializedCapacity: end) { target, count in
      let raw = UnsafeMutableRawBufferPointer(target)
      raw.initializeMemory(as: UInt8.self, repeating: 0)
      raw.storeBytes(of: UInt32(blobs.count).littleEndian, toByteOffset: 0, as: UInt32.self)
      raw.storeBytes(of: UInt32(2).littleEndian, toByteOffset: 4, as: UInt32.self)
      for blob in blobs {
        raw.storeBytes(of: UInt32(0xDEAD_BEEF).littleEndian, toByteOffset: blob.offset, as: UInt32.self)
        raw.storeBytes(of: blob.isHalf ? UInt32(1) : 2, toByteOffset: blob.offset + 4, as: UInt32.self)
        raw.storeBytes(of: UInt64(blob.byteCount), toByteOffset: blob.offset + 8, as: UInt64.self)
        raw.storeBytes(of: UInt64(blob.offset + 64), toByteOffset: blob.offset + 16, as: UInt64.self)
        // Repeated with a prime period, which no layer's size divides.
        let fanIn = blob.shape.dropFirst().reduce(1, *)
        let scale = Float(3 / Double(max(fanIn, 1))).squareRoot()
        let table = (0..<8191).map { _ in
          blob.shape.count > 1 ? scale * (2 * random.unit() - 1) : 0.25 + random.unit() / 2
        }
        for index in 0..<blob.count {
          let value = table[index % table.count]
          if blob.isHalf {
            raw.storeBytes(of: value.halfBits, toByteOffset: blob.offset + 64 + 2 * index, as: UInt16.self)
          } else {
            raw.storeBytes(of: value, toByteOffset: blob.offset + 64 + 4 * index, as: Float.self)
          }
        }
      }
      count = end
    }
  }
}

private struct Generator {
  var state: UInt64

  /// Uniform in 0 ..< 1, by a linear congruential generator.
  mutating func unit() -> Float {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Float(state >> 40) / Float(1 << 24)
  }
}

/// A constant in the weight file.
private struct Blob {
  var offset = 0
  var shape: [Int] = []
  var isHalf = true

  var count: Int { shape.reduce(1, *) }
  var byteCount: Int { count * (isHalf ? 2 : 4) }
}

/// The fields of a protobuf message from a trusted file.
private struct Fields {
  private var values: [(number: Int, integer: Int, bytes: Data.SubSequence)] = []

  init(_ data: Data.SubSequence) {
    var place = data.startIndex
    func integer() -> Int {
      var (value, shift) = (0, 0)
      while place < data.endIndex {
        let byte = data[place]
        place += 1
        value |= Int(byte & 0x7F) << shift
        shift += 7
        if byte < 0x80 || shift > 56 { break }
      }
      return value
    }
    while place < data.endIndex {
      let key = integer()
      switch key & 7 {
      case 0: values.append((key >> 3, integer(), data[place..<place]))
      case 2:
        let end = min(integer() + place, data.endIndex)
        values.append((key >> 3, 0, data[place..<end]))
        place = end
      default: place += key & 7 == 1 ? 8 : 4
      }
    }
  }

  private func integer(_ number: Int) -> Int { values.last { $0.number == number }?.integer ?? 0 }
  private func messages(_ number: Int) -> [Fields] {
    values.filter { $0.number == number }.map { Fields($0.bytes) }
  }

  /// The blobs of a `Model`: every constant of its program that is a blob.
  var blobs: [Blob] {
    let blocks = messages(502).flatMap { $0.messages(2) }.flatMap { $0.messages(2) }
      .flatMap { $0.messages(3) }.flatMap { $0.messages(2) }
    let values = blocks.flatMap { $0.messages(3) }.flatMap { $0.messages(5) }.flatMap { $0.messages(2) }
    return values.compactMap(\.blob)
  }

  /// The blob of a `Value`.
  private var blob: Blob? {
    guard let reference = messages(5).first, let tensor = messages(2).first?.messages(1).first else { return nil }
    let sizes = tensor.messages(3).map { $0.messages(1).first?.integer(1) ?? 0 }
    return Blob(offset: reference.integer(2), shape: sizes, isHalf: tensor.integer(1) == 10)
  }
}
