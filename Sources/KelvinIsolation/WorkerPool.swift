import Glibc
import Synchronization

/// The parent's next step after a message of a worker.
package enum WorkerStep<Result> {
  /// The worker gets an answer and continues.
  case reply(WorkerMessage)
  /// The request is complete.
  case result(Result)
}

/// Workers of this process. Each takes one request at a time, and a request starts a worker if none is idle.
package final class WorkerPool: Sendable {
  package static let standard = WorkerPool()
  /// The largest number of workers that are kept for later requests.
  private static let maximumIdle = 64

  private let limits: WorkerLimits
  private let idle = Mutex<[WorkerProcess]>([])

  package init(_ limits: WorkerLimits = WorkerLimits()) { self.limits = limits }

  /// The identifiers of the workers that wait for a request.
  package var idleProcesses: [Int32] { idle.withLock { $0.map(\.process) } }

  /// Starts a worker if none is idle, so that the first request does not wait for it.
  ///
  /// - Throws: `WorkerFailure` if there is no program, or if it cannot restrict itself.
  package func prepare() throws(WorkerFailure) { give(try take()) }

  /// Sends a request to a worker. If the worker crashes, a new one gets the request once more.
  ///
  /// - Parameter step: Called for each message of the worker, again from the first one for the second worker. Messages
  ///   are untrusted. The worker is ended if it throws.
  package func run<Result>(
    _ request: WorkerMessage, _ step: (WorkerMessage) throws(WorkerFailure) -> WorkerStep<Result>
  ) throws(WorkerFailure) -> Result {
    do throws(WorkerFailure) { return try send(request, to: take(), step) } catch {
      guard error.kind == .crashed else { throw error }
      return try send(request, to: start(), step)
    }
  }

  private func send<Result>(
    _ request: WorkerMessage, to worker: WorkerProcess,
    _ step: (WorkerMessage) throws(WorkerFailure) -> WorkerStep<Result>
  ) throws(WorkerFailure) -> Result {
    worker.beginRequest()
    let deadline = ContinuousClock.now + .seconds(limits.seconds)
    try worker.send(request)
    while true {
      switch try step(try worker.receive(until: deadline)) {
      case .reply(let answer): try worker.send(answer)
      case .result(let result):
        give(worker)
        return result
      }
    }
  }

  private func take() throws(WorkerFailure) -> WorkerProcess {
    if let worker = idle.withLock({ $0.popLast() }) { return worker }
    return try start()
  }

  private func start() throws(WorkerFailure) -> WorkerProcess {
    try WorkerProcess(WorkerProgram.path(), limits)
  }

  private func give(_ worker: WorkerProcess) {
    guard idleProcesses.count < Self.maximumIdle else { return }
    idle.withLock { $0.append(worker) }
  }
}
