/// Which of the frames that arrive are begun, and when: the rules of every stream, on values. A camera's, a benchmark's
/// paced one and a simulated one drive the same; whose time it is, is theirs.
///
/// A frame that arrives is *skipped* where the governor's share leaves it out. Else it waits, and where more wait than
/// may, the oldest is *dropped*. Who is free takes the oldest that waits; one whose answer would come after the deadline
/// is *too late* and not begun, for the sake of a younger one. So of n arrivals
///
///     n = skipped + dropped + too late + abandoned + begun + waiting
///
/// after every call.
package struct FrameQueue<Payload> {
  package struct Frame {
    /// Arrivals before it, from the stream's beginning.
    package let number: Int
    /// Seconds on the caller's clock.
    package let arrival: Double
    package let payload: Payload
  }

  /// What became of the frames so far.
  package struct Tally: Sendable, Hashable {
    package var arrived = 0
    /// Not taken by the governor.
    package var skipped = 0
    /// Pushed out by newer ones.
    package var dropped = 0
    /// Not begun, for the deadline's sake.
    package var tooLate = 0
    /// Still waiting when the stream was given up.
    package var abandoned = 0
    package var begun = 0

    package init() {}
  }

  package private(set) var tally = Tally()
  /// How many may wait and which are taken; a queue that shrinks drops its oldest at once.
  package var setting: GovernorSetting {
    didSet {
      letGo = []
      makeRoom()
    }
  }
  /// What waited and was let go by the latest call. Whoever calls under a lock takes it along and releases it outside:
  /// the end of a payload is its owner's business, and may call back.
  private var letGo: [Payload] = []

  private let first: Int
  private let deadline: Double?
  private var waiting: [Frame] = []
  private var services = ServiceEstimate()

  /// - Parameters:
  ///   - first: the number of the first arrival, where a stream goes on that was interrupted.
  ///   - deadline: seconds from a frame's arrival in which its answer is of use; nil for any time.
  package init(setting: GovernorSetting = .init(), first: Int = 0, deadline: Double? = nil) {
    self.setting = setting
    self.first = first
    self.deadline = deadline
  }

  package var isEmpty: Bool { waiting.isEmpty }
  package var waitingCount: Int { waiting.count }

  /// Lets a frame in.
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

  /// Counts arrivals that are too many to be looked at one by one, and older than the next push, as dropped.
  package mutating func passOver(_ count: Int) {
    guard count > 0 else { return }
    tally.arrived += count
    tally.dropped += count
  }

  /// The frame to begin now, or nil where none waits that is worth it.
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

  /// Learns how long the plan of the present setting takes.
  package mutating func answered(in seconds: Double) { services.add(seconds, plan: setting.plan) }

  /// Whether an answer `seconds` after its frame's arrival is of no use any more.
  package func isLate(after seconds: Double) -> Bool { deadline.map { seconds > $0 } ?? false }

  /// Lets go of everything that waits.
  package mutating func abandon() {
    tally.abandoned += waiting.count
    letGo = waiting.map(\.payload)
    waiting.removeAll()
  }

  /// Hands out what the latest call let go.
  package mutating func takeLetGo() -> [Payload] {
    defer { letGo = [] }
    return letGo
  }

  /// Whether a frame of this age would be answered after the deadline, where a younger one would not. A plan that always
  /// takes longer than the deadline is still run, on frames that are not over it yet: its late answers say so, and
  /// nothing else could find out that it has become faster.
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

/// What a frame is expected to take with each plan: the median of its latest few, which one hiccup does not move.
struct ServiceEstimate: Sendable, Hashable {
  private static let kept = 5
  private var latest: [Int: [Double]] = [:]

  mutating func add(_ seconds: Double, plan: Int) {
    guard seconds.isFinite, seconds >= 0 else { return }
    latest[plan] = (latest[plan] ?? []).suffix(Self.kept - 1) + [seconds]
  }

  /// Seconds; nil before the first.
  func expected(plan: Int) -> Double? {
    latest[plan].map { $0.sorted()[($0.count - 1) / 2] }
  }
}
