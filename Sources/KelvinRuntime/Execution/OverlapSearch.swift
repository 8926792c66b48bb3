package import KelvinGraph

/// The costs of nodes, by which segments are cut so that devices work at the same time.
package struct OverlapCosts {
  /// Returns the seconds of a node on a device; nil if unknown.
  let seconds: (Node, Graph, _ device: String) -> Double?
  /// The resource of each device. Devices of one resource gain nothing from work at the same time.
  let resources: [String: String]
  /// The devices whose results the host reads only when all that was submitted has ended.
  let late: Set<String>

  package init(
    resources: [String: String], late: Set<String> = [], seconds: @escaping (Node, Graph, _ device: String) -> Double?
  ) {
    self.late = late
    self.resources = resources
    self.seconds = seconds
  }
}

/// Decides which segments end early, so that another device starts sooner.
///
/// A segment hands its values over when all of its nodes have run. Nodes that another device does not wait for delay it.
/// The search moves these nodes, and all that depend on them, behind the other items, into a segment of their own. It
/// keeps such a cut if the block then ends sooner, by a simulation of the executor.
struct OverlapSearch {
  struct Work {
    /// Items of one resource never run at the same time.
    let resource: String
    let runsOnHost: Bool
    /// Whether results are read only when all later work of the resource has ended too.
    var isReadLate = false
    let seconds: Double
  }

  private struct State {
    var order: [Int]
    var starts: Set<Int> = []
    var partition: Partition
    var seconds: Double
  }

  /// The gain that pays for one more submission, and for a boundary at which values are dense.
  private static let leastGain = 0.05
  /// The number of simulations.
  private static let tries = 64
  /// Blocks with more segments are left as they are.
  private static let mostSegments = 256

  private let items: [Partition.Item]
  private let work: [Work]
  private let first: State

  /// - Parameters:
  ///   - order: the items, each after those that it depends on.
  ///   - work: the work of each item.
  /// - Returns: nil if one resource does all the work, or if the block has too many segments.
  init?(_ items: [Partition.Item], _ order: [Int], _ work: [Work]) {
    guard Set(work.map(\.resource)).count > 1 else { return nil }
    let partition = Partition(items, order: order)
    guard partition.members.count <= Self.mostSegments else { return nil }
    (self.items, self.work) = (items, work)
    first = State(order: order, partition: partition, seconds: Self.seconds(partition, work))
  }

  /// Returns the segments after all cuts that pay.
  func best() -> Partition {
    var best = first
    var tries = Self.tries
    var hasGained = true
    while hasGained {
      hasGained = false
      for cut in cuts(best) where tries > 0 {
        tries -= 1
        let next = state(after: cut, best)
        guard next.seconds <= best.seconds * (1 - Self.leastGain) else { continue }
        (best, hasGained) = (next, true)
        break
      }
    }
    return best.partition
  }

  /// Returns, for each segment and each node of another device that waits for it, the nodes of the segment that need not
  /// run before, the longest first.
  private func cuts(_ state: State) -> [[Int]] {
    let partition = state.partition
    var groups = Array(repeating: 0, count: items.count)
    for (group, members) in partition.members.enumerated() { for item in members { groups[item] = group } }
    var cuts: [(items: [Int], seconds: Double)] = []
    for (reader, sources) in partition.dependencies.enumerated() where !isLast(reader, partition) {
      for source in sources.sorted() where partition.devices[source] != partition.devices[reader] {
        // The needs of the reader's nodes up to one of them.
        var needed: Set<Int> = []
        for item in partition.members[reader] {
          let reads = items[item].before.filter { groups[$0] == source && !needed.contains($0) }
          guard !reads.isEmpty else { continue }
          needed.formUnion(reads)
          for item in partition.members[source].reversed() where needed.contains(item) {
            needed.formUnion(items[item].before.filter { groups[$0] == source })
          }
          let cut = partition.members[source].filter { !needed.contains($0) }
          let seconds = cut.reduce(0) { $0 + work[$1].seconds }
          guard seconds > state.seconds * Self.leastGain else { break }
          cuts.append((cut, seconds))
        }
      }
    }
    return cuts.sorted { ($0.seconds, $1.items[0]) > ($1.seconds, $0.items[0]) }.map(\.items)
  }

  private func isLast(_ group: Int, _ partition: Partition) -> Bool { items[partition.members[group][0]].isLast }

  private func state(after cut: [Int], _ state: State) -> State {
    var isLater = Array(repeating: false, count: items.count)
    for item in cut { isLater[item] = true }
    for item in state.order where !isLater[item] { isLater[item] = items[item].before.contains { isLater[$0] } }
    let early = state.order.filter { !items[$0].isLast }
    let order =
      early.filter { !isLater[$0] } + early.filter { isLater[$0] } + state.order.filter { items[$0].isLast }
    let starts = state.starts.union([cut[0]])
    let partition = Partition(items, order: order, startingAt: starts)
    return State(order: order, starts: starts, partition: partition, seconds: Self.seconds(partition, work))
  }

  /// Simulates the executor: it starts segments in the order of `GroupScheduler`, computes those of the host itself, and
  /// waits for another device just before it uses a result. Copies are left out, since cuts do not change them.
  ///
  /// - Returns: the seconds until the last segment ends.
  static func seconds(_ partition: Partition, _ work: [Work]) -> Double {
    var turns = GroupScheduler(partition) { work[partition.members[$0][0]].runsOnHost }
    var host = 0.0
    var free: [String: Double] = [:]
    var ends = Array(repeating: 0.0, count: partition.members.count)
    while let group = turns.next() {
      for source in partition.dependencies[group] where partition.devices[source] != partition.devices[group] {
        let other = work[partition.members[source][0]]
        host = max(host, other.isReadLate ? free[other.resource] ?? 0 : ends[source])
        turns.waitedFor(source)
      }
      let own = work[partition.members[group][0]]
      let seconds = partition.members[group].reduce(0) { $0 + work[$1].seconds }
      ends[group] = max(host, free[own.resource] ?? 0) + seconds
      free[own.resource] = ends[group]
      if own.runsOnHost { host = ends[group] }
      turns.finished(group, isPending: !own.runsOnHost)
    }
    return ends.max() ?? 0
  }
}
