import KelvinImport

extension ONNXGraph {
  /// Returns a separator that makes generated names unique: a run of number signs longer than any in the names of the
  /// graph and its sub-graphs.
  func mark() throws(FormatError) -> String { String(repeating: "#", count: try longestRun(depth: 0) + 1) }

  private func longestRun(depth: Int) throws(FormatError) -> Int {
    var names = (inputs + outputs).map(\.name) + initializers.keys
    var longest = 0
    for node in nodes {
      names += [node.name] + node.outputs
      // Deeper sub-graphs are refused when they are emitted.
      guard depth < StagedControlFlow.depthLimit else { continue }
      for attribute in node.attributes.values {
        for graph in try attribute.subgraphs() { longest = max(longest, try graph.longestRun(depth: depth + 1)) }
      }
    }
    return names.reduce(longest) { max($0, $1.longestRun) }
  }
}

extension String {
  /// The length of the longest run of number signs.
  fileprivate var longestRun: Int {
    var (longest, run) = (0, 0)
    for byte in utf8 {
      run = byte == UInt8(ascii: "#") ? run + 1 : 0
      longest = max(longest, run)
    }
    return longest
  }
}
