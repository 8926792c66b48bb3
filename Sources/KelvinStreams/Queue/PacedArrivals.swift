/// Frames that arrive at a fixed rate: frame n at n/rate seconds, the first at once.
package struct PacedArrivals: Sendable, Hashable {
  /// The most arrivals that are processed one by one after a long pause; older ones are skipped together.
  private static let farthest = 1 << 20

  private let rate: Double
  private let count: Int
  private var next = 0

  /// - Parameters:
  ///   - rate: arrivals per second, above 0.
  ///   - count: the number of all arrivals; nil for an endless stream.
  package init(rate: Double, count: Int? = nil) {
    self.rate = rate
    self.count = count ?? .max
  }

  /// The time of the next arrival; nil after the last.
  package var due: Double? { next < count ? Double(next) / rate : nil }

  /// Pushes the frames that have arrived by `now`.
  package mutating func admit(until now: Double, to queue: inout FrameQueue<Void>) {
    let arrived = min(count, arrivals(by: now))
    let excess = arrived - next - Self.farthest
    if excess > 0 {
      queue.passOver(excess)
      next += excess
    }
    while next < arrived {
      queue.push((), at: Double(next) / rate)
      next += 1
    }
  }

  /// Returns the number of n with n/rate ≤ now, independent of the rounding of now · rate.
  private func arrivals(by now: Double) -> Int {
    guard now >= 0 else { return 0 }
    let guess = Int(min((now * rate).rounded(.down), 1e15))
    if Double(guess) / rate > now { return guess }
    return Double(guess + 1) / rate <= now ? guess + 2 : guess + 1
  }
}
