package import KelvinGraph

/// The location of a weight: its name, and the regions of nodes around it.
package struct WeightLocation: Hashable, Sendable {
  /// For each region around the weight, outermost first, the node's name and the region's index.
  package var regions: [Region]
  package var name: String

  package struct Region: Hashable, Sendable {
    package var node: String
    package var index: Int

    package init(node: String, index: Int) {
      self.node = node
      self.index = index
    }
  }

  package init(regions: [Region] = [], name: String) {
    self.regions = regions
    self.name = name
  }
}

extension Graph {
  /// The used weights, including those in the regions of nodes.
  package var weights: [WeightLocation: Weight] {
    var weights: [WeightLocation: Weight] = [:]
    collect(&weights, inside: [])
    return weights
  }

  private func collect(_ weights: inout [WeightLocation: Weight], inside regions: [WeightLocation.Region]) {
    for id in usedWeights { weights[WeightLocation(regions: regions, name: self[id].name)] = self[id].weight }
    for node in nodes {
      for (index, region) in node.regions.enumerated() {
        region.graph.collect(&weights, inside: regions + [.init(node: node.name, index: index)])
      }
    }
  }

  /// Parses the graph that a dump describes.
  ///
  /// - Parameters:
  ///   - text: The output of `description`.
  ///   - weights: The weights by location, as `weights` returns them for the dumped graph.
  /// - Throws: `GraphError` that names a line that is invalid or whose weight is missing, or the rule that the graph
  ///   violates.
  package init(parsing text: String, weights: [WeightLocation: Weight]) throws(GraphError) {
    var parser = GraphParser(text, weights)
    self = try parser.graph(indent: 0, inside: [])
    try parser.expectEnd()
    try verify()
  }
}

/// A parser of dumps, line by line; regions are recognized by indentation.
private struct GraphParser {
  private let lines: [Substring]
  private var next = 0
  private let weights: [WeightLocation: Weight]

  init(_ text: String, _ weights: [WeightLocation: Weight]) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    self.weights = weights
  }

  /// Returns a scanner of the next line if it has the given indentation.
  private func scanner(indent: Int) -> TextScanner? {
    guard next < lines.count else { return nil }
    var scanner = TextScanner(lines[next], line: next + 1)
    return scanner.takeSpaces() == indent && !scanner.isAtEnd ? scanner : nil
  }

  func expectEnd() throws(GraphError) {
    for (index, line) in lines.enumerated().dropFirst(next) where !line.isEmpty {
      throw TextScanner(line, line: index + 1).error("nothing after the outputs")
    }
  }

  mutating func graph(indent: Int, inside regions: [WeightLocation.Region]) throws(GraphError) -> Graph {
    guard regions.count < 64 else { throw GraphError("line \(next + 1)", "regions are nested more than 64 deep") }
    var scope = GraphScope()
    // A state names its final value before a node computes it.
    var written: [(state: Int, name: String, scanner: TextScanner)] = []
    while var scanner = scanner(indent: indent) {
      next += 1
      if scanner.take("input ") {
        scope.graph.inputs.append(try scope.declare(&scanner))
      } else if scanner.take("state ") {
        let name = try scanner.text()
        try scanner.expect(": ")
        scope.graph.states.append(GraphState(name: name, read: try scope.declare(&scanner)))
        if scanner.take(" -> ") {
          try scanner.expect("%")
          written.append((scope.graph.states.count - 1, try scanner.text(), scanner))
        }
      } else if scanner.take("weight ") {
        let id = try scope.declare(&scanner)
        let value = scope.graph[id]
        guard let weight = weights[WeightLocation(regions: regions, name: value.name)], weight.type == value.type else {
          throw scanner.error(saying: "no weight '\(value.name)' of \(value.type) is given")
        }
        scope.graph[id].weight = weight
      } else if scanner.take("extent ") {
        scope.graph.extents.append(try scanner.extent())
      } else if scanner.take("output") {
        scope.graph.outputs = scanner.take(" ") ? try scanner.references(scope) : []
        try scanner.expectEnd()
        for (state, name, scanner) in written { scope.graph.states[state].written = try scope.find(name, scanner) }
        return scope.graph
      } else {
        scope.graph.nodes.append(try node(&scanner, &scope, indent: indent, inside: regions))
      }
      try scanner.expectEnd()
    }
    throw GraphError("line \(next + 1)", "expected a line indented by \(indent) spaces, up to the line of the outputs")
  }

  private mutating func node(
    _ scanner: inout TextScanner, _ scope: inout GraphScope, indent: Int, inside regions: [WeightLocation.Region]
  ) throws(GraphError) -> Node {
    var outputs = [try scope.declare(&scanner)]
    while scanner.take(", ") { outputs.append(try scope.declare(&scanner)) }
    try scanner.expect(" = ")
    let name = try scanner.name()
    var attributes: [Attribute] = []
    while scanner.take(" ") {
      let name = try scanner.name()
      try scanner.expect("=")
      attributes.append(Attribute(name, try scanner.attributeValue()))
    }
    try scanner.expect("(")
    let inputs = scanner.take(")") ? [] : try scanner.references(scope)
    if !inputs.isEmpty { try scanner.expect(")") }
    let op: any Operator
    do { op = try makeOperator(name, attributes) } catch { throw scanner.error(saying: error.description) }
    var node = Node(name: scope.graph[outputs[0]].name, op: op, inputs: inputs, outputs: outputs, origins: [])
    if scanner.take("  # ") {
      node.name = try scanner.text()
      if scanner.take(" from ") {
        repeat { node.origins.append(try scanner.origin()) } while scanner.take(" + ")
      }
    }
    while var header = self.scanner(indent: indent + 2) {
      next += 1
      var region = try header.region(of: node, in: scope.graph)
      try header.expectEnd()
      let place = WeightLocation.Region(node: node.name, index: node.regions.count)
      region.graph = try graph(indent: indent + 4, inside: regions + [place])
      node.regions.append(region)
    }
    return node
  }
}

