/// The canonical encoding that keys are derived from. It is equal for equal values and different for different ones,
/// and does not depend on the notation of dumps. A change of the encoding invalidates measurements and compiled results
/// under old keys.
extension AttributeValue {
  var canonical: String {
    var text = ""
    write(to: &text)
    return text
  }

  /// Appends the encoding of the value. Appending avoids the many intermediate strings that joining would create for a
  /// graph.
  fileprivate func write(to text: inout String) {
    switch self {
    case .boolean(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .float(let value): text += "f32:\(Self.hex(UInt64(value.bitPattern), digits: 8))"
    case .double(let value): text += "f64:\(Self.hex(value.bitPattern, digits: 16))"
    case .text(let value): text += Self.canonical(value)
    case .list(let values): Self.write(values, between: "[", "]", to: &text)
    case .call(let name, let values):
      text += Self.canonical(name)
      Self.write(values, between: "(", ")", to: &text)
    }
  }

  private static func write(
    _ values: [AttributeValue], between opening: String, _ closing: String, to text: inout String
  ) {
    text += opening
    for (index, value) in values.enumerated() {
      if index > 0 { text += "," }
      value.write(to: &text)
    }
    text += closing
  }

  /// Returns a plain name as it is, and any other string in quotes.
  static func canonical(_ text: String) -> String {
    if text.isPlainName, text != "true", text != "false" { return text }
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") }) else {
      return "\"\(text)\""
    }
    return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }

  static func hex(_ bits: UInt64, digits: Int) -> String {
    let text = String(bits, radix: 16)
    return String(repeating: "0", count: digits - text.count) + text
  }
}

extension String {
  /// Whether the string is an ASCII letter or underscore, followed by letters, underscores or digits.
  var isPlainName: Bool {
    guard let first = utf8.first, first.isNameStart else { return false }
    return utf8.allSatisfy(\.isNamePart)
  }
}

extension UInt8 {
  var isDigit: Bool { (0x30...0x39).contains(self) }
  var isNameStart: Bool { (0x61...0x7a).contains(self) || (0x41...0x5a).contains(self) || self == 0x5f }
  var isNamePart: Bool { isNameStart || isDigit }
}

extension Operator {
  /// The operator's name and its attributes.
  fileprivate var canonical: String { name + attributes.map { " \($0.name)=\($0.value.canonical)" }.joined() }
}

extension Node {
  /// Returns a key under which equal work is measured once: operator, attributes and types, without names.
  package func fingerprint(in graph: Graph) -> String {
    let operands = inputs.map { id in
      let type = graph[id].type
      let sizes = type.shape.dimensions.map { "\($0)" }.joined(separator: "x")
      return "\(graph[id].weight == nil ? "" : "const ")\(type.scalar.rawValue)[\(sizes)]"
    }
    return "\(op.canonical)(\(operands.joined(separator: ", ")))"
  }
}

extension Graph {
  /// The encoding of everything that a plan depends on: names, types and operators, including those of regions. It
  /// excludes the contents of weights and the origins of nodes.
  package var canonical: String { canonicalValue.canonical }

  private var canonicalValue: AttributeValue {
    func name(_ id: ValueID) -> AttributeValue { .text(self[id].name) }
    func typed(_ id: ValueID) -> AttributeValue { .list([name(id), self[id].type.attributeValue]) }
    let states = states.map { state in
      AttributeValue.list([.text(state.name), typed(state.read)] + (state.written.map { [name($0)] } ?? []))
    }
    let nodes = nodes.map { node in
      let attributes = node.op.attributes.map { AttributeValue.call($0.name, [$0.value]) }
      let regions = node.regions.map { region in
        AttributeValue.list([
          region.role.rawValue.attributeValue, region.captures.attributeValue, .boolean(region.refusal != nil),
          region.graph.canonicalValue,
        ])
      }
      return AttributeValue.list([
        .text(node.name), .text(node.op.name), .list(attributes), .list(node.inputs.map(name)),
        .list(node.outputs.map(typed)), .list(regions),
      ])
    }
    let extents = extents.map { [$0.output, $0.axis, $0.count].attributeValue }
    return .list(
      [.list(inputs.map(typed)), .list(states), .list(usedWeights.map(typed)), .list(nodes), .list(outputs.map(name))]
        + (extents.isEmpty ? [] : [.list(extents)]))
  }
}
