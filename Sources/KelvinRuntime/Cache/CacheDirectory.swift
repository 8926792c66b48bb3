import Glibc
package import KelvinBasics
package import KelvinGraph
import Synchronization

/// A cache folder of one user, whose files are named by everything their contents depend on.
/// Each file is written under a temporary name, synced and renamed, so a reader finds a complete file or none. A file
/// that cannot be read, written or trusted counts as a cache miss and never as an error. `remarks` reports the first
/// reason of each kind, so that a caller can tell the user once.
package final class CacheDirectory: Sendable {
  private struct State {
    var folder: CacheFolder?
    var isSwept = false
    /// Whether waiting for a lock has timed out once; later attempts do not wait.
    var isBlocked = false
    var complaint: String?
    var damage: String?
  }

  package let path: String
  private let patience: LockTimeout
  private let calls: FileSystemCalls
  private let state = Mutex(State())

  package init(_ path: String, patience: LockTimeout = LockTimeout(), calls: FileSystemCalls = FileSystemCalls()) {
    self.path = path
    self.patience = patience
    self.calls = calls
  }

  /// `$KELVIN_CACHE_DIR`, or `kelvin` under `$XDG_CACHE_HOME` or `~/.cache`; nil if none of the variables is set.
  package static var standard: String? {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    return variable("KELVIN_CACHE_DIR") ?? variable("XDG_CACHE_HOME").map { "\($0)/kelvin" }
      ?? variable("HOME").map { "\($0)/.cache/kelvin" }
  }

  /// The first reason why the cache could not be used; nil if there was none.
  package var complaint: String? { state.withLock { $0.complaint } }

  /// The messages for the user about the cache, at most one of each kind.
  package var remarks: [String] {
    state.withLock { [$0.complaint.map { "nothing is kept for the next run: \($0)" }, $0.damage].compactMap { $0 } }
  }

  /// Returns the contents of a file, read or mapped; nil if the file does not exist or cannot be read.
  package func read(_ name: String, isMapped: Bool = false) -> Bytes? {
    current(creates: false).flatMap { read(name, isMapped: isMapped, in: $0) }
  }

  /// Does the same as `read(_:isMapped:)`, in a folder that the caller opened before.
  func read(_ name: String, isMapped: Bool = false, in folder: CacheFolder) -> Bytes? {
    do throws(FileError) { return try folder.read(name, isMapped: isMapped) } catch {
      if error.code != ENOENT { complain(error.description) }
      return nil
    }
  }

  /// Writes a file in one step. `name` may contain folders.
  ///
  /// - Returns: whether the file was written.
  @discardableResult
  package func write(_ name: String, _ parts: [UnsafeRawBufferPointer]) -> Bool {
    current(creates: true).map { write(name, parts, in: $0) } ?? false
  }

  /// Does the same as `write(_:_:)`, in a folder that the caller opened before.
  func write(_ name: String, _ parts: [UnsafeRawBufferPointer], in folder: CacheFolder) -> Bool {
    do throws(FileError) {
      try folder.replace(name, parts)
      return true
    } catch {
      complain(error.description)
      return false
    }
  }

  /// Opens a file for writing and truncates it. The caller closes the descriptor.
  ///
  /// - Throws: `FileError` with the system's reason.
  package func grow(_ name: String) throws(FileError) -> Int32 {
    guard let file = try folder(creates: true)?.open(name) else {
      throw FileError(path: path, action: "open", code: ENOENT)
    }
    guard ftruncate(file, 0) == 0 else {
      let code = errno
      close(file)
      throw FileError(path: "\(path)/\(name)", action: "write", code: code)
    }
    return file
  }

  /// Runs `body` while no other process or thread runs one for the same name. If the file system does not support
  /// locks, `body` runs without one; a later write then replaces an earlier one completely.
  ///
  /// - Returns: the result of `body`; nil, without running `body`, if the lock was not released within the timeout.
  package func locking<Result, Failure: Error>(
    _ name: String, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    try holding(name) { (_) throws(Failure) in try body() }
  }

  /// Does the same as `locking`.
  ///
  /// - Parameter body: receives whether the lock is held; it is not held if the file system does not support locks.
  private func holding<Result, Failure: Error>(
    _ name: String, _ body: (_ isLocked: Bool) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    var descriptor: Int32 = -1
    do throws(FileError) { descriptor = try folder(creates: true)?.open("\(name).lock") ?? -1 } catch {
      complain(error.description)
    }
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0 else { return try body(false) }
    guard let isLocked = acquire(descriptor, "\(name).lock") else { return nil }
    return try body(isLocked)
  }

  /// Locks a file.
  ///
  /// - Returns: false if the file cannot be locked; nil if another process holds the lock until the timeout.
  private func acquire(_ file: Int32, _ name: String) -> Bool? {
    var patience = patience
    if state.withLock({ $0.isBlocked }) { patience.limit = .zero }
    switch patience.lock(file) {
    case 0: return true
    case EWOULDBLOCK:
      state.withLock { $0.isBlocked = true }
      let holder = LockTimeout.holder(file).map { "process \($0)" } ?? "another process"
      complain("\(holder) holds '\(path)/\(name)' and did not release it for \(patience.limit)")
      return nil
    case let code:
      complain(FileError(path: "\(path)/\(name)", action: "lock", code: code).description)
      return false
    }
  }

  /// Returns the secret that authenticates a folder's files, created if it is missing and `creates` is set; nil if
  /// there is no usable secret. Another process may replace the secret later, so files sealed with it must be written
  /// to this folder at once.
  func secret(of folder: CacheFolder, creates: Bool) -> CacheSecret? {
    do throws(FileError) {
      if let secret = try folder.storedSecret() { return secret }
      guard creates else { return nil }
      return try holding(CacheFolder.secretName) { (isLocked) throws(FileError) in
        try folder.madeSecret(replaces: isLocked)
      } ?? nil
    } catch {
      complain(error.description)
      return nil
    }
  }

  /// Records that a cached file is damaged.
  func noteDamage(_ name: String, _ what: String) {
    state.withLock { if $0.damage == nil { $0.damage = "'\(path)/\(name)' \(what)" } }
  }

  private func complain(_ reason: String) { state.withLock { if $0.complaint == nil { $0.complaint = reason } } }

  /// Opens the cache's folder, for operations that must use the same folder; nil if it does not exist or must not be
  /// used.
  func current(creates: Bool) -> CacheFolder? {
    do throws(FileError) { return try folder(creates: creates) } catch {
      complain(error.description)
      return nil
    }
  }

  /// Opens the cache's folder again if it was removed since.
  ///
  /// - Returns: nil if the folder does not exist and `creates` is false.
  private func folder(creates: Bool) throws(FileError) -> CacheFolder? {
    try state.withLock { (state) throws(FileError) in
      if let folder = state.folder, !folder.isGone { return folder }
      state.folder = nil
      do throws(FileError) { state.folder = try CacheFolder(path, creates: creates, calls: calls) } catch {
        if error.code == ENOENT, !creates { return nil }
        throw error
      }
      if creates, !state.isSwept {
        state.isSwept = true
        state.folder?.sweep(before: time(nil) - 3600)
      }
      return state.folder
    }
  }
}
