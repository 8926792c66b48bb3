import KelvinDevices
import KelvinGraph

/// Where each boundary value of a schedule lies, on every device that holds it.
///
/// Devices that compute in host memory share one arena. A value that passes between the host and a device whose memory
/// the host can address lies in that device's arena alone and is never copied.
struct BufferLayout: Sendable {
  struct Slot: Hashable, Sendable {
    /// `hostDomain` or a device id.
    let domain: String
    let offset: Int
    let byteCount: Int
  }

  static let hostDomain = "host"

  /// The arenas' sizes, by domain.
  let arenas: [String: Int]
  private let slots: [Location: Slot]
  private let domains: [String: String]

  private struct Location: Hashable {
    let value: ValueID
    let domain: String
  }

  func slot(_ value: ValueID, on device: String) -> Slot {
    guard let slot = slots[Location(value: value, domain: domains[device] ?? device)] else {
      preconditionFailure("value \(value.index) has no memory on \(device)")
    }
    return slot
  }

  /// - Parameters:
  ///   - isHost: whether a device computes in host memory.
  ///   - isUnified: whether the host can address a device's buffers.
  init(
    _ graph: Graph, _ schedule: Schedule, host: String, isHost: (String) -> Bool, isUnified: (String) -> Bool
  ) {
    let devices = Set(schedule.segments.map(\.device) + [host]).union(
      schedule.steps.flatMap { step in
        if case .transfer(let transfer) = step { return [transfer.from, transfer.to] }
        return []
      })
    let domains = Dictionary(uniqueKeysWithValues: devices.map { ($0, isHost($0) ? Self.hostDomain : $0) })
    self.domains = domains
    func domain(_ device: String) -> String { domains[device] ?? device }

    // A value shared with one unified device lives there; the host's place is an alias.
    var shared: [ValueID: String] = [:]
    for case .transfer(let transfer) in schedule.steps where shared[transfer.value] == nil {
      let (from, to) = (domain(transfer.from), domain(transfer.to))
      if from == Self.hostDomain, to != Self.hostDomain, isUnified(to) { shared[transfer.value] = to }
      if to == Self.hostDomain, from != Self.hostDomain, isUnified(from) { shared[transfer.value] = from }
    }
    func location(_ value: ValueID, _ device: String) -> Location {
      let domain = domain(device)
      return Location(value: value, domain: domain == Self.hostDomain ? shared[value] ?? domain : domain)
    }

    // Step 0 writes the inputs, steps 1… are the schedule's, the last one reads the outputs.
    let last = schedule.steps.count + 1
    var lifetimes: [Location: ClosedRange<Int>] = [:]
    func touch(_ location: Location, _ steps: ClosedRange<Int>) {
      if let known = lifetimes[location] {
        lifetimes[location] = min(known.lowerBound, steps.lowerBound)...max(known.upperBound, steps.upperBound)
      } else {
        lifetimes[location] = steps
      }
    }
    for input in graph.inputs { touch(location(input, host), 0...0) }
    for (index, step) in schedule.steps.enumerated() {
      let now = index + 1
      switch step {
      case .transfer(let transfer):
        touch(location(transfer.value, transfer.from), now...now)
        touch(location(transfer.value, transfer.to), now...now)
      case .run(let number):
        let segment = schedule.segments[number]
        let done = isHost(segment.device) ? now : Self.completion(of: number, at: index, schedule) + 1
        for value in segment.inputs + segment.outputs { touch(location(value, segment.device), now...max(now, done)) }
      }
    }
    for output in graph.outputs { touch(location(output, host), last...last) }

    var arenas: [String: Int] = [:]
    var slots: [Location: Slot] = [:]
    for (domain, members) in Dictionary(grouping: lifetimes.keys, by: \.domain) {
      let ordered = members.sorted { $0.value < $1.value }
      let plan = ArenaPlan(
        ordered.map {
          ArenaPlan.Lifetime(byteCount: max(graph[$0.value].type.byteCount, 1), steps: lifetimes[$0] ?? 0...last)
        })
      arenas[domain] = plan.byteCount
      for (place, offset) in zip(ordered, plan.offsets) {
        slots[place] = Slot(domain: domain, offset: offset, byteCount: graph[place.value].type.byteCount)
      }
    }
    for (value, domain) in shared {
      slots[Location(value: value, domain: Self.hostDomain)] = slots[Location(value: value, domain: domain)]
    }
    self.arenas = arenas
    self.slots = slots
  }

  /// The first step at which the host knows that a segment started at step `index` has finished: the first copy of one
  /// of its results, or the end.
  private static func completion(of number: Int, at index: Int, _ schedule: Schedule) -> Int {
    let segment = schedule.segments[number]
    for later in schedule.steps.indices where later > index {
      if case .transfer(let transfer) = schedule.steps[later], transfer.from == segment.device,
        segment.outputs.contains(transfer.value)
      {
        return later
      }
    }
    return schedule.steps.count
  }
}
