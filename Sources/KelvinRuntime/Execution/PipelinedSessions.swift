import Dispatch
import Glibc
import KelvinBasics
import KelvinDevices
import Synchronization

/// Several inferences of one model in flight, each with a thread of its own, so that devices with separate hardware work
/// at the same time.
///
/// While one inference waits for a GPU, another runs its part on the CPU. Devices of the same resource gain nothing.
/// Inferences may alternate between several plans of the model; each thread has a session of each plan.
package final class PipelinedSessions {
  /// A session with one owner at a time: the worker that runs it.
  private struct Owned: @unchecked Sendable {
    let session: Session
  }

  /// By thread, a session of each plan.
  private let sessions: [[Owned]]
  private let mixture: CompiledMixture

  /// The number of inferences in flight.
  package var inFlight: Int { sessions.count }

  /// - Parameters:
  ///   - mixture: the compiled plans of one model.
  ///   - inFlight: at least 1.
  /// - Throws: `device` if a device has not enough memory for that many sessions.
  package init(_ mixture: CompiledMixture, inFlight: Int) throws(RuntimeError) {
    precondition(inFlight > 0, "a pipeline has at least one inference in flight")
    self.mixture = mixture
    var sessions: [[Owned]] = []
    for _ in 0..<inFlight {
      sessions.append(try mixture.models.map { model throws(RuntimeError) in Owned(session: try model.makeSession()) })
    }
    self.sessions = sessions
  }

  package convenience init(_ model: CompiledModel, inFlight: Int) throws(RuntimeError) {
    try self.init(CompiledMixture(model), inFlight: inFlight)
  }

  /// Calls `body` repeatedly with every session, each on a thread of its own, until it returns false; returns when
  /// all threads have ended.
  ///
  /// - Parameters:
  ///   - watch: called periodically on the calling thread.
  ///   - body: receives a worker's index and its session. It writes inputs, runs the session, reads outputs, and
  ///     returns whether to continue. Each session is used by one thread at a time.
  /// - Throws: the first error of any worker; the others end after their current inference.
  package func run(
    watch: () -> Void = {}, _ body: @escaping @Sendable (_ worker: Int, Session) throws(RuntimeError) -> Bool
  ) throws(RuntimeError) {
    let state = State(mixture)
    var threads: [WorkerThread] = []
    for (index, owned) in sessions.enumerated() {
      let thread = WorkerThread {
        state.work { plan throws(RuntimeError) in try body(index, owned[plan].session) }
      }
      if let thread { threads.append(thread) }
    }
    // If no thread can be started, the calling thread does the work.
    if threads.isEmpty { state.work { plan throws(RuntimeError) in try body(0, sessions[0][plan].session) } }
    for _ in threads { while state.ended.wait(timeout: .now() + Self.interval) == .timedOut { watch() } }
    for thread in threads { thread.join() }
    if let error = state.failure.withLock({ $0 }) { throw error }
  }

  /// The seconds between two calls of `watch`.
  private static let interval = 0.25

  private final class State: Sendable {
    let failure = Mutex<RuntimeError?>(nil)
    let hasFailed = Atomic(false)
    let ended = DispatchSemaphore(value: 0)
    private let mixture: CompiledMixture

    init(_ mixture: CompiledMixture) { self.mixture = mixture }

    func work(_ body: (_ plan: Int) throws(RuntimeError) -> Bool) {
      do throws(RuntimeError) {
        while !hasFailed.load(ordering: .relaxed), try body(mixture.nextPlan()) {}
      } catch {
        failure.withLock { $0 = $0 ?? error }
        hasFailed.store(true, ordering: .relaxed)
      }
      ended.signal()
    }
  }
}

/// A thread for one piece of work.
package final class WorkerThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private var thread = pthread_t()
  private var wasJoined = false

  /// Starts the thread; nil if the system cannot start one.
  package init?(_ body: @escaping @Sendable () -> Void) {
    let budget = WorkBudget.current
    let work = Unmanaged.passRetained(Work { WorkBudget.governing(budget, body) })
    let status = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    guard status == 0 else {
      work.release()
      wasJoined = true
      return nil
    }
  }

  /// A thread that was not joined releases its resources when its work ends.
  deinit { if !wasJoined { pthread_detach(thread) } }

  /// Waits for the end of the work. Call it once.
  package func join() {
    pthread_join(thread, nil)
    wasJoined = true
  }
}
