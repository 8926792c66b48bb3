import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics

extension ModelStore {
  /// The prefixes of folders that are not complete yet, and of removed ones.
  static let (stagingPrefix, removedPrefix) = (".arriving-", ".removed-")
  static let downloadsName = ".downloads"
  /// The age in seconds at which a partial download is removed.
  private static let oldestDownload = 7 * 86_400

  /// Makes a version the current one of its name.
  ///
  /// - Parameter name: `NAME@VERSION`.
  /// - Returns: The version, which is current.
  /// - Throws: `StoreError`: `absent` if the store has no such version, `request` if the name has no version.
  @discardableResult
  public func use(_ name: String) throws(StoreError) -> StoredModel {
    guard try ModelName(checking: name).version != nil else {
      throw StoreError(.request, "'\(name)' names no version; use \(name)@VERSION")
    }
    return try choosing(name) { $0.choose($1.version) }
  }

  /// Makes the version current again that was current before.
  ///
  /// - Parameter name: The name.
  /// - Returns: The version, which is current.
  /// - Throws: `StoreError` with code `absent` if the store has no earlier version.
  @discardableResult
  public func rollBack(_ name: String) throws(StoreError) -> StoredModel {
    let now = try model(name)
    let known = versions(of: now.name).map(\.version)
    try choosing(now.name) { (choices, _) throws(StoreError) in
      guard let earlier = choices.earlier.first(where: known.contains) else {
        throw StoreError(
          .absent,
          "'\(now.name)' has no earlier version than '\(now.version)'"
            + (known.count > 1 ? "; choose one of \(known.inWords): kelvin models --use NAME@VERSION" : ""))
      }
      // The version that is left does not count as an earlier one.
      choices.current = earlier
      choices.earlier.removeAll { $0 == earlier }
    }
    return try model(now.name)
  }

  /// Pins a version, or releases it. The quota does not remove a pinned version; while it is current, no other becomes
  /// current by arriving.
  ///
  /// - Parameters:
  ///   - name: A name, for its current version, or `NAME@VERSION`.
  ///   - isPinned: Whether the version is pinned.
  /// - Returns: The version.
  /// - Throws: `StoreError` with code `absent` if the store has no such version.
  @discardableResult
  public func pin(_ name: String, _ isPinned: Bool = true) throws(StoreError) -> StoredModel {
    try choosing(name) { choices, model in
      choices.pinned.removeAll { $0 == model.version }
      if isPinned {
        choices.pinned.append(model.version)
        choices.current = choices.current ?? model.version
      }
    }
  }

  /// Changes the choices for a name.
  @discardableResult
  private func choosing(
    _ name: String, _ change: (inout NameChoices, StoredModel) throws(StoreError) -> Void
  ) throws(StoreError) -> StoredModel {
    _ = try model(name)
    return try changing { () throws(StoreError) in
      let found = try model(name)
      var choices = choices(of: found.name)
      try change(&choices, found)
      try save(choices, of: found.name)
      return try model("\(found.name)@\(found.version)")
    }
  }

  func choices(of name: String) -> NameChoices {
    StoreDocument.read(NameChoices.self, at: "\(folder.path(name))/\(NameChoices.fileName)") ?? NameChoices()
  }

  func save(_ choices: NameChoices, of name: String) throws(StoreError) {
    try StoreDocument.write(choices, to: "\(folder.path(name))/\(NameChoices.fileName)")
  }

  /// Removes a version, or all versions of a name, with their parts of the compiled cache.
  ///
  /// - Parameter name: A name, for all its versions, or `NAME@VERSION`.
  /// - Returns: The removed versions.
  /// - Throws: `StoreError`: `absent` if the store has no such version; `busy`, with nothing removed, if one is pinned
  ///   or in use.
  @discardableResult
  public func remove(_ name: String) throws(StoreError) -> [StoredModel] {
    let asked = try ModelName(checking: name)
    _ = try model(name)
    return try changing { () throws(StoreError) in
      let doomed = versions(of: asked.name).filter { asked.version == nil || asked.version == $0.version }
      if let pinned = doomed.first(where: \.isPinned) {
        throw StoreError(
          .busy,
          "'\(pinned.name)@\(pinned.version)' is pinned; release it: kelvin models --unpin "
            + "\(pinned.name)@\(pinned.version)")
      }
      var locks: [FileLock] = []
      for version in doomed {
        guard let lock = try Self.unused(version) else {
          throw StoreError(.busy, "'\(version.name)@\(version.version)' is in use by another process; try again later")
        }
        locks.append(lock)
      }
      for version in doomed { try erase(version) }
      withExtendedLifetime(locks) {}
      return doomed
    }
  }

  /// Locks a version that no process uses; nil if one does.
  private static func unused(_ model: StoredModel) throws(StoreError) -> FileLock? {
    let path = "\(model.folder)/\(StoredModel.useFile)"
    return try FileLock.existing(access(path.pathBytes, F_OK) == 0 ? path : model.folder)
  }

