/// Decides which arriving frames are processed, and when. Cameras, paced benchmarks and simulations use the same rules
/// with their own clocks.
///
/// An arriving frame is *skipped* if the governor's share leaves it out. Otherwise it waits, and if more frames wait
/// than may, the oldest is *dropped*. A free worker takes the oldest waiting frame. A frame whose answer would come
/// after the deadline is *too late* and not begun, in favour of a younger one. So of n arrivals
///
///     n = skipped + dropped + too late + abandoned + begun + waiting
///
/// after every call.
package struct FrameQueue<Payload> {
  package struct Frame {
    /// The number of arrivals before it since the stream's beginning.
    package let number: Int
    /// Seconds on the caller's clock.
    package let arrival: Double
    package let payload: Payload
  }

  /// The counts of frames so far.
  package struct Tally: Sendable, Hashable {
    package var arrived = 0
    /// Frames not taken by the governor.
    package var skipped = 0
    /// Frames displaced by newer ones.
    package var dropped = 0
    /// Frames not begun because of the deadline.
    package var tooLate = 0
    /// Frames still waiting when the stream was abandoned.
    package var abandoned = 0
    package var begun = 0

    package init() {}
  }

  package private(set) var tally = Tally()
  /// The number of frames that may wait and the share that is taken; a queue that shrinks drops its oldest frames at
  /// once.
  package var setting: GovernorSetting {
    didSet {
      letGo = []
      makeRoom()
    }
  }
  /// The payloads that the latest call removed from the queue. A caller that holds a lock releases them outside of it,
  /// because the deinitialization of a payload may call back.
  private var letGo: [Payload] = []

  private let first: Int
  private let deadline: Double?
  private var waiting: [Frame] = []
  private var services = ServiceEstimate()

  /// - Parameters:
  ///   - first: the index of the first arrival, for a stream that continues after an interruption.
  ///   - deadline: the seconds from a frame's arrival within which its answer is useful; nil for no limit.
  package init(setting: GovernorSetting = .init(), first: Int = 0, deadline: Double? = nil) {
    self.setting = setting
    self.first = first
    self.deadline = deadline
  }

  package var isEmpty: Bool { waiting.isEmpty }
  package var waitingCount: Int { waiting.count }

  /// Adds an arriving frame.
  ///
  /// - Returns: whether it waits now.
  @discardableResult
  package mutating func push(_ payload: Payload, at arrival: Double) -> Bool {
    letGo = []
    let number = first + tally.arrived
    tally.arrived += 1
    guard setting.takes(arrival: number) else {
      tally.skipped += 1
      return false
    }
    waiting.append(Frame(number: number, arrival: arrival, payload: payload))
    makeRoom()
    return true
  }

  /// Counts arrivals as dropped without processing them one by one; they must be older than the next push.
  package mutating func passOver(_ count: Int) {
    guard count > 0 else { return }
    tally.arrived += count
    tally.dropped += count
  }

  /// Returns the frame to begin now; nil if no waiting frame meets the deadline.
  package mutating func take(at now: Double) -> Frame? {
    letGo = []
    while let frame = waiting.first {
      waiting.removeFirst()
      if isPast(now - frame.arrival) {
        tally.tooLate += 1
        letGo.append(frame.payload)
      } else {
        tally.begun += 1
        return frame
      }
    }
    return nil
  }

  /// Records the service time of the present setting's plan.
  package mutating func answered(in seconds: Double) { services.add(seconds, plan: setting.plan) }

  /// Whether an answer `seconds` after its frame's arrival misses the deadline.
  package func isLate(after seconds: Double) -> Bool { deadline.map { seconds > $0 } ?? false }

  /// Removes all waiting frames.
  package mutating func abandon() {
    tally.abandoned += waiting.count
    letGo = waiting.map(\.payload)
    waiting.removeAll()
  }

  /// Returns the payloads that the latest call removed.
  package mutating func takeRemovedPayloads() -> [Payload] {
    defer { letGo = [] }
    return letGo
  }

  /// Whether a frame of this age would miss the deadline although a younger one would not. A plan that always takes
  /// longer than the deadline still runs on frames that have not reached it: its late answers are reported, and
  /// otherwise a speed-up could not be detected.
  private func isPast(_ age: Double) -> Bool {
    guard let deadline else { return false }
    if age >= deadline { return true }
    guard let expected = services.expected(plan: setting.plan), expected <= deadline else { return false }
    return age + expected > deadline
  }

  private mutating func makeRoom() {
    let excess = waiting.count - max(1, setting.queue)
    guard excess > 0 else { return }
    letGo += waiting.prefix(excess).map(\.payload)
    waiting.removeFirst(excess)
    tally.dropped += excess
  }
}

extension FrameQueue: Sendable where Payload: Sendable {}
extension FrameQueue.Frame: Sendable where Payload: Sendable {}

/// The expected service time of each plan: the median of its latest few, which a single outlier does not change.
struct ServiceEstimate: Sendable, Hashable {
  private static let kept = 5
  private var latest: [Int: [Double]] = [:]

  mutating func add(_ seconds: Double, plan: Int) {
    guard seconds.isFinite, seconds >= 0 else { return }
    latest[plan] = (latest[plan] ?? []).suffix(Self.kept - 1) + [seconds]
  }

  /// Returns seconds; nil before the first.
  func expected(plan: Int) -> Double? {
    latest[plan].map { $0.sorted()[($0.count - 1) / 2] }
  }
}
