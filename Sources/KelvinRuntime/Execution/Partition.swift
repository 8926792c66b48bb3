/// Groups nodes into segments without cyclic dependencies between segments.
struct Partition {
  /// A node or control flow of a block.
  struct Item {
    let device: String
    /// The items that compute what it reads.
    let before: Set<Int>
    /// Whether it also depends on all items that are not last.
    let isLast: Bool
  }

  private(set) var members: [[Int]] = []
  private(set) var devices: [String] = []
  /// For each segment, the segments it reads from.
  private(set) var dependencies: [Set<Int>] = []
  /// For each segment, a count n such that it depends, directly or not, on the first n segments.
  private var dependencyPrefixes: [Int] = []
  private var open: [String: Int] = [:]

  init() {}

  /// - Parameters:
  ///   - order: all items, each after those that it depends on.
  ///   - starts: the items that start a segment.
  init(_ items: [Item], order: some Sequence<Int>, startingAt starts: Set<Int> = []) {
    var groups = Array(repeating: 0, count: items.count)
    var early: Int?
    for number in order {
      let item = items[number]
      if item.isLast, early == nil { early = members.count }
      groups[number] = append(
        number, item.device, after: Set(item.before.map { groups[$0] }), andFirst: early ?? 0,
        startsSegment: starts.contains(number))
    }
  }

  /// Adds the next item in topological order. It joins its device's current segment if that already depends on
  /// everything the item depends on, else it starts a new segment. A segment therefore never starts later because of
  /// a node that joins it, and independent work on other devices overlaps.
  ///
  /// - Parameters:
  ///   - count: the number of first segments that the item also depends on.
  ///   - startsSegment: whether the item joins no segment.
  /// - Returns: the segment.
  private mutating func append(
    _ item: Int, _ device: String, after before: Set<Int>, andFirst count: Int, startsSegment: Bool
  ) -> Int {
    if !startsSegment, let current = open[device], count <= dependencyPrefixes[current],
      before.allSatisfy({ $0 == current || reaches(from: current, $0) })
    {
      members[current].append(item)
      return current
    }
    open[device] = members.count
    members.append([item])
    devices.append(device)
    dependencies.append(before.union(0..<count))
    var known = before.reduce(count) { max($0, dependencyPrefixes[$1]) }
    while before.contains(known) { known += 1 }
    dependencyPrefixes.append(known)
    return members.count - 1
  }

  /// Whether `start` depends, directly or not, on `goal`. Segments depend only on earlier ones.
  private func reaches(from start: Int, _ goal: Int) -> Bool {
    guard goal < start else { return false }
    var visited: Set<Int> = [start]
    var stack = [start]
    while let next = stack.popLast() {
      if next == goal || goal < dependencyPrefixes[next] { return true }
      for dependency in dependencies[next] where dependency >= goal && visited.insert(dependency).inserted {
        stack.append(dependency)
      }
    }
    return false
  }
}
