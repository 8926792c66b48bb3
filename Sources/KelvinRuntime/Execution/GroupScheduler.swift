/// Chooses the next group of a block among those whose dependencies are complete. Groups that need not wait for an
/// asynchronous device come first. Within these, asynchronous devices come before the host, then the lower index
/// wins.
struct GroupScheduler {
  private let partition: Partition
  private let runsOnHost: [Bool]
  private var dependents: [[Int]]
  /// For each group, the number of dependencies that are not scheduled yet, and of asynchronous ones it would wait
  /// for.
  private var missing: [Int]
  private var waiting: [Int]
  private var isPending: [Bool]
  /// Heaps of ready groups by rank; a group is entered again when its rank changes.
  private var ready: [[Int]] = Array(repeating: [], count: 4)
  private var isTaken: [Bool]

  init(_ partition: Partition, runsOnHost: (Int) -> Bool) {
    self.partition = partition
    let groups = partition.members.indices
    self.runsOnHost = groups.map(runsOnHost)
    dependents = groups.map { _ in [] }
    missing = partition.dependencies.map(\.count)
    waiting = groups.map { _ in 0 }
    isPending = groups.map { _ in false }
    isTaken = isPending
    for group in groups {
      for dependency in partition.dependencies[group] { dependents[dependency].append(group) }
    }
    for group in groups where missing[group] == 0 { offer(group) }
  }

  private func rank(_ group: Int) -> Int { (waiting[group] > 0 ? 2 : 0) + (runsOnHost[group] ? 1 : 0) }

  private mutating func offer(_ group: Int) {
    let rank = rank(group)
    var place = ready[rank].count
    ready[rank].append(group)
    while place > 0, ready[rank][(place - 1) / 2] > group {
      ready[rank].swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private mutating func takeFirst(_ rank: Int) -> Int {
    let first = ready[rank][0]
    let last = ready[rank].removeLast()
    guard !ready[rank].isEmpty else { return first }
    ready[rank][0] = last
    var place = 0
    while true {
      let (left, right) = (2 * place + 1, 2 * place + 2)
      var least = place
      if left < ready[rank].count, ready[rank][left] < ready[rank][least] { least = left }
      if right < ready[rank].count, ready[rank][right] < ready[rank][least] { least = right }
      if least == place { return first }
      ready[rank].swapAt(place, least)
      place = least
    }
  }

  /// Takes the next group; nil if none is ready.
  mutating func next() -> Int? {
    for rank in ready.indices {
      while !ready[rank].isEmpty {
        let group = takeFirst(rank)
        guard !isTaken[group], self.rank(group) == rank else { continue }
        isTaken[group] = true
        return group
      }
    }
    return nil
  }

  /// Records that a group's steps have been written.
  ///
  /// - Parameter isPending: whether its device may still be executing.
  mutating func finished(_ group: Int, isPending: Bool) {
    self.isPending[group] = isPending
    for dependent in dependents[group] {
      if isPending, partition.devices[dependent] != partition.devices[group] { waiting[dependent] += 1 }
      missing[dependent] -= 1
      if missing[dependent] == 0 { offer(dependent) }
    }
  }

  /// Records that the host has waited for a group.
  mutating func waitedFor(_ group: Int) {
    guard isPending[group] else { return }
    isPending[group] = false
    for dependent in dependents[group] where partition.devices[dependent] != partition.devices[group] {
      waiting[dependent] -= 1
      if waiting[dependent] == 0, missing[dependent] == 0, !isTaken[dependent] { offer(dependent) }
    }
  }
}
