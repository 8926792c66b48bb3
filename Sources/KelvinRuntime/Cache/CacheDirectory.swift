import Glibc
package import KelvinGraph
import Synchronization

/// A folder of files named by what they depend on, of one user for that user. A file is written beside its place,
/// synced and renamed in one step, so a reader finds a whole file or none. Whatever cannot be read, written or believed
/// is a miss, never a failure: `remarks` tell the first reason of each kind, so that a caller can tell its user once.
package final class CacheDirectory: Sendable {
  private struct State {
    var folder: CacheFolder?
    var secret: CacheSecret?
    var isSwept = false
    /// A lock was not to be had in time.
    var isBlocked = false
    var complaint: String?
    var damage: String?
  }

  package let path: String
  private let patience: LockPatience
  private let calls: FileCalls
  private let state = Mutex(State())
  private static let secretName = "secret"

  package init(_ path: String, patience: LockPatience = LockPatience(), calls: FileCalls = FileCalls()) {
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
    do throws(FileError) { return try folder(creates: false)?.read(name, isMapped: isMapped) } catch {
      if error.code != ENOENT { complain(error.description) }
      return nil
    }
  }

  /// Puts a file in place. `name` may contain folders.
  ///
  /// - Returns: whether the file is there now.
  @discardableResult
  package func write(_ name: String, _ parts: [UnsafeRawBufferPointer]) -> Bool {
    do throws(FileError) {
      guard let folder = try folder(creates: true) else { return false }
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
    var descriptor: Int32 = -1
    do throws(FileError) { descriptor = try folder(creates: true)?.open("\(name).lock") ?? -1 } catch {
      complain(error.description)
    }
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor < 0 || acquire(descriptor, "\(name).lock") else { return nil }
    return try body()
  }

  /// - Returns: false where another process holds the lock.
  private func acquire(_ file: Int32, _ name: String) -> Bool {
    var patience = patience
    if state.withLock({ $0.isBlocked }) { patience.limit = .zero }
    switch patience.lock(file) {
    case 0: return true
    case EWOULDBLOCK:
      state.withLock { $0.isBlocked = true }
      let holder = LockPatience.holder(file).map { "process \($0)" } ?? "another process"
      complain("\(holder) holds '\(path)/\(name)' and did not let go of it for \(patience.limit)")
      return false
    case let code:
      complain(FileError(path: "\(path)/\(name)", action: "lock", code: code).description)
      return true
    }
  }

  /// The secret that this cache's files are authenticated by, made where there is none if `creates`; nil where none can
  /// be had.
  func secret(creates: Bool) -> CacheSecret? {
    if let known = state.withLock({ $0.secret }) { return known }
    var secret = storedSecret
    if secret == nil, creates {
      secret =
        locking(Self.secretName) {
          if let theirs = storedSecret { return theirs }
          return CacheSecret.newBytes().withUnsafeBytes { write(Self.secretName, [$0]) } ? storedSecret : nil
        } ?? nil
    }
    state.withLock { $0.secret = secret }
    return secret
  }

  /// Nil for one that others could read: whoever knows it can forge.
  private var storedSecret: CacheSecret? {
    guard let bytes = read(Self.secretName), let folder = state.withLock({ $0.folder }),
      let status = folder.status(Self.secretName), status.st_mode & 0o077 == 0
    else { return nil }
    return CacheSecret(bytes.withUnsafeBytes { Array($0) })
  }

  /// Notes that a kept file is not what was kept.
  func noteDamage(_ name: String, _ what: String) {
    state.withLock { if $0.damage == nil { $0.damage = "'\(path)/\(name)' \(what)" } }
  }

  private func complain(_ reason: String) { state.withLock { if $0.complaint == nil { $0.complaint = reason } } }

  /// - Returns: nil where there is none and none is to be made.
  private func folder(creates: Bool) throws(FileError) -> CacheFolder? {
    try state.withLock { (state) throws(FileError) in
      if let folder = state.folder, !folder.isGone { return folder }
      // A folder that was removed took its secret along.
      (state.folder, state.secret) = (nil, nil)
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
