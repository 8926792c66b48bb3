import KelvinDevices
import KelvinGraph
import KelvinImages
import KelvinImport
import KelvinRuntime

extension FuzzTarget {
  static let arrays = [
    FuzzTarget("npy", FormatError.self, longest: 1024, seeds: Seeds.arrays) { bytes in
      _ = try NPY.contents(Bytes(copying: bytes), name: "array.npy")
    }
  ]

  /// Pixels that an image may have here: the decoders are external and slow.
  private static let mostPixels = 1 << 12

  static let images = [
    FuzzTarget("headers", ImageError.self, longest: 2048, seeds: Seeds.images) { bytes in
      _ = try ImageCodec.headers(bytes, name: "image", maximumPixels: mostPixels)
    },
    FuzzTarget("image", ImageError.self, longest: 2048, trials: 100, seeds: Seeds.images) { bytes in
      _ = try ImageCodec.decode(bytes, name: "image", maximumPixels: mostPixels)
    },
    FuzzTarget("bmp", ImageError.self, longest: 2048, seeds: Seeds.files([".bmp"], in: "Tests/Images/files")) { bytes in
      _ = try ImageCodec.decode(bytes, name: "image", maximumPixels: mostPixels)
    },
    // The label map of an image of `SegmentedImages`.
    FuzzTarget(
      "labelmap", ImageError.self, longest: 2048, seeds: Seeds.files(["palette.png"], in: "Tests/Images/files")
    ) { bytes in
      let map = try IndexedPNG.decode(Array(bytes), name: "map.png")
      precondition(map.values.count == map.width * map.height)
    },
  ]

  static let cache = [
    FuzzTarget("blob", DeviceError.self, longest: 512, seeds: Seeds.blobs) { bytes in
      _ = CheckedBlob.payload(of: Bytes(copying: bytes), origin: Seeds.origin)
    },
    // The contents after the code of a pack's index, as if the writer of the file knew the secret.
    FuzzTarget("pack", DeviceError.self, longest: 16_384, seeds: Seeds.packs) { bytes in
      guard let pack = PackFile(Seeds.sealing(Array(bytes)), Seeds.packName, Seeds.secret) else { return }
      for region in pack.regions.values { _ = region.isIntact(seed: pack.seed) }
    },
  ]
}

extension Seeds {
  static var arrays: [[UInt8]] {
    [
      NPY.write(Tensor([1, 2, 3, 4, 5, 6] as [Float], [2, 3])), NPY.write(Tensor([1, -1] as [Int64], [2])),
      NPY.write(Tensor(TensorType(.bool, [2, 1]), rounding: [1, 0])),
      NPY.write(Tensor(TensorType(.float16, [1, 1, 2]), rounding: [1.5, 2])),
    ] + files([".npy"], in: "Tests/Vectors/Arrays")
  }

  static var images: [[UInt8]] {
    files([".png", ".jpg", ".webp", ".gif", ".bmp", ".tiff", ".avif"], in: "Tests/Images/files")
  }

  static let origin = Digest(Array("origin".utf8))
  static var blobs: [[UInt8]] { [CheckedBlob.encoded(Array("blob".utf8), origin: origin)] }

  static let packName = "pack"
  static let secret = CacheSecret([UInt8](repeating: 7, count: 32))!

  /// A pack of one region in the layout of `PackFile`, without its code.
  static var packs: [[UInt8]] {
    func word(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
    let index = word(UInt32(3)) + Array("key".utf8) + word(UInt64(4096)) + word(UInt64(8)) + word(UInt64(0)) + word(0)
    let head = Array("KELVPACK".utf8) + word(UInt32(2)) + word(UInt32(1)) + word(UInt64(index.count))
    let file = head + [UInt8](repeating: 0, count: 32) + index
    return [file + [UInt8](repeating: 0, count: 4096 - file.count) + Array("contents".utf8)]
  }

  /// A pack with the correct code for its first bytes and its index, if these locate the index.
  static func sealing(_ file: [UInt8]) -> Bytes {
    let (head, begin) = (24, 56)
    guard file.count >= begin else { return Bytes(file) }
    let length = file.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self) }
    guard length <= UInt64(file.count - begin) else { return Bytes(file) }
    let code = file.withUnsafeBytes { bytes in
      secret.code(
        packName, [bytes[..<head], bytes[begin..<begin + Int(length)]].map { UnsafeRawBufferPointer(rebasing: $0) })
    }
    return Bytes(file[..<head] + code + file[begin...])
  }
}
