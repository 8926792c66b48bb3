public import FoundationEssentials
import Glibc
import KelvinBasics

/// A version of a model in a store.
public struct StoredModel: Hashable, Sendable {
  /// The name.
  public let name: String
  /// The version.
  public let version: String
  /// The model file or package, for `Model.load`.
  public let url: URL
  /// The URL that the model came from, without user, password and query.
  public let source: String
  /// The SHA-256 of the download as 64 hexadecimal digits.
  public let sha256: String
  /// The size of the files in bytes.
  public let byteCount: Int
  /// The size in the compiled cache in bytes: the packed weights that loading the model has made.
  public let cacheByteCount: Int
  /// The tags, from the manifest.
  public let tags: [String]
  /// The time of arrival.
  public let arrival: Date
  /// The time of the last use, or of arrival.
  public let lastUse: Date
  /// Whether the name alone stands for this version.
  public let isCurrent: Bool
  /// Whether the version stays: the quota does not remove it, and while it is current, no other becomes current by
  /// arriving.
  public let isPinned: Bool

  /// The folder of the version.
  let folder: String
  let record: VersionRecordFacts
}

/// The facts of a record that only the store needs.
struct VersionRecordFacts: Hashable, Sendable {
  let address: String
  let validators: Validators
  let signer: String?
}

extension StoredModel {
  /// The file in a version's folder whose time of modification is that of the last use, and that users lock.
  static let useFile = ".used"

  /// Records the use of the model, and keeps its version from being removed until the result is released.
  ///
  /// - Returns: Nil if the version has been removed meanwhile.
  /// - Throws: `StoreError` with code `io` if the store cannot be used.
  public func use() throws(StoreError) -> ModelUse? {
    guard let lock = try FileLock.existing("\(folder)/\(Self.useFile)", isShared: true) else { return nil }
    // A store that cannot be written to can still be used.
    _ = futimens(lock.descriptor, nil)
    return ModelUse(lock)
  }
}

/// The use of a version of a model, which is not removed until the last reference is released or the process ends.
public final class ModelUse: Sendable {
  private let lock: FileLock

  init(_ lock: FileLock) { self.lock = lock }
}