/// The part of a graph that was parsed so far, with an index of its values.
private struct GraphScope {
  var graph = Graph()
  private var places: [String: ValueID] = [:]

  mutating func declare(_ scanner: inout TextScanner) throws(GraphError) -> ValueID {
    try scanner.expect("%")
    let name = try scanner.text()
    try scanner.expect(": ")
    let id = graph.addValue(Value(name: name, type: try scanner.type()))
    guard places.updateValue(id, forKey: name) == nil else {
      throw scanner.error(saying: "the value '\(name)' is defined twice")
    }
    return id
  }

  func find(_ name: String, _ scanner: TextScanner) throws(GraphError) -> ValueID {
    guard let id = places[name] else { throw scanner.error(saying: "no earlier value is called '\(name)'") }
    return id
  }
}

extension TextScanner {
  /// Parses one or more values.
  fileprivate mutating func references(_ scope: GraphScope) throws(GraphError) -> [ValueID] {
    var ids: [ValueID] = []
    repeat {
      try expect("%")
      ids.append(try scope.find(try text(), self))
    } while take(", ")
    return ids
  }

  /// Parses `layer(Conv, 3, 1024.0)`.
  fileprivate mutating func origin() throws(GraphError) -> Origin {
    let name = try text()
    try expect("(")
    let kind = try text()
    try expect(", ")
    let index = try integer()
    try expect(", ")
    let work = try double()
    try expect(")")
    return Origin(name: name, kind: kind, index: index, work: work)
  }

  /// Parses `0 axis 1 counted by 1`.
  fileprivate mutating func extent() throws(GraphError) -> OutputExtent {
    let output = try integer()
    try expect(" axis ")
    let axis = try integer()
    try expect(" counted by ")
    return OutputExtent(output: output, axis: axis, count: try integer())
  }

  /// Parses `then[1 %x, 2 %y]`, optionally followed by ` refused "why"`: a region without its graph.
  fileprivate mutating func region(of node: Node, in graph: Graph) throws(GraphError) -> Region {
    let word = try name()
    guard let role = Region.Role(rawValue: word) else {
      throw error(saying: "'\(word)' is not one of \(Region.Role.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    try expect("[")
    let captures = try list(until: "]") { scanner throws(GraphError) in
      let position = try scanner.integer()
      try scanner.expect(" %")
      let name = try scanner.text()
      guard node.inputs.indices.contains(position), graph[node.inputs[position]].name == name else {
        throw scanner.error(saying: "operand \(position) of '\(node.name)' is not '\(name)'")
      }
      return position
    }
    let refusal = take(" refused ") ? try quoted() : nil
    return Region(role: role, graph: Graph(), captures: captures, refusal: refusal)
  }
}
