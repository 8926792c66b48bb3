import KelvinImport

extension ONNXGraph {
  /// Returns nodes in an order in which each follows the nodes that it reads. Files have this order, except where a
  /// tool put a node after its readers, as converters to float16 do with the casts of inputs. Nodes in a cycle keep
  /// their order.
  static func ordered(_ nodes: [ONNXNode]) throws(FormatError) -> [ONNXNode] {
    var makers: [String: Int] = [:]
    for (index, node) in nodes.enumerated() {
      for output in node.outputs where !output.isEmpty { makers[output] = index }
    }
    let isOrdered = nodes.indices.allSatisfy { index in
      nodes[index].inputs.allSatisfy { name in makers[name].map { $0 < index } ?? true }
    }
    if isOrdered { return nodes }
    var reads: [[Int]] = []
    for node in nodes { reads.append(try node.staged().uses.compactMap { makers[$0.name] }) }
    var ordered: [ONNXNode] = []
    var (isBegun, isDone) = ([Bool](repeating: false, count: nodes.count), [Bool](repeating: false, count: nodes.count))
    for start in nodes.indices where !isBegun[start] {
      isBegun[start] = true
      // The nodes in progress, and the number of inputs that each has followed.
      var path = [(node: start, followed: 0)]
      while let (node, followed) = path.last {
        guard followed < reads[node].count else {
          ordered.append(nodes[node])
          isDone[node] = true
          path.removeLast()
          continue
        }
        path[path.count - 1].followed += 1
        let next = reads[node][followed]
        guard !isDone[next] else { continue }
        guard !isBegun[next] else { return nodes }
        isBegun[next] = true
        path.append((next, 0))
      }
    }
    return ordered
  }
}
