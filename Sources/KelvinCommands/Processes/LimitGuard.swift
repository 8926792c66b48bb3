import Glibc
import KelvinBasics
import Synchronization

/// Ends the process after a limit was reached, if the work does not end in time by itself, for example because it is
/// inside a driver's compiler or a system call.
enum LimitGuard {
  /// The interval between two checks in seconds.
  private static let interval = 0.02
  /// The number of checks after a limit was reached before the process is ended.
  private static let gracePeriod = 50

  /// The files that have what was written so far.
  private static let partialFiles = Mutex<[String]>([])

  /// Sets the files that a note names if the process is ended while they are written.
  static func setPartialFiles(_ paths: [String]) { partialFiles.withLock { $0 = paths } }

  /// Watches a budget for the life of the process, on a thread of its own. A process that has no memory for the thread
  /// is not watched: Dispatch would wait until there is.
  static func watch(_ budget: WorkBudget) {
    // The thread takes no signals: an interrupt belongs to the main thread.
    var (blocked, before) = (sigset_t(), sigset_t())
    sigfillset(&blocked)
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP] { sigdelset(&blocked, fault) }
    pthread_sigmask(SIG_SETMASK, &blocked, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Watched(budget)).toOpaque()
    let status = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        LimitGuard.end(Unmanaged<Watched>.fromOpaque(context).takeRetainedValue().budget)
      }, context)
    if status == 0 { pthread_detach(thread) } else { Unmanaged<Watched>.fromOpaque(context).release() }
  }

  private final class Watched {
    let budget: WorkBudget
    init(_ budget: WorkBudget) { self.budget = budget }
  }

  private static func end(_ budget: WorkBudget) -> Never {
    for _ in 0..<gracePeriod {
      repeat { usleep(UInt32(interval * 1e6)) } while !budget.measuresSpent
      if budget.isFarOver { break }
    }
    Console.lastError(budget.excess?.description ?? "a limit was reached")
    for path in partialFiles.withLock({ $0 }) where access(path.pathBytes, F_OK) == 0 {
      Console.note("what was saved is in '\(path)'")
    }
    _exit(ExitCode.limit.rawValue)
  }
}
