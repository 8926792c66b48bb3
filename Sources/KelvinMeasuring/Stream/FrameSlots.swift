import KelvinRuntime
import Synchronization

/// The places for waiting frames of a sender that waits. A frame has its place from its arrival until its prediction
/// begins, or it is dropped or left out.
final class FrameSlots: Sendable {
  /// A taken place. It is free again when its frame leaves it, at the latest when it is released.
  final class Place: Sendable {
    private let slots: FrameSlots
    private let isLeft = Atomic(false)

    fileprivate init(_ slots: FrameSlots) { self.slots = slots }

    func leave() {
      if !isLeft.exchange(true, ordering: .acquiringAndReleasing) { slots.free() }
    }

    deinit { leave() }
  }

  private struct State {
    var free: Int
    var isOver = false
  }

  private let state: ConditionLock<State>

  init(_ count: Int) { state = ConditionLock(State(free: count)) }

  /// Waits for a place. Blocks the calling thread.
  ///
  /// - Returns: nil when the stream is over, or the caller was cancelled.
  func take(_ cancellation: Cancellation? = nil) -> Place? {
    let isTaken = try? state.wait(cancellation) { state -> Bool? in
      if state.isOver { return false }
      guard state.free > 0 else { return nil }
      state.free -= 1
      return true
    }
    return isTaken == true ? Place(self) : nil
  }

  /// Ends all waits.
  func close() { state.withLock { $0.isOver = true } }

  private func free() { state.withLock { $0.free += 1 } }
}
