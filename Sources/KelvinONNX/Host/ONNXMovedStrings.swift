import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// The nodes of a model with strings, each assigned to a graph or to host operations.
///
/// A node that only moves strings moves their indices in a string table instead (`StringIndices`). Indices are numbers,
/// so the node becomes a node of a graph like any other, in sub-graphs too.
///
/// There is a table for each level. The level of a value is the number of host operations before it. Indices remain
/// valid from table to table.
struct ONNXMovedStrings {
  /// A node that replaces a node of the file, or is added to the nodes.
  struct Item {
    var node: ONNXNode
    /// The host operations; nil for a node that a graph computes.
    var steps: [any HostOperation]?
    fileprivate var level: Int
  }

  /// The items in topological order.
  private(set) var items: [Item] = []
  /// The indices of constant strings, by the slots that hold them.
  private(set) var initializers: [String: ONNXTensor] = [:]
  /// The slots of indices that are sequences or optional values.
  private(set) var listNames: Set<String> = []

  private let parts: ONNXParts
  /// The level at which each value is available; 0 for inputs and constants.
  private var levels: [String: Int] = [:]
  private var constants: [String: StringTensor] = [:]
  /// The names of values that are not tensors, except sequences of strings.
  private var hostNames: Set<String> = []
  private var maps: Set<String> = []
  /// The levels at which strings are moved, by name.
  private var moved: [String: Int] = [:]
  /// The names of the strings that need indices.
  private var placed: Set<String> = []
  /// The names of the strings that need indices, by level.
  private var sources: [Int: [String]] = [:]
  /// The names of the constants that have slots.
  private var given: Set<String> = []
  /// The names of the moved strings that are read as strings.
  private var readBack: Set<String> = []
  /// By name of moved strings, the last level that they may come from. All levels that they may come from are joined.
  private var origins: [String: Int] = [:]
  /// The last levels that the inputs of the current node may come from.
  private var read: Set<Int> = []
  /// Joined levels, each mapped to another level of the same set.
  private var together: [Int: Int] = [:]
  /// The constant strings that have indices.
  private var known = [""]
  /// The indices of constant strings by their UTF-8 bytes: Swift's equality ignores differences in Unicode
  /// normalization.
  private var knownPlaces: [[UInt8]: Int] = [[]: 0]
  /// The order of the tables, which depends on whether strings are compared by their indices.
  private var order = StringIndices.Order.given
  private var missing = MissingOperations()

  /// Assigns the nodes of a model.
  ///
  /// - Throws: `FormatError`, which lists unsupported operators on values other than tensors.
  init(_ parts: ONNXParts) throws(FormatError) {
    self.parts = parts
    let graph = parts.model.graph
    for (name, tensor) in graph.initializers { constants[name] = try tensor.strings() }
    for node in graph.nodes {
      if let constant = try node.constantStrings(), let name = node.outputs.first { constants[name] = constant }
    }
    hostNames = Set(constants.keys)
    for feature in parts.features.inputs where feature.type.isHostKind {
      hostNames.insert(feature.name)
      if case .dictionary = feature.type { maps.insert(feature.name) }
      if case .dictionaries = feature.type { maps.insert(feature.name) }
    }
    for node in graph.nodes { try add(node) }
    for output in graph.outputs where moved[output.name] != nil { readBack.insert(output.name) }
    for output in graph.outputs { give(output.name) }
    guard missing.list.isEmpty else { throw .missing(missing.list, file: parts.file) }
    if !moved.isEmpty || !sources.isEmpty { addSteps() }
  }

  private func slot(_ name: String) -> String { "\(name)\(parts.model.mark)places" }

  private mutating func add(_ node: ONNXNode) throws(FormatError) {
    var reads = node.inputs
    if node.hasGraphs { reads = try node.staged().uses.map(\.name) }
    let level = reads.map { levels[$0] ?? 0 }.max() ?? 0
    if node.qualifiedKind == "Unique", let input = node.inputs.first, isString(input) {
      return addUnique(node, level)
    }
    let isMoved = node.inputs.contains { moved[$0] != nil } && ONNXNode.movesStrings[node.qualifiedKind] != nil
    if !isMoved, let outputs = try hostOutputsOfSlots(node) {
      readBack.formUnion(outputs.flatMap(\.step.inputs).filter { moved[$0] != nil })
      for name in outputs.flatMap(\.step.inputs) { give(name) }
      items.append(Item(node: node, steps: outputs.map(\.step), level: level))
      for name in outputs.flatMap(\.step.outputs) { levels[name] = level + 1 }
      hostNames.formUnion(outputs.flatMap(\.hostValues))
      if node.qualifiedKind == "ai.onnx.ml.ZipMap" { maps.formUnion(node.outputs) }
      return
    }
    for name in node.outputs { levels[name] = level }
    read = []
    guard let (other, strings) = try moving(node, []) else {
      if let name = node.inputs.first(where: { hostNames.contains($0) || moved[$0] != nil }) {
        missing.add("\(node.qualifiedKind) of a value that is not a tensor ('\(name)')", at: node.name)
      }
      return items.append(Item(node: node, steps: nil, level: level))
    }
    join(read)
    var placed = other
    for index in strings where !placed.outputs[index].isEmpty {
      let name = placed.outputs[index]
      placed.outputs[index] = slot(name)
      moved[name] = level
      origins[name] = read.max()
      if parts.model.listNames.contains(name) {
        listNames.insert(slot(name))
      } else {
        hostNames.insert(name)
      }
    }
    items.append(Item(node: placed, steps: nil, level: level))
  }

