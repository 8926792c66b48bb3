internal import CKelvinSupport
import Glibc
import KelvinBasics
import Synchronization

/// A running worker. It is killed with the last reference.
final class WorkerProcess: Sendable {
  /// The longest time in seconds until a worker is ready: it loads the decoders' libraries first.
  private static let startTime = Duration.seconds(60)
  /// The interval in seconds between two checks of the work's budget.
  private static let interval = 0.1

  let process: pid_t
  private let socket: Int32
  private let limits: WorkerLimits
  private let isRunning: Mutex<Bool>

  /// Starts a worker and waits until it is ready.
  init(_ program: String, _ limits: WorkerLimits) throws(WorkerFailure) {
    self.limits = limits
    var sockets: [Int32] = [-1, -1]
    guard ck_worker_sockets(&sockets) == 0 else { throw .unavailable("socket", errno) }
    socket = sockets[0]
    let (code, process) = Self.spawn(program, [WorkerProgram.command, "\(limits.memoryBytes)"], sockets[1])
    close(sockets[1])
    self.process = process
    isRunning = Mutex(code == 0)
    guard code == 0 else { throw .unavailable(program, code) }
    let ready: WorkerMessage
    do throws(WorkerFailure) { ready = try receive(until: .now + Self.startTime) } catch {
      throw WorkerFailure(
        .unavailable, "'\(program)' does not start as a worker: \(error.reason)", remedy: Self.otherVersion)
    }
    guard ready[0] == "ready", ready[1] == WorkerMessage.version else {
      throw WorkerFailure(
        .unavailable, ready.optional(1) ?? "'\(program)' is not a worker of this version of Kelvin",
        remedy: ready.optional(2) ?? Self.otherVersion)
    }
  }

  private static let otherVersion = "install the program and the library of one version of Kelvin"

  deinit {
    close(socket)
    _ = reap()
  }

  private static func spawn(_ program: String, _ arguments: [String], _ socket: Int32) -> (code: Int32, pid_t) {
    let strings = (["kelvin"] + arguments).map { strdup($0) } + [nil]
    defer { strings.forEach { free($0) } }
    var process: pid_t = 0
    let code = ck_worker_spawn(program.pathBytes, strings, socket, &process)
    return (code, code == 0 ? process : 0)
  }

  /// Bounds the processor time of the next request.
  func beginRequest() { _ = ck_worker_bound_time(process, UInt64(limits.seconds)) }

  func send(_ message: WorkerMessage) throws(WorkerFailure) {
    let code = message.send(to: socket)
    if code == EPIPE || code == ECONNRESET { throw ended() }
    // A worker that does not read its answers must not block this process.
    if code == EAGAIN { throw .invalidAnswer }
    guard code == 0 else { throw .unavailable("send", code) }
  }

  /// Waits for a message. A spent `WorkBudget` ends the wait.
  func receive(until deadline: ContinuousClock.Instant) throws(WorkerFailure) -> WorkerMessage {
    while case let left = (deadline - .now) / .seconds(1), left > 0, !WorkBudget.isSpent {
      do throws(WorkerMessageError) {
        let wait = min(left, Self.interval)
        guard let message = try WorkerMessage.receive(from: socket, seconds: wait, takesDescriptor: false) else {
          break
        }
        return message
      } catch {
        if error.code == ECONNRESET { break }
        guard error.code == ETIMEDOUT else { throw .invalidAnswer }
      }
    }
    guard deadline > .now, !WorkBudget.isSpent else {
      throw WorkerFailure(.limit, "the worker did not answer within \(limits.seconds) seconds")
    }
    throw ended()
  }

  /// Returns the reason why the worker, which has closed its socket, ended.
  private func ended() -> WorkerFailure { .ended(reap(), limits) }

  /// Kills the process and waits for its end, once. A process that is already ending keeps its status.
  ///
  /// - Returns: The status from `waitpid`; nil if it is unknown.
  private func reap() -> Int32? {
    isRunning.withLock { isRunning in
      guard isRunning else { return nil }
      isRunning = false
      kill(process, SIGKILL)
      var status: Int32 = 0
      var reaped = waitpid(process, &status, 0)
      while reaped < 0, errno == EINTR { reaped = waitpid(process, &status, 0) }
      return reaped == process ? status : nil
    }
  }
}
