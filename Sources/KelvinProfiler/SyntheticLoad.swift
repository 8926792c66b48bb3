import Glibc
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
package import KelvinRuntime
import Synchronization

/// Somebody else at work: real work on devices, in the rhythm of a screen that is drawn 60 times a second.
///
/// On the CPU one thread for each processor computes for its share of each period, measured by its own processor time,
/// so that a neighbour does not make it smaller. On another device a matrix product runs as often in each period as
/// fills the share; where one product takes longer than the share of a period, the period grows instead.
package final class SyntheticLoad {
  /// Seconds from one frame to the next.
  package static let period = 1.0 / 60

  private enum Worker: Sendable {
    case processor(share: Double)
    case device(id: String, Owned, repeats: Int, period: Double)
  }

  /// Used by one worker's thread alone.
  private struct Owned: @unchecked Sendable {
    let session: Session
  }

  private let workers: [Worker]
  private let state = State()
  private var threads: [WorkerThread] = []

  /// Periods worked so far, over all threads.
  package var count: Int { state.rounds.load(ordering: .relaxed) }
  /// Processor time that its threads used so far, in seconds, so that it is not booked to what is measured. What a
  /// driver's own threads take for it is not in it.
  package var processorSeconds: Double { Double(state.nanoseconds.load(ordering: .relaxed)) * 1e-9 }
  /// Why a device's load ended early; nil while all is well.
  package var failure: String? { state.failure.withLock { $0 } }

  /// - Parameters:
  ///   - shares: by device id, 0 ..< 1.
  ///   - processors: that the CPU device's share is of.
  /// - Throws: `RuntimeError` for devices that are not there or cannot multiply matrices.
  package init(_ shares: [String: Double], _ inventory: DeviceInventory, processors: Int) throws {
    var workers: [Worker] = []
    for (id, share) in shares.sorted(by: { $0.key < $1.key }) where share > 0 {
      if try inventory.device(id).info.isHost {
        workers += Array(repeating: .processor(share: share), count: max(1, processors))
      } else {
        workers.append(try Self.worker(id, share, inventory))
      }
    }
    self.workers = workers
  }

  deinit { stop() }

  package func start() {
    guard threads.isEmpty else { return }
    state.isStopped.store(false, ordering: .releasing)
    for worker in workers {
      let state = state
      let thread = WorkerThread {
        switch worker {
        case .processor(let share): state.compute(share)
        case .device(let id, let owned, let repeats, let period): state.submit(id, owned.session, repeats, period)
        }
      }
      if let thread { threads.append(thread) }
    }
  }

  /// Returns when nothing of it runs any more.
  package func stop() {
    state.isStopped.store(true, ordering: .releasing)
    for thread in threads { thread.join() }
    threads = []
  }

  private static func worker(_ id: String, _ share: Double, _ inventory: DeviceInventory) throws -> Worker {
    let request = PlanRequest(units: .devices([id]), isStrict: true)
    let solution = try Planner(inventory: inventory, costs: CostSheet()).problem(product, request).solve()
    let model = try CompiledModel(
      product, placement: solution.placement, transfers: solution.transfers, inventory: inventory,
      precision: .automatic, threads: 1, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
    let session = try model.makeSession()
    try session.run()
    let clock = SystemClock()
    var seconds = Double.infinity
    for _ in 0..<5 { seconds = min(seconds, try clock.time { () throws(RuntimeError) in try session.run() }) }
    let repeats = max(1, Int(min(1e4, (share * period / max(seconds, 1e-7)).rounded())))
    return .device(
      id: id, Owned(session: session), repeats: repeats, period: max(period, Double(repeats) * seconds / share))
  }

  /// y = x x, for a matrix of 256 columns.
  private static var product: Graph {
    var graph = Graph()
    let type = TensorType(.float32, [256, 256])
    let input = graph.addValue(Value(name: "x", type: type))
    let output = graph.addValue(Value(name: "y", type: type))
    graph.inputs = [input]
    graph.outputs = [output]
    let origin = Origin(name: "load", kind: "load", index: 0)
    graph.nodes = [Node(name: "load", op: MatMul(), inputs: [input, input], outputs: [output], origins: [origin])]
    return graph
  }

  private final class State: Sendable {
    let isStopped = Atomic(true)
    let rounds = Atomic(0)
    let nanoseconds = Atomic(0)
    let computed = Atomic<UInt64>(0)
    let failure = Mutex<String?>(nil)

    var goesOn: Bool { !isStopped.load(ordering: .acquiring) }

    func compute(_ share: Double) {
      let clock = SystemClock()
      var due = clock.now()
      // Not 1, which the step leaves as it is, so that a compiler leaves out the step.
      var value = 0.5
      var booked = Self.threadSeconds()
      while goesOn {
        let end = booked + share * period
        // Long enough between two looks at the clock that the looks are not the load.
        while Self.threadSeconds() < end {
          for _ in 0..<100_000 { value = value * 0.999999 + 1e-6 }
        }
        book(&booked)
        // The number goes somewhere, so that the work cannot be left out.
        computed.store(value.bitPattern, ordering: .relaxed)
        rounds.add(1, ordering: .relaxed)
        due = max(due + period, clock.now() - period)
        clock.sleep(until: due)
      }
    }

    func submit(_ id: String, _ session: Session, _ repeats: Int, _ period: Double) {
      let clock = SystemClock()
      var due = clock.now()
      var booked = Self.threadSeconds()
      while goesOn {
        defer { book(&booked) }
        do throws(RuntimeError) {
          for _ in 0..<repeats where goesOn { try session.run() }
        } catch {
          failure.withLock { $0 = $0 ?? "the load on \(id) ended: \(error.description)" }
          return
        }
        rounds.add(1, ordering: .relaxed)
        due = max(due + period, clock.now() - period)
        clock.sleep(until: due)
      }
    }

    /// Adds what the calling thread has used since `booked`.
    private func book(_ booked: inout Double) {
      let now = Self.threadSeconds()
      nanoseconds.add(Int((now - booked) * 1e9), ordering: .relaxed)
      booked = now
    }

    private static func threadSeconds() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
  }
}