  /// Returns the host operations of a node that a graph does not compute. The mapper's view of the node must not
  /// outlive the call: a further reference to the sets of names would make later insertions copy them.
  private func hostOutputs(_ node: ONNXNode) throws(FormatError) -> [ONNXHostMapper.Output]? {
    guard let mapper = ONNXHostMapper.byName[node.qualifiedKind] else { return nil }
    return try mapper.map(
      ONNXHostNode(
        node: node, file: parts.file, hostNames: hostNames, strings: constants,
        initializers: parts.model.graph.initializers, lowPrecisionTypes: parts.model.lowPrecisionTypes,
        mark: parts.model.mark,
        files: parts.files))
  }

  /// Returns the host operations of a node; they read numeric constants from slots, which a graph fills.
  private mutating func hostOutputsOfSlots(_ node: ONNXNode) throws(FormatError) -> [ONNXHostMapper.Output]? {
    guard let outputs = try hostOutputs(node) else { return nil }
    let read = Set(outputs.flatMap(\.step.inputs)).filter { constants[$0] == nil }
      .intersection(parts.model.graph.initializers.keys)
    guard !read.isEmpty else { return outputs }
    var other = node
    for (index, name) in node.inputs.enumerated() where read.contains(name) {
      other.inputs[index] = "\(name)\(parts.model.mark)given"
      guard given.insert(name).inserted else { continue }
      let copy = ONNXNode(kind: "Identity", inputs: [name], outputs: [other.inputs[index]], at: node)
      items.append(Item(node: copy, steps: nil, level: 0))
    }
    return try hostOutputs(other)
  }

  /// Adds an operation that returns the distinct strings as indices in a sorted table of their own.
  private mutating func addUnique(_ node: ONNXNode, _ level: Int) {
    let input = node.inputs[0]
    if moved[input] != nil { readBack.insert(input) }
    let name = "\(node.name)\(parts.model.mark)\(items.count)"
    let (list, places) = ("\(name).list", "\(name).ranks")
    let source: HostOperand<StringTensor> = constants[input].map { .constant($0) } ?? .slot(input)
    let sorted = StringIndices(
      behind: .none, of: [source], order: .sorted, list: list, end: "\(name).end", places: [places])
    append([sorted], level)
    var ranked = node
    ranked.inputs[0] = places
    for name in node.outputs { levels[name] = level }
    guard let output = node.outputs.first, !output.isEmpty else {
      return items.append(Item(node: ranked, steps: nil, level: level))
    }
    ranked.outputs[0] = slot(output)
    items.append(Item(node: ranked, steps: nil, level: level))
    append([StringsAtIndices(of: .none, and: [.list(list, start: nil)], at: slot(output), output: output)], level)
    levels[output] = level + 1
    hostNames.insert(output)
  }

  /// Puts constant strings into their slot when a node first reads them.
  private mutating func give(_ name: String) {
    guard let strings = constants[name], given.insert(name).inserted else { return }
    append([StringReshape(.kept, input: .constant(strings), output: name)], 0)
  }

  private mutating func append(_ steps: [any HostOperation], _ level: Int) {
    items.append(Item(standing: steps, level))
  }

  /// Returns the representative of the levels that are joined with a level.
  private func first(_ level: Int) -> Int {
    var level = level
    while let other = together[level] { level = other }
    return level
  }

  private mutating func join(_ levels: Set<Int>) {
    let firsts = Set(levels.map(first))
    guard let least = firsts.min() else { return }
    for other in firsts where other != least { together[other] = least }
  }

