/// A partition of operations, some of which run on the host, into as few graphs as their order allows.
package struct PartOrder {
  package struct Item {
    package var isHost: Bool
    package var reads: [String]
    package var writes: [String]

    package init(isHost: Bool, reads: [String], writes: [String]) {
      self.isHost = isHost
      self.reads = reads
      self.writes = writes
    }
  }

  /// A step of the execution: the operations of one graph, or host operations, by their indices in the list.
  package struct Group {
    package var isHost: Bool
    package var items: [Int]
  }

  package let groups: [Group]

  /// Creates the partition.
  ///
  /// A graph comes as late as the host operations that it depends on, and a host operation directly after the graph
  /// that it depends on.
  ///
  /// - Parameter items: The operations in topological order. A name may be written again; earlier readers refer to the
  ///   earlier value.
  package init(_ items: [Item]) {
    var levels: [Int] = []
    var writers: [String: Int] = [:]
    var readers: [String: [Int]] = [:]
    for (index, item) in items.enumerated() {
      var level = item.isHost ? 0 : 1
      let before = item.reads.compactMap { writers[$0] } + item.writes.compactMap { writers[$0] }
      for other in before + item.writes.flatMap({ readers[$0] ?? [] }) {
        level = max(level, levels[other] + (items[other].isHost && !item.isHost ? 1 : 0))
      }
      levels.append(level)
      for name in item.reads { readers[name, default: []].append(index) }
      for name in item.writes {
        writers[name] = index
        readers[name] = nil
      }
    }
    var groups: [Group] = []
    for level in 0...(levels.max() ?? 0) {
      for isHost in [false, true] {
        let members = items.indices.filter { levels[$0] == level && items[$0].isHost == isHost }
        if !members.isEmpty { groups.append(Group(isHost: isHost, items: members)) }
      }
    }
    self.groups = groups
  }
}

extension [String] {
  /// The distinct elements, in the order of their first occurrence.
  package var withoutRepetition: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
