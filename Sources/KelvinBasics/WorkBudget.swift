import Synchronization

/// The limits for the work for one model in time and memory, so that an untrusted model cannot exceed them.
///
/// All work for a call finds its budget through the task-local `current`, so it need not be passed along. Work checks
/// `isSpent` regularly and fails with an error of its own. The code that started the work reports the reached limit
/// (`excess`) instead.
package final class WorkBudget: Sendable {
  /// The limits; nil for unlimited.
  package struct Limits: Hashable, Sendable {
    package var seconds: Double?
    package var bytes: Int?
    /// The memory that was free, if the limit is a share of it that nobody chose.
    package var freeBytes: Int?

    package init(seconds: Double? = nil, bytes: Int? = nil) {
      self.seconds = seconds
      self.bytes = bytes
    }

    /// Returns the limits with nine tenths of the free memory as the limit of memory, if there is none.
    package func withinFreeMemory(_ memory: MachineMemory = MachineMemory()) -> Limits {
      guard bytes == nil, let free = memory.free else { return self }
      var limits = self
      (limits.bytes, limits.freeBytes) = (free / 10 * 9, free)
      return limits
    }
  }

  /// The current kind of work for the model.
  package enum Phase: String, Hashable, Sendable, CaseIterable {
    case reading = "reading the model"
    case building = "building its graph"
    case passes = "simplifying its graph"
    case planning = "planning"
    case compiling = "compiling"
    case predicting = "predicting"
    case searching = "searching the index"
  }

  /// The error for a limit that was reached.
  package struct Excess: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
      /// The time limit, in seconds.
      case time(limit: Double, used: Double)
      /// The memory limit, in bytes, and what was free if it is a share of that.
      case memory(limit: Int, used: Int, free: Int? = nil)
    }

    package let kind: Kind
    package let phase: Phase

    package init(kind: Kind, phase: Phase) {
      self.kind = kind
      self.phase = phase
    }

    package var description: String {
      switch kind {
      case .time(let limit, let used):
        "the limit of \(HumanReadable.seconds(limit)) was reached while \(phase.rawValue), after "
          + "\(HumanReadable.seconds(used)); a higher limit (--max-seconds, ModelConfiguration.timeLimit) gives the"
          + " model more time"
      case .memory(let limit, let used, let free?):
        "the limit of \(HumanReadable.bytes(limit)), nine tenths of the free memory (\(HumanReadable.bytes(free))), was "
          + "reached while \(phase.rawValue), which takes \(HumanReadable.bytes(used)); free memory, use smaller input "
          + "shapes, or set another limit (--max-memory)"
      case .memory(let limit, let used, nil):
        "the limit of \(HumanReadable.bytes(limit)) was reached while \(phase.rawValue), which takes "
          + "\(HumanReadable.bytes(used)); a higher limit (--max-memory, ModelConfiguration.maximumMemory) or smaller "
          + "input shapes let the model go on"
      }
    }
  }

  /// The budget of the current work; nil if there is none.
  @TaskLocal package static var current: WorkBudget?

  package let limits: Limits
  private let meter: WorkMeter
  private let began: Double
  private let before: Int
  private let state = Mutex(State())

  private struct State {
    var phase = Phase.reading
    var excess: Excess?
    var looks = 0
  }

  /// The number of clock checks for each memory check, which is much slower.
  private static let looksPerMeasurement = 64

  package init(_ limits: Limits, meter: WorkMeter = .process) {
    self.limits = limits
    self.meter = meter
    began = meter.seconds()
    before = limits.bytes == nil ? 0 : meter.bytes()
  }

  /// The limit that was reached first; nil if none was.
  package var excess: Excess? { state.withLock { $0.excess } }

  /// Whether a limit has been reached; once true, it stays true.
  package var isSpent: Bool {
    state.withLock { state in
      state.looks += 1
      look(&state, measuresMemory: state.looks % Self.looksPerMeasurement == 1)
      return state.excess != nil
    }
  }

  /// Whether a limit has been reached, with a memory check at every call.
  package var measuresSpent: Bool {
    state.withLock { state in
      look(&state, measuresMemory: true)
      return state.excess != nil
    }
  }

  /// Sets the current kind of work.
  package func enter(_ phase: Phase) {
    state.withLock { state in
      look(&state, measuresMemory: true)
      state.phase = phase
    }
  }

  /// Returns whether an allocation of this size stays within the limit; if not, the limit counts as reached.
  package func admits(bytes: Int) -> Bool {
    guard let limit = limits.bytes else { return true }
    return state.withLock { state in
      let (used, overflow) = bytes.addingReportingOverflow(max(0, meter.bytes() - before))
      if state.excess == nil, overflow || used > limit {
        state.excess = excess(limit, used: overflow ? .max : used, state.phase)
      }
      return state.excess == nil
    }
  }

  private func excess(_ limit: Int, used: Int, _ phase: Phase) -> Excess {
    Excess(kind: .memory(limit: limit, used: used, free: limits.freeBytes), phase: phase)
  }

  /// Whether the work takes more than the limit of memory by a sixteenth, so that it must be ended at once.
  package var isFarOver: Bool {
    guard let limit = limits.bytes else { return false }
    return meter.bytes() - before > limit + limit / 16
  }

  private func look(_ state: inout State, measuresMemory: Bool) {
    guard state.excess == nil else { return }
    if let limit = limits.seconds {
      let used = meter.seconds() - began
      if used > limit { state.excess = Excess(kind: .time(limit: limit, used: used), phase: state.phase) }
    }
    if let limit = limits.bytes, measuresMemory {
      let used = meter.bytes() - before
      if used > limit { state.excess = excess(limit, used: used, state.phase) }
    }
  }
}

extension WorkBudget {
  /// Whether the current budget is spent.
  package static var isSpent: Bool { current?.isSpent ?? false }

  /// Sets the current kind of work in the current budget.
  package static func enter(_ phase: Phase) { current?.enter(phase) }

  /// Runs work within limits; without limits, the enclosing budget stays in effect.
  package static func bounding<Result, Failure: Error>(
    _ limits: Limits, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    limits == Limits() ? try body() : try WorkBudget(limits).governing(body)
  }

  /// Runs work within this budget.
  package func governing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try Self.governing(self, body)
  }

  /// Runs work within a given budget, for work that continues on another thread.
  package static func governing<Result, Failure: Error>(
    _ budget: WorkBudget?, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // `withValue` of the task-local throws untyped errors.
    let result: Swift.Result<Result, Failure> = $current.withValue(budget) {
      do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
