/// Frames that arrive by the clock: number n at n/rate seconds, the first at once.
package struct PacedArrivals: Sendable, Hashable {
  /// Arrivals that are looked at one by one after a long silence; those before are passed over at once.
  private static let farthest = 1 << 20

  private let rate: Double
  private let count: Int
  private var next = 0

  /// - Parameters:
  ///   - rate: arrivals a second, above 0.
  ///   - count: of all arrivals; nil for a stream without end.
  package init(rate: Double, count: Int? = nil) {
    self.rate = rate
    self.count = count ?? .max
  }

  /// When the next one arrives; nil where all have.
  package var due: Double? { next < count ? Double(next) / rate : nil }

  /// Lets in those that have arrived by `now`.
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

  /// How many n there are with n/rate ≤ now, whatever rounding does to now · rate.
  private func arrivals(by now: Double) -> Int {
    guard now >= 0 else { return 0 }
    let guess = Int(min((now * rate).rounded(.down), 1e15))
    if Double(guess) / rate > now { return guess }
    return Double(guess + 1) / rate <= now ? guess + 2 : guess + 1
  }
}