  /// Removes a version, which first stops being current.
  private func erase(_ model: StoredModel) throws(StoreError) {
    var choices = choices(of: model.name)
    choices.forget(model.version)
    try save(choices, of: model.name)
    let shared = Set(
      try models().filter { $0.folder != model.folder }.flatMap { CompiledParts(of: $0.folder).folders })
    let cached = CompiledParts(of: model.folder).folders.filter { !shared.contains($0) }
    try discard(model.folder)
    for place in cached { LocalFile.removeFolder(place) }
    if versions(of: model.name).isEmpty { LocalFile.removeFolder(folder.path(model.name)) }
  }

  /// Removes a folder of a version: it vanishes in one step, then its files are deleted.
  func discard(_ place: String) throws(StoreError) {
    let removed = folder.path(Self.removedPrefix + Self.unique)
    try StoreFolder.move(place, to: removed)
    LocalFile.removeFolder(removed)
  }

  /// Sets the greatest size of all versions together, and removes those that exceed it: first versions that are not
  /// current, then the least recently used.
  ///
  /// - Parameter bytes: The size in bytes; nil for no limit.
  /// - Returns: The removed versions. Pinned versions and those in use stay.
  /// - Throws: `StoreError` with code `io` if the store cannot be used.
  @discardableResult
  public func setQuota(_ bytes: Int?) throws(StoreError) -> [StoredModel] {
    try changing { () throws(StoreError) in
      try StoreDocument.write(StoreSettings(quota: bytes), to: folder.path(StoreSettings.fileName))
      return try makeRoom()
    }
  }

  /// Removes versions until the others fit the quota.
  ///
  /// - Parameter arrived: The folder of a version that stays.
  func makeRoom(for arrived: String? = nil) throws(StoreError) -> [StoredModel] {
    guard let quota else { return [] }
    let all = try models()
    var size = all.reduce(0) { $0 + $1.totalByteCount }
    var removed: [StoredModel] = []
    let now = Double(time(nil))
    // A clock that was wrong may have left times to come.
    func age(_ model: StoredModel) -> Double { max(0, now - model.lastUse.timeIntervalSince1970) }
    let candidates = all.filter { !$0.isPinned && $0.folder != arrived }
      .sorted { $0.isCurrent != $1.isCurrent ? !$0.isCurrent : age($0) > age($1) }
    for model in candidates where size > quota {
      guard let lock = try Self.unused(model) else { continue }
      try erase(model)
      withExtendedLifetime(lock) {}
      size -= model.totalByteCount
      removed.append(model)
    }
    return removed
  }

  /// Runs a closure while no other process changes the store.
  func changing<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try folder.prepare()
    let lock = try FileLock.take(folder.path(".lock")) { true }
    defer { withExtendedLifetime(lock) {} }
    sweep()
    return try body()
  }

  /// Removes what processes left behind that ended in the middle of a change. The caller holds the lock.
  private func sweep() {
    for entry in StoreFolder.entries(folder.path) {
      let path = folder.path(entry)
      if entry.hasPrefix(Self.stagingPrefix) || entry.hasPrefix(Self.removedPrefix) {
        // The process that fills a folder holds its lock.
        guard let lock = try? FileLock.existing(path) else { continue }
        LocalFile.removeFolder(path)
        withExtendedLifetime(lock) {}
      } else if ModelName.isValid(entry) {
        rmdir(path.pathBytes)
        sweepDocuments(path)
        for version in StoreFolder.entries(path) where ModelName.isValid(version) {
          sweepDocuments("\(path)/\(version)")
        }
      }
    }
    sweepDocuments(folder.path)
    sweepDownloads()
  }

  /// Removes incomplete documents of a folder.
  private func sweepDocuments(_ path: String) {
    for entry in StoreFolder.entries(path) where entry.hasPrefix(".") && entry.contains(".writing-") {
      unlink("\(path)/\(entry)".pathBytes)
    }
  }

  private func sweepDownloads() {
    let place = folder.path(Self.downloadsName)
    let files = StoreFolder.entries(place)
    for download in Set(files.map { $0.prefix { $0 != "." } }) {
      let own = files.filter { $0.hasPrefix("\(download).") }.map { "\(place)/\($0)" }
      let isOld = own.allSatisfy { path in
        var status = stat()
        return stat(path.pathBytes, &status) == 0 && status.st_mtim.tv_sec < time(nil) - Self.oldestDownload
      }
      guard isOld, let lock = try? FileLock.taken("\(place)/\(download).part.lock") else { continue }
      for path in own { unlink(path.pathBytes) }
      withExtendedLifetime(lock) {}
    }
  }

  static var unique: String { String(UInt64.random(in: 0 ... .max), radix: 36) }
}

extension StoredModel {
  /// The size of the files and of the part of the compiled cache.
  fileprivate var totalByteCount: Int { byteCount + cacheByteCount }
}
