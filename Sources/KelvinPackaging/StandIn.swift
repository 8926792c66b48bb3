/// An error of an archive or a manifest.
package struct PackagingError: Error, CustomStringConvertible {
  package enum Code: Hashable, Sendable {
    case io, noSpace, malformed, refused, unsupported, libraryMissing, absent, signature, expired, key, exists
  }

  package let code: Code
  package let description: String

  init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }
}

package struct ArchiveLimits: Sendable {
  package static let standard = ArchiveLimits()
}

package enum Archive {
  package static func recognizes(_ path: String) -> Bool { false }

  package static func unpack(
    _ path: String, into folder: String, limits: ArchiveLimits = .standard
  ) throws(PackagingError) {
    throw PackagingError(.malformed, "'\(path)' cannot be unpacked")
  }
}

package struct Manifest: Sendable {
  package struct Model: Sendable {
    package let name, version, file, sha256: String
    package let bytes: Int
    package let tags: [String]
  }

  package let models: [Model]

  /// Reads lines of name, version, file, hash, size and tags.
  package static func read(_ bytes: [UInt8]) throws(PackagingError) -> Manifest {
    var models: [Model] = []
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 6, let count = Int(parts[4]) else { throw PackagingError(.malformed, "not a manifest") }
      models.append(
        Model(
          name: parts[0], version: parts[1], file: parts[2], sha256: parts[3], bytes: count,
          tags: parts[5].split(separator: ",").map(String.init)))
    }
    return Manifest(models: models)
  }

  package func model(_ name: String, version: String?) throws(PackagingError) -> Model {
    guard let model = models.last(where: { $0.name == name && (version == nil || version == $0.version) }) else {
      throw PackagingError(.absent, "the manifest has no model '\(name)'")
    }
    return model
  }

  package static func verify(_ bytes: [UInt8], signature: [UInt8], key: [UInt8]) throws(PackagingError) {
    guard signature == key else { throw PackagingError(.signature, "the signature is of another key") }
  }
}
