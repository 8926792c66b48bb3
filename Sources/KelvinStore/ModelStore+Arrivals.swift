import Glibc
import Kelvin
import KelvinBasics

extension ModelStore {
  /// A folder of the store for a version that is not complete yet, removed with the last reference unless it was moved.
  final class Staging {
    let path: String
    private let lock: FileLock

    fileprivate init(_ path: String, _ lock: FileLock) { (self.path, self.lock) = (path, lock) }

    deinit { LocalFile.removeFolder(path) }
  }

  /// Makes a folder for a version that arrives.
  func makeStaging() throws(StoreError) -> Staging {
    try changing { () throws(StoreError) in
      let path = folder.path(Self.stagingPrefix + Self.unique)
      try StoreFolder.makeFolder(path)
      guard let lock = try FileLock.existing(path) else {
        throw StoreError(.io, "cannot lock '\(path)': it was removed meanwhile")
      }
      return Staging(path, lock)
    }
  }

  /// Moves a complete version to its place, and makes it current, unless the current version is pinned. A version with
  /// the same contents that another process installed first stays.
  ///
  /// - Returns: The version, whether it is new, and those that were removed for the quota.
  /// - Throws: `integrity` if the store has other contents under the version.
  func install(
    _ staging: Staging, as name: String, version: String, _ record: VersionRecord
  ) throws(StoreError) -> (model: StoredModel, isNew: Bool, removed: [StoredModel]) {
    try StoreDocument.write(record, to: "\(staging.path)/\(VersionRecord.fileName)")
    try StoreDocument.makeEmpty("\(staging.path)/\(StoredModel.useFile)")
    try StoreFolder.sync(staging.path)
    return try changing { () throws(StoreError) in
      let place = "\(folder.path(name))/\(version)"
      let same = versions(of: name).first { $0.version == version }
      if let same {
        guard same.sha256 == record.sha256 else {
          throw StoreError(
            .integrity,
            "the store has '\(name)@\(version)' with the SHA-256 \(same.sha256), and '\(record.source)' has "
              + "\(record.sha256); give another version")
        }
      } else {
        try StoreFolder.makeFolder(folder.path(name))
        // A version without a record is damaged.
        if access(place.pathBytes, F_OK) == 0 { try discard(place) }
        try StoreFolder.move(staging.path, to: place)
      }
      try chooseArrival(version, of: name)
      let removed = try makeRoom(for: place)
      return (try model("\(name)@\(version)"), same == nil, removed)
    }
  }

  /// Makes a version that the store has current, as an arrival does.
  func chooseAgain(_ model: StoredModel) throws(StoreError) -> StoredModel {
    guard !model.isCurrent else { return model }
    return try changing { () throws(StoreError) in
      try chooseArrival(model.version, of: model.name)
      return try self.model("\(model.name)@\(model.version)")
    }
  }

  private func chooseArrival(_ version: String, of name: String) throws(StoreError) {
    var choices = choices(of: name)
    if let current = choices.current, choices.pinned.contains(current) { return }
    choices.choose(version)
    try save(choices, of: name)
  }
}
