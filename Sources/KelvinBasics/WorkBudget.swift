import Synchronization

/// What the work for one model may take, in time and memory: an untrusted model costs no more than was allowed.
///
/// The budget of a call is found by all that is done for it, in whatever room (`current`), so that nobody has to hand it
/// on. Work looks at it between two pieces (`isSpent`) and gives up with an error of its own; whoever began the work
/// says in its place what ran out (`excess`).
package final class WorkBudget: Sendable {
  /// What may be taken; nil for as much as there is.
  package struct Limits: Hashable, Sendable {
    package var seconds: Double?
    package var bytes: Int?

    package init(seconds: Double? = nil, bytes: Int? = nil) {
      self.seconds = seconds
      self.bytes = bytes
    }
  }

  /// What is being done for the model.
  package enum Phase: String, Hashable, Sendable, CaseIterable {
    case reading = "reading the model"
    case building = "building its graph"
    case passes = "simplifying its graph"
    case planning = "planning"
    case compiling = "compiling"
    case predicting = "predicting"
  }

  /// A limit that was reached.
  package struct Excess: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
      /// Seconds.
      case time(limit: Double, used: Double)
      /// Bytes.
      case memory(limit: Int, used: Int)
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
          + "\(HumanReadable.seconds(used)); a higher limit (--max-seconds, ModelConfiguration.maximumSeconds) gives the"
          + " model more time"
      case .memory(let limit, let used):
        "the limit of \(HumanReadable.bytes(limit)) was reached while \(phase.rawValue), which takes "
          + "\(HumanReadable.bytes(used)); a higher limit (--max-memory, ModelConfiguration.maximumMemory) or smaller "
          + "input shapes let the model go on"
      }
    }
  }

  /// What the work is done under; nil where nothing is limited.
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

  /// Looks at the clock between two at memory, which takes a thousand times as long.
  private static let looksPerMeasurement = 64

  package init(_ limits: Limits, meter: WorkMeter = .process) {
    self.limits = limits
    self.meter = meter
    began = meter.seconds()
    before = limits.bytes == nil ? 0 : meter.bytes()
  }

  /// The limit that was reached first; nil while none was.
  package var excess: Excess? { state.withLock { $0.excess } }

  /// Whether a limit was reached by now. Stays so.
  package var isSpent: Bool {
    state.withLock { state in
      state.looks += 1
      look(&state, measuresMemory: state.looks % Self.looksPerMeasurement == 1)
      return state.excess != nil
    }
  }

  /// As `isSpent`, with a look at memory each time.
  package var measuresSpent: Bool {
    state.withLock { state in
      look(&state, measuresMemory: true)
      return state.excess != nil
    }
  }

  /// Says what is done from here on.
  package func enter(_ phase: Phase) {
    state.withLock { state in
      look(&state, measuresMemory: true)
      state.phase = phase
    }
  }

  /// Whether so much memory may be taken at once; where not, a limit was reached.
  package func admits(bytes: Int) -> Bool {
    guard let limit = limits.bytes else { return true }
    return state.withLock { state in
      let (used, overflow) = bytes.addingReportingOverflow(max(0, meter.bytes() - before))
      if state.excess == nil, overflow || used > limit {
        state.excess = Excess(kind: .memory(limit: limit, used: overflow ? .max : used), phase: state.phase)
      }
      return state.excess == nil
    }
  }

  private func look(_ state: inout State, measuresMemory: Bool) {
    guard state.excess == nil else { return }
    if let limit = limits.seconds {
      let used = meter.seconds() - began
      if used > limit { state.excess = Excess(kind: .time(limit: limit, used: used), phase: state.phase) }
    }
    if let limit = limits.bytes, measuresMemory {
      let used = meter.bytes() - before
      if used > limit { state.excess = Excess(kind: .memory(limit: limit, used: used), phase: state.phase) }
    }
  }
}

extension WorkBudget {
  /// Whether the budget of this work is spent.
  package static var isSpent: Bool { current?.isSpent ?? false }

  /// Says what is done from here on for the work that this is part of.
  package static func enter(_ phase: Phase) { current?.enter(phase) }

  /// Does some work within limits; within those around it where there are none.
  package static func bounding<Result, Failure: Error>(
    _ limits: Limits, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    limits == Limits() ? try body() : try WorkBudget(limits).governing(body)
  }

  /// Does some work within this budget.
  package func governing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try Self.governing(self, body)
  }

  /// Does some work within the budget of another, for work that goes on elsewhere.
  package static func governing<Result, Failure: Error>(
    _ budget: WorkBudget?, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // The task-local's own form throws any error.
    let result: Swift.Result<Result, Failure> = $current.withValue(budget) {
      do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
