import Dispatch
import Synchronization

extension Array where Element: Sendable {
  /// Creates elements concurrently and keeps their order; nil elements are left out.
  ///
  /// - Parameters:
  ///   - count: The number of calls of `make`.
  ///   - progress: Called with the number of finished elements, from any thread.
  ///   - make: Returns the element of an index; called on several threads.
  package init(together count: Int, progress: @Sendable (Int) -> Void = { _ in }, _ make: @Sendable (Int) -> Element?) {
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
