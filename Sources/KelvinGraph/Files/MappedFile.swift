import CKelvinSupport
import Glibc
import KelvinBasics
import Synchronization

/// A file that is mapped read-only during the lifetime of the object, with checks that its contents are unchanged.
///
/// A mapping shows concurrent writes to the file, and a guard replaces pages beyond a truncated end by zeros. Results
/// that are computed from it are therefore valid only if the file was unchanged before and after.
final class MappedFile: @unchecked Sendable {
  let base: UnsafeMutableRawPointer
  let file: OpenFile
  private let watch: OpaquePointer
  private let trust: Mutex<Trust>

  private struct Trust {
    /// The latest state in which the file is known to hold its original contents.
    var state: FileState
    var touches = Touches()
    var holds: (@Sendable (Bytes) -> Bool)?
    /// The error in a later state, which is not examined again.
    var refusal: (state: FileState, error: FileError)?
  }

  /// The number of changes of the file's state since it was opened: all, and those that affect more than its names.
  struct Touches {
    var all = 0
    var contents = 0
  }

  /// The time in seconds within which changes may have equal time stamps: more than a tick of the file system's clock.
  private static let clockStep = 0.02
  /// The greatest number of comparisons of contents that change meanwhile.
  private static let mostLooks = 4

  /// Maps a file.
  ///
  /// - Parameter file: The file, which is not empty.
  /// - Throws: `FileError` with the system's reason.
  init(_ file: OpenFile) throws(FileError) {
    let base = try file.map()
    guard let watch = ck_guard_begin(base, file.byteCount, false) else {
      munmap(base, file.byteCount)
      throw FileError(path: file.path, action: "map", code: ENOMEM)
    }
    (self.base, self.file, self.watch) = (base, file, watch)
    trust = Mutex(Trust(state: file.state))
  }

  deinit {
    ck_guard_end(watch)
    munmap(base, file.byteCount)
  }

  var state: FileState { trust.withLock(\.state) }

  /// The size in bytes from which ranges are worth a system call.
  private static let droppedFrom = 1 << 16

  /// Implements `Bytes.dropPages()`.
  func dropPages(_ range: Range<Int>) {
    guard range.count >= Self.droppedFrom else { return }
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let (first, end) = ((range.lowerBound + page - 1) / page * page, range.upperBound / page * page)
    madvise(base + first, end - first, MADV_DONTNEED)
  }

  /// Implements `Bytes.recognize(by:)`.
  func recognize(by holds: @escaping @Sendable (Bytes) -> Bool) { trust.withLock { $0.holds = holds } }

  /// Implements `Bytes.touches(ofContents:)`.
  ///
  /// - Parameter whole: This file's bytes.
  func touches(_ whole: Bytes) throws(FileError) -> Touches {
    try trust.withLock { (trust) throws(FileError) -> Touches in
      var now = try file.currentState()
      if now != trust.state {
        if let refusal = trust.refusal, refusal.state == now { throw refusal.error }
        do throws(FileError) {
          now = try settled(now)
          try look(whole, &now, trust.holds)
        } catch {
          trust.refusal = (now, error)
          throw error
        }
        trust.touches.all += 1
        if !now.differsByNames(from: trust.state) { trust.touches.contents += 1 }
        trust.state = now
      }
      // Read errors are checked last, because a changed size explains more.
      guard !ck_guard_is_damaged(watch) else {
        throw FileError(path: file.path, action: "read", reason: "a part of it could not be read when it was needed")
      }
      return trust.touches
    }
  }

  /// Returns the state after a change, once later changes have another time stamp.
  private func settled(_ state: FileState) throws(FileError) -> FileState {
    var clock = timespec()
    clock_gettime(CLOCK_REALTIME, &clock)
    let now = Double(clock.tv_sec) + Double(clock.tv_nsec) * 1e-9
    guard !state.isSettled(for: Self.clockStep, at: now) else { return state }
    usleep(UInt32(Self.clockStep * 1e6))
    return try file.currentState()
  }

  /// Compares the contents with the original ones until they are stable during the comparison.
  ///
  /// - Parameter state: The state in which they were compared.
  private func look(
    _ whole: Bytes, _ state: inout FileState, _ holds: (@Sendable (Bytes) -> Bool)?
  ) throws(FileError) {
    for _ in 0..<Self.mostLooks {
      guard state.byteCount == file.byteCount else { throw file.resized(to: state.byteCount) }
      guard let holds, holds(whole) else {
        throw FileError(
          path: file.path, action: "use",
          reason: "it was written to after it was opened; load it again when it is whole")
      }
      let after = try file.currentState()
      if after == state { return }
      state = after
    }
    throw FileError(path: file.path, action: "use", reason: "it is being written to; load it again when it is whole")
  }
}
