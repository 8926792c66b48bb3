import Dispatch
import Synchronization

extension Array where Element: Sendable {
  /// Elements made several at a time, in their order; what is nil is left out.
  ///
  /// - Parameters:
  ///   - count: how many there may be.
  ///   - progress: told how many are made, from any thread.
  ///   - make: the element of a place, called on several threads.
  init(together count: Int, progress: @Sendable (Int) -> Void = { _ in }, _ make: @Sendable (Int) -> Element?) {
    let made = Mutex<(count: Int, elements: [Int: Element])>((0, [:]))
    DispatchQueue.concurrentPerform(iterations: count) { place in
      let element = make(place)
      progress(
        made.withLock { made in
          made.elements[place] = element
          made.count += 1
          return made.count
        })
    }
    let elements = made.withLock { $0.elements }
    self = (0..<count).compactMap { elements[$0] }
  }
}
