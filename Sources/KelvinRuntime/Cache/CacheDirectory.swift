import Glibc
package import KelvinBasics
package import KelvinGraph
import Synchronization

/// A folder of files named by what they depend on, of one user for that user. A file is written beside its place,
/// synced and renamed in one step, so a reader finds a whole file or none. Whatever cannot be read, written or believed
/// is a miss, never a failure: `remarks` tell the first reason of each kind, so that a caller can tell its user once.
package final class CacheDirectory: Sendable {
  private struct State {
    var folder: CacheFolder?
    var isSwept = false
    /// A lock was not to be had in time.
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

  /// `$KELVIN_CACHE_DIR`, or `kelvin` under `$XDG_CACHE_HOME` or `~/.cache`; nil where none of them is known.
  package static var standard: String? {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    return variable("KELVIN_CACHE_DIR") ?? variable("XDG_CACHE_HOME").map { "\($0)/kelvin" }
      ?? variable("HOME").map { "\($0)/.cache/kelvin" }
  }

  /// Why the cache could not be used, the first time that happened; nil while all is well.
  package var complaint: String? { state.withLock { $0.complaint } }

  /// What the user should know of the cache, once.
  package var remarks: [String] {
    state.withLock { [$0.complaint.map { "nothing is kept for the next run: \($0)" }, $0.damage].compactMap { $0 } }
  }

  /// The file under a name, read or mapped; nil where there is none.
  package func read(_ name: String, isMapped: Bool = false) -> Bytes? {
    current(creates: false).flatMap { read(name, isMapped: isMapped, in: $0) }
  }

  /// As `read(_:isMapped:)`, from a folder that was current.
  func read(_ name: String, isMapped: Bool = false, in folder: CacheFolder) -> Bytes? {
    do throws(FileError) { return try folder.read(name, isMapped: isMapped) } catch {
      if error.code != ENOENT { complain(error.description) }
      return nil
    }
  }

  /// Puts a file in place. `name` may contain folders.
  ///
  /// - Returns: whether the file is there now.
  @discardableResult
  package func write(_ name: String, _ parts: [UnsafeRawBufferPointer]) -> Bool {
    current(creates: true).map { write(name, parts, in: $0) } ?? false
  }

  /// As `write(_:_:)`, in a folder that was current.
  func write(_ name: String, _ parts: [UnsafeRawBufferPointer], in folder: CacheFolder) -> Bool {
    do throws(FileError) {
      try folder.replace(name, parts)
      return true
    } catch {
      complain(error.description)
      return false
    }
  }

  /// Opens an empty file that is to grow, which the caller closes.
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

  /// Runs `body` while no other process or thread runs one for the same name. Where locks do not work, `body` runs all
  /// the same: a later write then replaces an earlier one whole.
  ///
  /// - Returns: nil, and `body` was not run, where another held the lock for longer than anybody should.
  package func locking<Result, Failure: Error>(
    _ name: String, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    try holding(name) { (_) throws(Failure) in try body() }
  }

  /// As `locking`.
  ///
  /// - Parameter body: told whether the lock is held: not where locks do not work.
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

  /// - Returns: false where it cannot be locked; nil where another process holds the lock.
  private func acquire(_ file: Int32, _ name: String) -> Bool? {
    var patience = patience
    if state.withLock({ $0.isBlocked }) { patience.limit = .zero }
    switch patience.lock(file) {
    case 0: return true
    case EWOULDBLOCK:
      state.withLock { $0.isBlocked = true }
      let holder = LockTimeout.holder(file).map { "process \($0)" } ?? "another process"
      complain("\(holder) holds '\(path)/\(name)' and did not let go of it for \(patience.limit)")
      return nil
    case let code:
      complain(FileError(path: "\(path)/\(name)", action: "lock", code: code).description)
      return false
    }
  }

  /// The secret that a folder's files are authenticated by, made where there is none if `creates`; nil where none can be
  /// had. It may be another the next time, so that what is written with it goes into this folder, at once.
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

  /// Notes that a kept file is not what was kept.
  func noteDamage(_ name: String, _ what: String) {
    state.withLock { if $0.damage == nil { $0.damage = "'\(path)/\(name)' \(what)" } }
  }

  private func complain(_ reason: String) { state.withLock { if $0.complaint == nil { $0.complaint = reason } } }

  /// The cache's folder as it is now, for all that belongs together; nil where there is none, or none may be used.
  func current(creates: Bool) -> CacheFolder? {
    do throws(FileError) { return try folder(creates: creates) } catch {
      complain(error.description)
      return nil
    }
  }

  /// - Returns: nil where there is none and none is to be made.
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