  /// Inserts the host operations that compute indices, and those that read strings back, between the nodes.
  private mutating func addSteps() {
    let known = KnownStrings(known)
    var pieces: [Int: StringPiece] = [:]
    var start: String?
    var ordered: [Item] = []
    let readBack = Dictionary(uniqueKeysWithValues: readBack.map { (slot($0), $0) })
    let levels = Dictionary(grouping: items, by: \.level)
    /// By joined or compared levels, the slot of the table with all strings so far.
    var tables: [Int: String] = [:]
    let levelCounts = sources.keys.reduce(into: [:]) { $0[first($1), default: 0] += 1 }
    for level in Set(levels.keys).union(sources.keys).sorted() {
      if let names = sources[level] {
        let name = "\(parts.model.mark)\(level)"
        let group = first(level)
        let step = StringIndices(
          behind: known, from: start, after: tables[group], of: names.map { .slot($0) },
          order: levelCounts[group, default: 1] > 1 ? .distinct : order, list: "\(name).strings", end: "\(name).end",
          places: names.map(slot))
        ordered.append(Item(standing: [step], level))
        pieces[level] = step.piece
        if step.order == .distinct { tables[group] = step.list }
        start = step.end
      }
      for item in levels[level] ?? [] {
        ordered.append(item)
        guard item.steps == nil else { continue }
        let names = item.node.outputs.compactMap { readBack[$0] }
        guard !names.isEmpty else { continue }
        let steps = names.map { name in
          let origin = origins[name]
          let piece = origin.flatMap { tables[first($0)].map { .table($0) } ?? pieces[$0] }
          return StringsAtIndices(of: known, and: piece.map { [$0] } ?? [], at: slot(name), output: name)
        }
        ordered.append(Item(standing: steps, level))
      }
    }
    items = ordered
  }
}

extension ONNXMovedStrings.Item {
  /// Creates an item of host operations without a node in the file.
  fileprivate init(standing steps: [any HostOperation], _ level: Int) {
    self.init(
      node: ONNXNode(kind: "", inputs: [], outputs: steps.flatMap(\.outputs), index: 0), steps: steps, level: level)
  }
}

extension ONNXMovedStrings {
  /// The names of a sub-graph's values: all of them, and those of strings.
  fileprivate struct Names {
    var all: Set<String> = []
    var strings: Set<String> = []
  }

  private func isString(_ name: String) -> Bool {
    hostNames.contains(name) && !maps.contains(name) || moved[name] != nil
  }

  /// Returns the name of a string's indices, or nil if the name is not that of a string. In a sub-graph the indices
  /// have the name of the string.
  private mutating func place(_ name: String, _ scopes: [Names]) throws(FormatError) -> String? {
    for scope in scopes.reversed() where scope.all.contains(name) { return scope.strings.contains(name) ? name : nil }
    guard isString(name) else { return nil }
    let slot = slot(name)
    if let constant = constants[name] {
      if initializers[slot] == nil { initializers[slot] = places(of: constant, named: slot) }
    } else if moved[name] == nil {
      let level = levels[name] ?? 0
      if placed.insert(name).inserted { sources[level, default: []].append(name) }
      read.insert(level)
    } else {
      if let origin = origins[name] { read.insert(origin) }
    }
    return slot
  }

  /// Returns the indices of constant strings, which are the same in all tables.
  private mutating func places(of strings: StringTensor, named name: String) -> ONNXTensor {
    let places = strings.strings.map { string in
      let bytes = Array(string.utf8)
      if let place = knownPlaces[bytes] { return place }
      known.append(string)
      knownPlaces[bytes] = known.count - 1
      return known.count - 1
    }
    return ONNXTensor(named: name, integers: places, strings.shape.dimensions, file: parts.file)
  }

  /// Returns a node that moves indices in place of strings, and its outputs that hold strings; nil if the node does not
  /// use strings.
  private mutating func moving(
    _ node: ONNXNode, _ scopes: [Names]
  ) throws(FormatError) -> (node: ONNXNode, strings: [Int])? {
    var node = node
    let kind = node.qualifiedKind
    switch kind {
    case "If": return try movingBranch(node, scopes)
    case "Loop", "Scan", "SequenceMap": return try movingLoop(node, scopes)
    case "Constant" where !scopes.isEmpty:
      guard let strings = try node.constantStrings() else { return nil }
      node.attributes = ["value": ONNXAttribute(tensor: places(of: strings, named: node.outputs.first ?? ""))]
      return (node, Array(node.outputs.indices.prefix(1)))
    case "SequenceEmpty" where node.attributes["dtype"]?.integer == ONNXSchema.TensorProto.DataType.string:
      node.attributes["dtype"]?.integer = ONNXSchema.TensorProto.DataType.int64
      return (node, Array(node.outputs.indices.prefix(1)))
    default: break
    }
    let strings = node.inputs.indices.filter { peek(node.inputs[$0], scopes) }
    guard !strings.isEmpty else { return nil }
    guard let moves = ONNXNode.movesStrings[kind], moves.takes(node), moves.operands(node).isSuperset(of: strings)
    else {
      guard !scopes.isEmpty else { return nil }
      // No operator has this name, so that a sub-graph that runs is refused with it.
      node.kind += " of strings in a sub-graph"
      for index in strings { node.inputs[index] = try place(node.inputs[index], scopes) ?? node.inputs[index] }
      return (node, [])
    }
    if let number = moves.operands(node).sorted().first(where: { !strings.contains($0) && !node.inputs[$0].isEmpty }) {
      throw FormatError(
        .malformed, file: parts.file, place: "\(node.kind) '\(node.name)'", offset: node.offset,
        "'\(node.inputs[number])' is a tensor of numbers, mixed with strings")
    }
    for index in strings { node.inputs[index] = try place(node.inputs[index], scopes) ?? node.inputs[index] }
    if moves.compares { order = .distinct }
    return (node, moves.givesStrings ? Array(node.outputs.indices) : [])
  }

