import Dispatch
import Glibc
import Kelvin
import Synchronization

/// The handling of Ctrl-C and SIGTERM during long commands. The first signal asks the work to end with its results so
/// far; the second ends the process at once.
///
/// The signals are blocked in every thread and awaited by a single thread, so that no code runs in a signal handler.
enum Interrupts {
  private static let child = Mutex<pid_t>(0)
  private static let isWatching = Atomic(false)
  private static let wasInterrupted = Atomic(false)
  private static let running = Mutex<Task<Void, Never>?>(nil)
  private static let folder = Mutex<String?>(nil)

  /// Runs work in a task that the first interrupt cancels, and waits for its end. Must be called before the process
  /// starts other threads.
  static func cancelling<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let outcome = Outcome<Value>()
    let isDone = DispatchSemaphore(value: 0)
    watch()
    let task = Task {
      let result: Result<Value, any Error>
      do { result = .success(try await work()) } catch { result = .failure(error) }
      outcome.result.withLock { $0 = result }
      isDone.signal()
    }
    running.withLock { $0 = task }
    if isInterrupted { task.cancel() }
    isDone.wait()
    return try outcome.result.withLock { $0 }.get()
  }

  /// Begins to watch for interrupts, for a command that starts threads before `cancelling`.
  static func prepare() { watch() }

  /// Whether an interrupt has occurred.
  static var isInterrupted: Bool { wasInterrupted.load(ordering: .acquiring) }

  private static func watch() {
    guard !isWatching.exchange(true, ordering: .acquiringAndReleasing) else { return }
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    DispatchQueue(label: "kelvin.interrupts").async {
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGINT)
      sigaddset(&signals, SIGTERM)
      var signal: Int32 = 0
      var isSecond = false
      while true {
        guard sigwait(&signals, &signal) == 0 else { continue }
        child.withLock { if $0 > 0 { kill($0, SIGKILL) } }
        if isSecond {
          if let folder = folder.withLock({ $0 }) { LocalFile.removeFolder(folder) }
          if Console.isErrorTerminal { Console.write("\r\u{1B}[J", to: STDERR_FILENO) }
          _exit(ExitCode.interrupted.rawValue)
        }
        isSecond = true
        Console.note("ending with the results so far; interrupt again to stop at once")
        wasInterrupted.store(true, ordering: .releasing)
        running.withLock { $0 }?.cancel()
      }
    }
  }

  /// Sets the child process that is killed on an interrupt; 0 for none. Must be reset before the child is reaped,
  /// because its identifier may then be reused.
  static func setChild(_ process: pid_t) { child.withLock { $0 = process } }

  /// Sets the folder of temporary files that is removed when the process is ended at once; nil for none.
  static func setFolder(_ path: String?) { folder.withLock { $0 = path } }
}

/// The result of a task, for the thread that waits for it.
private final class Outcome<Value: Sendable>: Sendable {
  let result = Mutex<Result<Value, any Error>>(.failure(CancellationError()))
}
