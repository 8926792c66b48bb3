import Glibc
import KelvinRuntime
import Synchronization

/// Simulates a disk that fails: the cache's calls reach the real folder up to a given one.
final class FailingDisk: Sendable {
  enum Failure: Hashable, Sendable {
    /// The machine stops: from that call on nothing happens, and what was written and not synced is torn.
    case stops
    /// That call, or all from it on, are refused with a code of the system.
    case refuses(Int32, forGood: Bool)
  }

  private struct State {
    var count = 0
    /// Files written to and not synced, each by a descriptor of our own.
    var unsynced: [Int32: Int32] = [:]
    var hasStopped = false
  }

  private let place: Int
  private let failure: Failure
  private let state = Mutex(State())

  /// - Parameter place: the number of the call that fails, from 1; 0 for none.
  init(_ failure: Failure, at place: Int) {
    self.place = place
    self.failure = failure
  }

  /// How many calls were made.
  var count: Int { state.withLock { $0.count } }

  var calls: FileSystemCalls {
    let real = FileSystemCalls()
    var calls = FileSystemCalls()
    calls.makeFolder = { folder, name in self.call(-1) { real.makeFolder(folder, name) } }
    calls.open = { folder, name, flags in self.call(-1) { real.open(folder, name, flags) } }
    calls.write = { file, bytes in
      let half = { real.write(file, UnsafeRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2))) }
      return self.call(-1, torn: half) {
        self.state.withLock { if $0.unsynced[file] == nil { $0.unsynced[file] = dup(file) } }
        return real.write(file, bytes)
      }
    }
    // Nothing is gained by waiting for a real disk.
    calls.sync = { file in
      self.call(-1) {
        self.state.withLock { state in _ = state.unsynced.removeValue(forKey: file).map { close($0) } }
        return 0
      }
    }
    calls.close = { file in
      let isRefused = self.call(-1) { 0 } != 0
      let code = errno
      let result = real.close(file)
      errno = code
      return isRefused ? -1 : result
    }
    calls.rename = { folder, name, target in self.call(-1) { real.rename(folder, name, target) } }
    calls.link = { folder, name, target in self.call(-1) { real.link(folder, name, target) } }
    calls.remove = { folder, name in self.call(-1) { real.remove(folder, name) } }
    return calls
  }

  private func call<Result>(_ refusal: Result, torn: () -> Result? = { nil }, _ body: () -> Result) -> Result {
    let (isRefused, isLast) = state.withLock { state in
      state.count += 1
      let isPlace = state.count == place
      switch failure {
      case .stops: return (place > 0 && state.count >= place, isPlace)
      case .refuses(_, let forGood): return (isPlace || forGood && place > 0 && state.count > place, false)
      }
    }
    guard isRefused else { return body() }
    if isLast {
      _ = torn()
      loseWhatWasNotSynced()
    }
    if case .refuses(let code, _) = failure { errno = code } else { errno = EIO }
    return refusal
  }

  private func loseWhatWasNotSynced() {
    state.withLock { state in
      for copy in state.unsynced.values {
        var status = stat()
        if fstat(copy, &status) == 0 { ftruncate(copy, status.st_size * 2 / 3) }
        close(copy)
      }
      state.unsynced = [:]
    }
  }

  deinit { state.withLock { for copy in $0.unsynced.values { close(copy) } } }
}