  /// Whether a name is that of a string; does not request indices for it.
  private func peek(_ name: String, _ scopes: [Names]) -> Bool {
    for scope in scopes.reversed() where scope.all.contains(name) { return scope.strings.contains(name) }
    return isString(name)
  }

  private mutating func movingBranch(
    _ node: ONNXNode, _ scopes: [Names]
  ) throws(FormatError) -> (node: ONNXNode, strings: [Int])? {
    var node = node
    var strings: Set<Int> = []
    var isChanged = false
    for key in ["then_branch", "else_branch"] {
      guard let graph = try node.attributes[key]?.subgraphs().first, let side = try inside(graph, [], scopes) else {
        continue
      }
      node.attributes[key]?.rewritten = side.graph
      strings.formUnion(side.strings)
      isChanged = true
    }
    return isChanged ? (node, strings.intersection(node.outputs.indices).sorted()) : nil
  }

  private mutating func movingLoop(
    _ node: ONNXNode, _ scopes: [Names]
  ) throws(FormatError) -> (node: ONNXNode, strings: [Int])? {
    guard let body = try node.attributes["body"]?.subgraphs().first else { return nil }
    var node = node
    var given: Set<Int> = []
    for (index, name) in node.inputs.enumerated() where peek(name, scopes) { given.insert(index) }
    guard let inner = try inside(body, given, scopes) else { return nil }
    for index in given.sorted() { node.inputs[index] = try place(node.inputs[index], scopes) ?? "" }
    node.attributes["body"]?.rewritten = inner.graph
    // The first output of a loop's body is its condition.
    let strings = inner.strings.map { node.qualifiedKind == "Loop" ? $0 - 1 : $0 }
    return (node, strings.filter(node.outputs.indices.contains))
  }

  /// Returns a sub-graph that moves indices in place of strings, and its outputs that hold strings; nil if it has none.
  ///
  /// - Parameter given: The sub-graph's inputs that hold strings.
  private mutating func inside(
    _ graph: ONNXGraph, _ given: Set<Int>, _ scopes: [Names]
  ) throws(FormatError) -> (graph: ONNXGraph, strings: [Int])? {
    guard scopes.count < StagedControlFlow.depthLimit else { return nil }
    var graph = graph
    var names = Names(all: Set(graph.inputs.map(\.name)).union(graph.initializers.keys))
    var isChanged = false
    for index in graph.inputs.indices where given.contains(index) || graph.inputs[index].isOfStrings {
      names.strings.insert(graph.inputs[index].name)
      graph.inputs[index].takePlaces()
    }
    for (name, tensor) in graph.initializers.sorted(by: { $0.key < $1.key }) {
      guard let strings = try tensor.strings() else { continue }
      graph.initializers[name] = places(of: strings, named: name)
      names.strings.insert(name)
    }
    for index in graph.nodes.indices {
      names.all.formUnion(graph.nodes[index].outputs)
      guard let (node, strings) = try moving(graph.nodes[index], scopes + [names]) else { continue }
      graph.nodes[index] = node
      isChanged = true
      names.strings.formUnion(strings.map { node.outputs[$0] })
    }
    var strings: [Int] = []
    for index in graph.outputs.indices {
      let place = try place(graph.outputs[index].name, scopes + [names])
      guard place != nil || graph.outputs[index].isOfStrings else { continue }
      graph.outputs[index].name = place ?? graph.outputs[index].name
      graph.outputs[index].takePlaces()
      strings.append(index)
    }
    return isChanged || !names.strings.isEmpty || !strings.isEmpty ? (graph, strings) : nil
  }
}

extension ONNXValueInfo {
  fileprivate var isOfStrings: Bool { elementType == ONNXSchema.TensorProto.DataType.string }

  /// Replaces the element type by that of indices.
  fileprivate mutating func takePlaces() {
    if isOfStrings { elementType = ONNXSchema.TensorProto.DataType.int64 }
  }
}
