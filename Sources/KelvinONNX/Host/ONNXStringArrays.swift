import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ONNXHostMapper {
  /// Constant strings are read by their consumers.
  static let constant = ONNXHostMapper("Constant") { (node) throws(FormatError) in
    try node.node.constantStrings() == nil ? nil : []
  }

  /// Gathers strings on the host if the indices are host values or constants; otherwise a graph moves the indices of
  /// the strings.
  static let gather = ONNXHostMapper("Gather") { (node) throws(FormatError) in
    guard node.isHostValue(0) else { return nil }
    if let indices = node.initializers[try node.input(1)], try indices.dimensions().count != 1 { return nil }
    return [try node.gather(axis: node.integer("axis", default: 0), takesList: false)]
  }

  /// Picks columns of the last axis.
  static let arrayFeatureExtractor = ONNXHostMapper("ai.onnx.ml.ArrayFeatureExtractor") { (node) throws(FormatError) in
    guard node.isHostValue(0) else { return nil }
    return [try node.gather(axis: -1, takesList: true)]
  }

  /// Reshapes to constant sizes; for other sizes a graph moves the indices of the strings.
  static let reshape = ONNXHostMapper("Reshape") { (node) throws(FormatError) in
    guard node.isHostValue(0), node.isInitializer(1) else { return nil }
    let sizes = try node.integers(1, "shape")
    guard sizes.count <= Emitter.rankLimit, sizes.allSatisfy({ $0 >= -1 }) else {
      throw node.malformed("its shape is \(sizes.prefix(8))")
    }
    let copiesZeros = node.integer("allowzero", default: 0) == 0
    return [try node.changed(.sizes(sizes, copiesZeros: copiesZeros))]
  }

  static let flatten = ONNXHostMapper("Flatten") { (node) throws(FormatError) in
    guard node.isHostValue(0) else { return nil }
    return [try node.changed(.flattened(at: node.integer("axis", default: 1)))]
  }

  static let squeeze = ONNXHostMapper("Squeeze") { (node) throws(FormatError) in
    guard node.isHostValue(0), node.isInitializer(1) else { return nil }
    return [try node.changed(.removed(try node.axes()))]
  }

  static let unsqueeze = ONNXHostMapper("Unsqueeze") { (node) throws(FormatError) in
    guard node.isHostValue(0), node.isInitializer(1) else { return nil }
    guard let axes = try node.axes() else { throw node.malformed("it has no axes") }
    return [try node.changed(.inserted(axes))]
  }

  static let concat = ONNXHostMapper("Concat") { (node) throws(FormatError) in
    let names = node.node.inputs
    guard names.contains(where: node.hostNames.contains) else { return nil }
    if let number = names.first(where: { !node.hostNames.contains($0) }) {
      throw node.malformed("'\(number)' is a tensor of numbers, mixed with strings")
    }
    let parts = names.map { name in node.strings[name].map { HostOperand.constant($0) } ?? .slot(name) }
    let step = StringJoin(parts, axis: node.integer("axis", default: 0), output: try node.output())
    return [Output(step: step, isHostValue: true)]
  }

  static let identity = ONNXHostMapper("Identity") { (node) throws(FormatError) in
    guard node.isHostValue(0) else { return nil }
    return [try node.changed(.kept)]
  }
}

extension ONNXHostNode {
  /// Returns an input of strings: a constant, or the slot that holds them.
  func strings(_ index: Int) throws(FormatError) -> HostOperand<StringTensor> {
    let name = try input(index)
    return strings[name].map { .constant($0) } ?? .slot(name)
  }

  /// Whether an input is omitted or an initializer.
  fileprivate func isInitializer(_ index: Int) -> Bool {
    !node.inputs.indices.contains(index) || node.inputs[index].isEmpty || initializers[node.inputs[index]] != nil
  }

  fileprivate func changed(_ change: StringReshape.Change) throws(FormatError) -> ONNXHostMapper.Output {
    .init(step: StringReshape(change, input: try strings(0), output: try output()), isHostValue: true)
  }

  /// Returns the axes, an input from operator set 13 on and an attribute before.
  fileprivate func axes() throws(FormatError) -> [Int]? {
    if node.inputs.count > 1, !node.inputs[1].isEmpty { return try integers(1, "axes") }
    return node.attributes["axes"]?.integers
  }

  fileprivate func gather(axis: Int, takesList: Bool) throws(FormatError) -> ONNXHostMapper.Output {
    let (name, indices) = (try input(0), try input(1))
    var source = HostOperand<StringTensor>.slot(name)
    if var known = strings[name] {
      // A list counts as one row.
      if takesList, known.shape.rank == 1 { known = StringTensor(known.strings, [1, known.strings.count]) }
      source = .constant(known)
    }
    let places: HostOperand<[Int]> =
      initializers[indices] == nil ? .slot(indices) : .constant(try integers(1, "indices"))
    return .init(
      step: StringGather(source, at: places, axis: axis, takesList: takesList, output: try output()), isHostValue: true)
  }
}

extension ONNXNode {
  /// Returns the strings of a `Constant`, or nil if the node is another operator or holds another value.
  func constantStrings() throws(FormatError) -> StringTensor? {
    guard qualifiedKind == "Constant" else { return nil }
    if let list = attributes["value_strings"]?.strings { return StringTensor(list, [list.count]) }
    if let string = attributes["value_string"]?.text { return StringTensor([string], []) }
    return try attributes["value"]?.tensor?.strings()
  }
}
