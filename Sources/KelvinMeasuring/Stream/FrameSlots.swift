import Dispatch
import KelvinEngine
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

  /// Receives a place, or nil when the stream is over; returns whether it still waits.
  private typealias Waiter = @Sendable (Place?) -> Bool

  private struct State {
    var free: Int
    var isOver = false
    var waiting: [Waiter] = []
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(free: count)) }

  /// Waits for a place.
  ///
  /// - Returns: nil when the stream is over, or the task was cancelled.
  func take() async -> Place? {
    let once = Once<Place?>()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        once.wait(continuation)
        add { place in
          guard once.begin() else { return false }
          once.finish(place)
          return true
        }
      }
    } onCancel: {
      once.giveUp(nil)
    }
  }

  /// Waits for a place. Blocks the calling thread, which must not be one of `BlockingWork`: those free the places.
  ///
  /// - Returns: nil when the stream is over.
  func takeBlocking() -> Place? {
    let taken = Mutex<Place?>(nil)
    let isCalled = DispatchSemaphore(value: 0)
    add { place in
      taken.withLock { $0 = place }
      isCalled.signal()
      return true
    }
    isCalled.wait()
    return taken.withLock { $0 }
  }

  private func add(_ waiter: @escaping Waiter) {
    let isTaken = state.withLock { state -> Bool? in
      if state.isOver { return false }
      guard state.free > 0 else {
        state.waiting.append(waiter)
        return nil
      }
      state.free -= 1
      return true
    }
    // A place that its waiter no longer wants is free again when it is released.
    if let isTaken { _ = waiter(isTaken ? Place(self) : nil) }
  }

  /// Ends all waits.
  func close() {
    let waiting = state.withLock { state in
      state.isOver = true
      defer { state.waiting = [] }
      return state.waiting
    }
    waiting.forEach { _ = $0(nil) }
  }

  private func free() {
    let next = state.withLock { state -> Waiter? in
      guard !state.waiting.isEmpty else {
        state.free += 1
        return nil
      }
      return state.waiting.removeFirst()
    }
    if let next { _ = next(Place(self)) }
  }
}
