import KelvinRuntime
import Synchronization
import Testing

@Suite struct SpecializationCacheTests {
  private struct Failure: Error {}

  @Test func concurrentFirstUsesMakeAValueOnce() {
    let cache = SpecializationCache<Int, Int>(limit: 4)
    let made = Mutex(0)
    let asked = Mutex(0)
    let results = Mutex<[Int]>([])
    let threads = (0..<16).map { _ in
      BackgroundThread {
        asked.withLock { $0 += 1 }
        let value = try? cache.value(for: 7) {
          made.withLock { $0 += 1 }
          // Waits until all threads have asked, so that all but one find it under construction.
          while asked.withLock({ $0 }) < 16 {}
          return 49
        }
        results.withLock { $0.append(value ?? -1) }
      }
    }
    for thread in threads { thread.join() }
    #expect(made.withLock { $0 } == 1)
    #expect(results.withLock { $0 } == Array(repeating: 49, count: 16))
  }

  @Test func leastRecentlyUsedValueIsEvicted() throws {
    let cache = SpecializationCache<Int, Int>(limit: 3)
    var made: [Int] = []
    func use(_ key: Int) throws {
      _ = try cache.value(for: key) {
        made.append(key)
        return key
      }
    }
    for key in [1, 2, 3, 1, 4] { try use(key) }
    #expect(cache.count == 3)
    for key in [1, 3, 4] { try use(key) }
    #expect(made == [1, 2, 3, 4], "what was used lately is still there")
    try use(2)
    #expect(made == [1, 2, 3, 4, 2])
    for key in 0..<1000 { try use(key) }
    #expect(cache.count == 3)
  }

  @Test func evictedValuesAreFreedAfterUse() throws {
    final class Thing: Sendable {
      let alive: Alive
      init(_ alive: Alive) {
        self.alive = alive
        alive.count.withLock { $0 += 1 }
      }
      deinit { alive.count.withLock { $0 -= 1 } }
    }
    final class Alive: Sendable { let count = Mutex(0) }
    let alive = Alive()
    let cache = SpecializationCache<Int, Thing>(limit: 2)
    let held = try cache.value(for: 0) { Thing(alive) }
    for key in 1..<100 { _ = try cache.value(for: key) { Thing(alive) } }
    #expect(alive.count.withLock { $0 } == 3, "two kept, one in use")
    withExtendedLifetime(held) {}
  }

  @Test func failureIsNotCached() throws {
    let cache = SpecializationCache<Int, Int>(limit: 2)
    #expect(throws: Failure.self) { try cache.value(for: 1) { throw Failure() } }
    #expect(cache.count == 0)
    #expect(try cache.value(for: 1) { 5 } == 5)
  }

  @Test func waiterOfACancelledMakerMakesTheValue() throws {
    let cache = SpecializationCache<Int, Int>(limit: 2)
    let isMaking = Mutex(false)
    let mayFail = Mutex(false)
    let maker = BackgroundThread {
      _ = try? cache.value(for: 1) {
        isMaking.withLock { $0 = true }
        while !mayFail.withLock({ $0 }) {}
        throw RuntimeError.cancelled
      }
    }
    while !isMaking.withLock({ $0 }) {}
    let result = Mutex<Int?>(nil)
    let waiter = BackgroundThread {
      mayFail.withLock { $0 = true }
      let value = try? cache.value(for: 1) { 9 }
      result.withLock { $0 = value }
    }
    waiter.join()
    maker.join()
    #expect(result.withLock { $0 } == 9)
  }

  @Test func cancelledWaitEnds() throws {
    let cache = SpecializationCache<Int, Int>(limit: 2)
    let isMaking = Mutex(false)
    let mayEnd = Mutex(false)
    let maker = BackgroundThread {
      _ = try? cache.value(for: 1) {
        isMaking.withLock { $0 = true }
        while !mayEnd.withLock({ $0 }) {}
        return 1
      }
    }
    while !isMaking.withLock({ $0 }) {}
    let cancellation = Cancellation()
    let outcome = Mutex("")
    let waiter = BackgroundThread {
      do { _ = try cache.value(for: 1, cancellation) { 2 } } catch { outcome.withLock { $0 = "\(error)" } }
    }
    cancellation.cancel()
    waiter.join()
    #expect(outcome.withLock { $0 } == "cancelled")
    mayEnd.withLock { $0 = true }
    maker.join()
  }
}
