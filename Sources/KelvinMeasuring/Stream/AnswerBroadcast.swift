import Synchronization

/// Delivers elements to any number of readers. Each reader begins with the latest elements, at most `limit`, and gets
/// every later one, unless it falls behind by more than `limit`.
final class AnswerBroadcast<Element: Sendable>: Sendable {
  private typealias Continuation = AsyncThrowingStream<Element, any Error>.Continuation

  private struct State {
    var latest: [Element] = []
    /// Elements that were dropped from `latest` before the first reader came.
    var unread = 0
    var hadReader = false
    var nextReader = 0
    var readers: [Int: Continuation] = [:]
    var end: Result<Void, any Error>?
  }

  private let limit: Int
  private let state = Mutex(State())
  /// Called when the last reader has gone before the end.
  private let abandoned: @Sendable () -> Void

  init(limit: Int, abandoned: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.abandoned = abandoned
  }

  /// The number of elements that a reader never got.
  var unread: Int { state.withLock { $0.unread } }

  func yield(_ element: Element) {
    let readers = state.withLock { state in
      guard state.end == nil else { return [Continuation]() }
      state.latest.append(element)
      if state.latest.count > limit {
        state.latest.removeFirst()
        if !state.hadReader { state.unread += 1 }
      }
      return Array(state.readers.values)
    }
    var dropped = 0
    for reader in readers {
      if case .dropped = reader.yield(element) { dropped += 1 }
    }
    if dropped > 0 { state.withLock { $0.unread += dropped } }
  }

  /// Ends all readers after the elements that they have been given. Only the first call counts.
  func finish(_ error: (any Error)?) {
    let readers = state.withLock { state in
      guard state.end == nil else { return [Continuation]() }
      state.end = error.map { .failure($0) } ?? .success(())
      defer { state.readers = [:] }
      return Array(state.readers.values)
    }
    for reader in readers { reader.finish(throwing: error) }
  }

  /// Adds a reader.
  func reader() -> AsyncThrowingStream<Element, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: Element.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(limit))
    let (number, end) = state.withLock { state in
      state.hadReader = true
      state.nextReader += 1
      if state.end == nil { state.readers[state.nextReader] = continuation }
      // Given under the lock, so that no later element comes first.
      for element in state.latest { continuation.yield(element) }
      return (state.nextReader, state.end)
    }
    switch end {
    case .success: continuation.finish()
    case .failure(let error): continuation.finish(throwing: error)
    case nil: continuation.onTermination = { [weak self] _ in self?.remove(number) }
    }
    return stream
  }

  private func remove(_ number: Int) {
    let isAbandoned = state.withLock { state in
      guard state.readers.removeValue(forKey: number) != nil else { return false }
      return state.readers.isEmpty && state.end == nil
    }
    if isAbandoned { abandoned() }
  }
}

/// The answers of a stream, for any number of readers.
struct AnswerSequence<Element: Sendable>: AsyncSequence, Sendable {
  typealias Failure = any Error
  let broadcast: AnswerBroadcast<Element>

  func makeAsyncIterator() -> AsyncThrowingStream<Element, any Error>.Iterator {
    broadcast.reader().makeAsyncIterator()
  }
}
