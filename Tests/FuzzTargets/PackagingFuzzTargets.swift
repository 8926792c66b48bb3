import FoundationEssentials
import Glibc
import Kelvin
import KelvinFeatures
import KelvinPackaging

extension FuzzTarget {
  /// Archives, manifests and encrypted models from others.
  static let packaging = [
    FuzzTarget(
      "published", PackagingError.self, .json, longest: 2048, seeds: Seeds.document("manifest.json")
    ) { bytes in
      for model in try Manifest.read(Array(bytes), at: nil).models {
        let isOutside = model.file.hasPrefix("/") || model.file.split(separator: "/").contains("..")
        precondition(!isOutside && !model.name.contains("/"), model.file)
      }
    },
    FuzzTarget("signatures", PackagingError.self, longest: 600, trials: 100, seeds: Seeds.signatures) { bytes in
      try Manifest.verify([1, 2, 3], signature: Array(bytes), key: SigningKeys.publicKey(of: Seeds.privateKey))
    },
    FuzzTarget(
      "unpack", PackagingError.self, longest: 4096,
      seeds: Seeds.files(
        ["archive.zip", "archive.tar", "archive.tar.gz", "archive.tar.zst"], in: "Tests/FuzzTargets/Seeds")
    ) { bytes in
      let folder = MemoryFolder.path("unpack")
      defer { try? FileManager.default.removeItem(atPath: folder) }
      MemoryFolder.write(bytes, to: "\(folder)/archive")
      var limits = ArchiveLimits()
      (limits.entries, limits.bytes) = (100, 1 << 20)
      do { try Archive.unpack("\(folder)/archive", into: "\(folder)/out", limits: limits) } catch {
        precondition(access("\(folder)/out", F_OK) != 0, "a refused archive left files")
        throw error
      }
    },
    FuzzTarget("container", ModelError.self, longest: 2048, seeds: Seeds.document("model.kelvinmodel")) { bytes in
      let file = "\(MemoryFolder.path("container"))/model.kelvinmodel"
      MemoryFolder.write(bytes, to: file)
      _ = try ModelAsset(encrypted: URL(filePath: file)) { try ModelKey(Data(Seeds.privateKey)) }
    },
    // The table of files, as if the writer of the file knew the key.
    FuzzTarget("contents", PackagingError.self, longest: 256, seeds: Seeds.tables) { bytes in
      guard let files = ModelContainer.files(Array(bytes)) else { throw PackagingError(.malformed, "not a table") }
      precondition(ModelContainer.table(files) == Array(bytes))
    },
  ]
}

extension Seeds {
  static let privateKey = [UInt8](1...32)

  static var signatures: [[UInt8]] {
    guard let signature = try? SigningKeys.sign([1, 2, 3], with: privateKey) else { return [] }
    return [signature, [UInt8](repeating: 1, count: 64) + signature]
  }

  static var tables: [[UInt8]] {
    [
      ModelContainer.table(
        [("", 100), ("weights/weight.bin", 5000)].map { ModelContainer.File(path: $0.0, byteCount: $0.1) })
    ]
  }
}
