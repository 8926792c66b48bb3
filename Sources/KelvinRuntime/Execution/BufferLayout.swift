import KelvinDevices
import KelvinGraph

/// The memory location of each boundary value of a schedule, on every device that holds it.
///
/// Devices that compute in host memory share one arena. A value that passes between the host and a device whose
/// memory the host can address is only in that device's arena, and is never copied. A loop-carried value has one
/// location on its home device for all iterations and for its result. States are in the memory of their
/// `StateMemory`, not in an arena.
struct BufferLayout: Sendable {
  struct Slot: Hashable, Sendable {
    /// `hostDomain` or a device id.
    let domain: String
    let offset: Int
    let byteCount: Int
    /// The index of the state whose memory it is; nil for arena memory.
    var state: Int?
  }

  static let hostDomain = "host"

  /// The byte counts of the arenas, by domain.
  let arenas: [String: Int]
  /// For each state of the graph, the domain of its memory.
  let stateDomains: [String]
  private let slots: [Location: Slot]
  private let domains: [String: String]
  private let memory: [ValueID]

  private struct Location: Hashable {
    let value: ValueID
    let domain: String
  }

  func slot(_ value: ValueID, on device: String) -> Slot {
    guard let slot = slots[Location(value: memory[value.index], domain: domains[device] ?? device)] else {
      preconditionFailure("value \(value.index) has no memory on \(device)")
    }
    return slot
  }

