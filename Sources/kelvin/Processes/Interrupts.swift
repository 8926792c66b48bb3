import Glibc
import KelvinRuntime
import Synchronization

/// Ctrl-C in the middle of a long command: the first one asks the work to end with what it has, a second one ends the
/// process at once.
///
/// SIGINT and SIGTERM are blocked in every thread and awaited by one, so that nothing has to be done within a handler.
enum Interrupts {
  private static let child = Atomic<pid_t>(0)
  private static let isWatching = Atomic(false)
  private static let folder = Mutex<String?>(nil)

  /// To be called before the process has other threads.
  static func cancelling(_ cancellation: Cancellation) {
    guard !isWatching.exchange(true, ordering: .acquiringAndReleasing) else { return }
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let thread = WorkerThread {
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGINT)
      sigaddset(&signals, SIGTERM)
      var signal: Int32 = 0
      var isSecond = false
      while true {
        guard sigwait(&signals, &signal) == 0 else { continue }
        let process = child.load(ordering: .acquiring)
        if process > 0 { kill(process, SIGKILL) }
        if isSecond {
          if let folder = folder.withLock({ $0 }) { FreshStarts.remove(folder) }
          if Console.isErrorTerminal { Console.write("\r\u{1B}[J", to: STDERR_FILENO) }
          _exit(ExitCode.interrupted.rawValue)
        }
        isSecond = true
        Console.note("ending with what has been measured; interrupt again to stop at once")
        cancellation.cancel()
      }
    }
    // Without a thread to await them the signals do what they always do.
    if thread == nil { pthread_sigmask(SIG_UNBLOCK, &signals, nil) }
  }

  /// The process to be killed with this one; 0 for none.
  static func setChild(_ process: pid_t) { child.store(process, ordering: .releasing) }

  /// A folder of temporary files to be removed when the process is ended at once; nil for none.
  static func setFolder(_ path: String?) { folder.withLock { $0 = path } }
}
