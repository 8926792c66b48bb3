import Glibc
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
package import KelvinRuntime
import Synchronization

/// A background load of real work on devices, with the period of a display with 60 frames per second.
///
/// On the CPU, one thread per processor computes for its share of each period, measured in its own processor time. So
/// other processes do not reduce the load. On other devices, a matrix product is repeated in each period to fill the
/// share; if one product takes longer, the period grows.
///
/// Memory traffic is copied within a buffer larger than any cache. A working set is written, one access per cache line,
/// once per period.
package final class SyntheticLoad: BackgroundLoad {
  /// Seconds of one period.
  package static let period = 1.0 / 60

  private enum Worker: Sendable {
    case processor(share: Double)
    case device(id: String, Owned, repeats: Int, period: Double)
    case memory(bytesPerSecond: Double)
    case cache(bytes: Int)
  }

  /// A session that only one worker's thread uses.
  private struct Owned: @unchecked Sendable {
    let session: Session
  }

  private let workers: [Worker]
  private let state = State()
  private var threads: [WorkerThread] = []
  private var began = 0.0
  package private(set) var account: BackgroundLoadUsage?

  /// The number of periods so far, over all threads.
  package var count: Int { state.rounds.load(ordering: .relaxed) }
  /// Seconds of processor time of its threads so far, to be subtracted from measurements. The time of drivers' own
  /// threads is not included.
  package var processorSeconds: Double { Double(state.nanoseconds.load(ordering: .relaxed)) * 1e-9 }
  package var ownProcessorSeconds: Double { processorSeconds }
  package var processes: [Int32] { [] }
  /// The reason for which a device's load ended early; nil when none did.
  package var failure: String? { state.failure.withLock { $0 } }

  /// - Parameters:
  ///   - load: the load to generate.
  ///   - processors: the number of threads on the CPU device.
  /// - Throws: `RuntimeError` for devices that do not exist or do not support matrix products.
  package init(_ load: CoLoad, _ inventory: DeviceInventory, processors: Int) throws {
    var workers: [Worker] = []
    if load.memoryBytesPerSecond > 0 { workers.append(.memory(bytesPerSecond: load.memoryBytesPerSecond)) }
    if load.cacheBytes > 0 { workers.append(.cache(bytes: load.cacheBytes)) }
    for (id, share) in load.shares.sorted(by: { $0.key < $1.key }) where share > 0 {
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
    if account == nil { began = SystemClock().now() }
    state.isStopped.store(false, ordering: .releasing)
    for worker in workers {
      let state = state
      let thread = WorkerThread {
        switch worker {
        case .processor(let share): state.compute(share)
        case .device(let id, let owned, let repeats, let period): state.submit(id, owned.session, repeats, period)
        case .memory(let bytesPerSecond): state.copy(bytesPerSecond)
        case .cache(let bytes): state.touch(bytes)
        }
        state.bookThread()
      }
      if let thread { threads.append(thread) }
    }
  }

  package func stop() {
    guard !threads.isEmpty else { return }
    join()
    let used = state.used.withLock(\.self)
    account = BackgroundLoadUsage(
      isProcess: false, seconds: SystemClock().now() - began, userSeconds: used.user, kernelSeconds: used.kernel,
      memoryBytes: Double(state.memoryBytes.load(ordering: .relaxed)), failure: failure)
  }

  package func pause() { join() }
  package func resume() { start() }

  private func join() {
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

  /// The graph of y = x x, for a matrix of 256 × 256.
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
    let memoryBytes = Atomic(0)
    let used = Mutex(ProcessorTime())
    let computed = Atomic<UInt64>(0)
    let failure = Mutex<String?>(nil)

    var goesOn: Bool { !isStopped.load(ordering: .acquiring) }

    func compute(_ share: Double) {
      // Four chains keep a core's units as busy as vector code does.
      var chains = (0..<4).map { SIMD8<Float>(repeating: 0.5 + Float($0) / 8) }
      inPeriods { booked in
        let end = booked + share * period
        // The loop is long enough that reading the clock does not dominate.
        while Self.threadSeconds() < end {
          for _ in 0..<20_000 {
            for index in chains.indices { chains[index] = chains[index] * 0.9999 + 1e-4 }
          }
        }
        // The result is stored, so that the compiler cannot remove the work.
        computed.store(UInt64(chains[0][0].bitPattern), ordering: .relaxed)
      }
    }

    /// Reads and writes `bytesPerSecond`, or as much as possible.
    func copy(_ bytesPerSecond: Double) {
      let half = 64 << 20
      let (memory, traffic) = (
        UnsafeMutableRawPointer.allocate(byteCount: 2 * half, alignment: 64), bytesPerSecond * period
      )
      defer { memory.deallocate() }
      memset(memory, 1, 2 * half)
      var at = 0
      inPeriods { _ in
        // Each copied byte is read once and written once.
        var left = Int(min(traffic / 2, Double(1 << 32)))
        while left > 0, goesOn {
          let count = min(left, half - at, 1 << 20)
          memcpy(memory + half + at, memory + at, count)
          at = (at + count) % half
          left -= count
          memoryBytes.add(2 * count, ordering: .relaxed)
        }
      }
    }

    /// Writes to every cache line of `bytes` bytes in each period.
    func touch(_ bytes: Int) {
      let memory = UnsafeMutablePointer<UInt64>.allocate(capacity: max(8, bytes / 8))
      defer { memory.deallocate() }
      memory.initialize(repeating: 1, count: max(8, bytes / 8))
      inPeriods { _ in
        for index in stride(from: 0, to: max(8, bytes / 8), by: 8) { memory[index] &+= 1 }
        computed.store(memory[0], ordering: .relaxed)
      }
    }

    /// Works once in each period until stopped.
    private func inPeriods(_ work: (_ booked: Double) -> Void) {
      let clock = SystemClock()
      var due = clock.now()
      var booked = Self.threadSeconds()
      while goesOn {
        work(booked)
        book(&booked)
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

    /// Adds the processor time of the calling thread since `booked`.
    private func book(_ booked: inout Double) {
      let now = Self.threadSeconds()
      nanoseconds.add(Int((now - booked) * 1e9), ordering: .relaxed)
      booked = now
    }

    /// Adds the total processor time of the calling thread, which ends.
    func bookThread() { used.withLock { $0 = $0 + ProcessorTime.ofThread } }

    private static func threadSeconds() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
  }
}