  /// - Parameters:
  ///   - placement: the device of each state's source, by the source's name.
  ///   - isHost: whether a device computes in host memory.
  ///   - isUnified: whether the host can address a device's buffers.
  init(
    _ flat: FlatGraph, _ schedule: Schedule, placement: [String: String], host: String, isHost: (String) -> Bool,
    isUnified: (String) -> Bool
  ) {
    let graph = flat.graph
    let steps = schedule.flatSteps
    let homes = flat.sources.map { placement[$0.name] ?? host }
    let devices = Set(schedule.segments.map(\.device) + [host] + homes).union(
      steps.flatMap { step in
        if case .transfer(let transfer) = step { return [transfer.from, transfer.to] }
        return []
      })
    let domains = Dictionary(uniqueKeysWithValues: devices.map { ($0, isHost($0) ? Self.hostDomain : $0) })
    self.domains = domains
    memory = flat.memory
    func domain(_ device: String) -> String { domains[device] ?? device }
    func root(_ value: ValueID) -> ValueID { flat.memory[value.index] }

    // A value shared with one unified device is in that device's arena; the host's location is an alias.
    var shared: [ValueID: String] = [:]
    for case .transfer(let transfer) in steps where shared[root(transfer.value)] == nil {
      let (from, to) = (domain(transfer.from), domain(transfer.to))
      if from == Self.hostDomain, to != Self.hostDomain, isUnified(to) { shared[root(transfer.value)] = to }
      if to == Self.hostDomain, from != Self.hostDomain, isUnified(from) { shared[root(transfer.value)] = from }
    }
    func location(_ value: ValueID, _ device: String) -> Location {
      let domain = domain(device)
      let value = root(value)
      return Location(value: value, domain: domain == Self.hostDomain ? shared[value] ?? domain : domain)
    }

    let lifetimes = Self.lifetimes(schedule, graph, host: host, isHost: isHost, location: location)
    let last = steps.count + 1
    var slots: [Location: Slot] = [:]
    var stateDomains: [String] = []
    for (index, source) in flat.sources.enumerated() {
      let place = location(source.value, homes[index])
      stateDomains.append(place.domain)
      slots[place] = Slot(
        domain: place.domain, offset: 0, byteCount: graph[source.value].type.byteCount, state: index)
    }
    var arenas: [String: Int] = [:]
    for (domain, members) in Dictionary(grouping: lifetimes.keys.filter { slots[$0] == nil }, by: \.domain) {
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
    self.stateDomains = stateDomains
    self.slots = slots
  }

  /// Returns, for every location, the steps between which its contents are needed. Step 0 writes the inputs. The
  /// schedule's steps are numbered from 1, control flow before the steps inside it, and the step after the last one
  /// reads the outputs.
  private static func lifetimes(
    _ schedule: Schedule, _ graph: Graph, host: String, isHost: (String) -> Bool,
    location: (ValueID, String) -> Location
  ) -> [Location: ClosedRange<Int>] {
    var ranges: [Location: ClosedRange<Int>] = [:]
    /// The locations in the order in which steps inside loops use them.
    var used: [Location] = []
    var loopDepth = 0
    func touch(_ value: ValueID, _ device: String, _ steps: ClosedRange<Int>) {
      guard graph[value].weight == nil else { return }
      let location = location(value, device)
      if loopDepth > 0 { used.append(location) }
      if let known = ranges[location] {
        ranges[location] = min(known.lowerBound, steps.lowerBound)...max(known.upperBound, steps.upperBound)
      } else {
        ranges[location] = steps
      }
    }
    let last = schedule.flatSteps.count + 1

    /// - Parameters:
    ///   - first: the number of the first step.
    ///   - end: the step by which all submissions are known to have finished.
    func walk(_ steps: [Schedule.Step], from first: Int, end: Int) {
      let finishes = Self.finishes(steps, from: first, end: end, schedule, isHost)
      var number = first
      for (index, step) in steps.enumerated() {
        let now = number
        number += step.count
        switch step {
        case .transfer(let transfer):
          touch(transfer.value, transfer.from, now...now)
          touch(transfer.value, transfer.to, now...now)
        case .run(let segmentNumber):
          let segment = schedule.segments[segmentNumber]
          let done = finishes[index] ?? now
          for value in segment.inputs + segment.outputs { touch(value, segment.device, now...max(now, done)) }
        case .branch(let branch):
          touch(branch.condition, host, now...now)
          walk(branch.then.steps, from: now + 1, end: end)
          walk(branch.otherwise.steps, from: now + 1 + branch.then.count, end: end)
        case .loop(let loop):
          let finish = number - 1
          let mark = used.count
          loopDepth += 1
          touch(loop.limit, host, now...now)
          loop.condition.map { touch($0, host, now...now) }
          for value in [loop.iteration, loop.iterations] + loop.rows.map(\.accumulated) {
            touch(value, host, now...finish)
          }
          walk(loop.body.steps, from: now + 1, end: finish)
          for value in loop.rows.map(\.row) + [loop.nextCondition].compactMap({ $0 }) {
            touch(value, host, finish...finish)
          }
          loopDepth -= 1
          // A location in use before the loop and used inside is needed in every iteration.
          for place in used[mark...] {
            guard let range = ranges[place], range.lowerBound < now else { continue }
            ranges[place] = range.lowerBound...max(range.upperBound, finish)
          }
          if loopDepth == 0 { used = [] }
        }
      }
    }
    for input in graph.inputs { touch(input, host, 0...0) }
    walk(schedule.steps, from: 1, end: last)
    for output in graph.outputs { touch(output, host, last...last) }
    return ranges
  }

  /// Returns, by index, the step at which the host knows that a segment on an asynchronous device has finished: the
  /// first copy of one of its outputs from that device.
  private static func finishes(
    _ steps: [Schedule.Step], from first: Int, end: Int, _ schedule: Schedule, _ isHost: (String) -> Bool
  ) -> [Int: Int] {
    var finishes: [Int: Int] = [:]
    var copied: [Location: Int] = [:]
    var number = steps.reduce(first) { $0 + $1.count }
    for (index, step) in steps.enumerated().reversed() {
      number -= step.count
      switch step {
      case .branch, .loop: break
      case .transfer(let transfer): copied[Location(value: transfer.value, domain: transfer.from)] = number
      case .run(let segmentNumber):
        let segment = schedule.segments[segmentNumber]
        guard !isHost(segment.device) else { continue }
        finishes[index] = segment.outputs.reduce(end) {
          min($0, copied[Location(value: $1, domain: segment.device)] ?? end)
        }
      }
    }
    return finishes
  }
}
