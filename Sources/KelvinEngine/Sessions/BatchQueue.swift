import KelvinRuntime

/// Joins calls of several threads into batches.
///
/// A batch runs as soon as every call that has begun has its input, or the batch is full. So no call waits for another
/// that may never come. One batch runs at a time, and calls that arrive meanwhile form the next one. The size of a batch
/// is a power of two.
package final class BatchQueue<Input: Sendable, Output: Sendable>: Sendable {
  private typealias Waiting = (ticket: Int, input: Input)

  private struct State {
    /// The calls that have begun and are in no batch yet.
    var begun = 0
    /// The calls among them that have their inputs, in order of arrival.
    var waiting: [Waiting] = []
    var tickets = 0
    var isRunning = false
    /// The outcomes that were not fetched yet, by ticket.
    var outcomes: [Int: Result<Output, any Error>] = [:]
  }

  private enum Step {
    case done(Result<Output, any Error>)
    /// The caller runs this batch, whose first call is its own.
    case run([Waiting])
  }

  /// The most calls in a batch, a power of two.
  package let limit: Int
  private let state = ConditionLock(State())

  /// - Parameter limit: as the property.
  package init(limit: Int) {
    precondition(limit > 0 && limit.nonzeroBitCount == 1, "the limit of a batch is a power of two")
    self.limit = limit
  }

  /// Makes an input and returns its output. Blocks the calling thread while a batch runs.
  ///
  /// - Parameters:
  ///   - input: makes the input.
  ///   - run: returns the outputs of a batch of inputs, in their order. Each call of a queue gives the same function.
  /// - Throws: the errors of `input`; the error of `run` for each call of the batch.
  package func call(_ input: () throws -> Input, run: ([Input]) throws -> [Output]) throws -> Output {
    state.withLock { $0.begun += 1 }
    let made: Input
    do { made = try input() } catch {
      state.withLock { $0.begun -= 1 }
      throw error
    }
    let ticket = state.withLock { state in
      state.tickets += 1
      state.waiting.append((state.tickets, made))
      return state.tickets
    }
    while true {
      switch try state.wait(nil, { next(ticket, &$0) }) {
      case .done(let outcome): return try outcome.get()
      case .run(let batch):
        let outcome = Result { try run(batch.map(\.input)) }
        state.withLock { state in
          state.isRunning = false
          for (index, one) in batch.enumerated() { state.outcomes[one.ticket] = outcome.map { $0[index] } }
        }
      }
    }
  }

  private func next(_ ticket: Int, _ state: inout State) -> Step? {
    if let outcome = state.outcomes.removeValue(forKey: ticket) { return .done(outcome) }
    let count = min(state.waiting.count, limit)
    guard !state.isRunning, state.waiting.first?.ticket == ticket, count == limit || count == state.begun else {
      return nil
    }
    let size = 1 << (Int.bitWidth - 1 - count.leadingZeroBitCount)
    let batch = Array(state.waiting.prefix(size))
    state.waiting.removeFirst(size)
    state.begun -= size
    state.isRunning = true
    return .run(batch)
  }
}
