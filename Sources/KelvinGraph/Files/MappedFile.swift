import CKelvinSupport
import Glibc
import KelvinBasics
import Synchronization

/// A file that is mapped read-only, for as long as this lives, and what of it may be believed.
///
/// A mapping shows whatever anybody writes to the file, and a guard puts zeros where it was cut short. Nobody can say
/// beforehand which it will be, so what is computed from it counts only where it was the same file before and after.
final class MappedFile: @unchecked Sendable {
  let base: UnsafeMutableRawPointer
  let file: OpenFile
  private let watch: OpaquePointer
  private let trust: Mutex<Trust>

  private struct Trust {
    /// The latest state in which it is known to hold what it held when it was opened.
    var state: FileState
    var touches = Touches()
    var holds: (@Sendable (Bytes) -> Bool)?
    /// What was found in a later state: it is not looked for again.
    var refusal: (state: FileState, error: FileError)?
  }

  /// How often the file was touched since it was opened, and how often in another way than by its names.
  struct Touches {
    var all = 0
    var contents = 0
  }

  /// Seconds in which changes may have one time: a step of the clock by which the system stamps files, and more.
  private static let clockStep = 0.02
  /// How often contents are looked at that change meanwhile.
  private static let mostLooks = 4

  /// - Parameter file: is not empty.
  /// - Throws: `FileError` with the system's reason.
  init(_ file: OpenFile) throws(FileError) {
    let base = try file.map()
    guard let watch = ck_guard_begin(base, file.byteCount) else {
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

  /// See `Bytes.recognize(by:)`.
  func recognize(by holds: @escaping @Sendable (Bytes) -> Bool) { trust.withLock { $0.holds = holds } }

  /// See `Bytes.touches(ofContents:)`.
  ///
  /// - Parameter whole: this file's bytes.
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
      // What could not be read is looked at last: the size says more.
      guard !ck_guard_is_damaged(watch) else {
        throw FileError(path: file.path, action: "read", reason: "a part of it could not be read when it was needed")
      }
      return trust.touches
    }
  }

  /// The state after a change that the next one can be told from.
  private func settled(_ state: FileState) throws(FileError) -> FileState {
    var clock = timespec()
    clock_gettime(CLOCK_REALTIME, &clock)
    let now = Double(clock.tv_sec) + Double(clock.tv_nsec) * 1e-9
    guard !state.isSettled(for: Self.clockStep, at: now) else { return state }
    usleep(UInt32(Self.clockStep * 1e6))
    return try file.currentState()
  }

  /// Compares contents with what they were, while nobody changes them.
  ///
  /// - Parameter state: in which they were compared.
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
