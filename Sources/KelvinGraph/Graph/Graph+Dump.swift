extension Graph: CustomStringConvertible {
  /// The graph as text, which `init(parsing:weights:)` of the tests reads back. There is one line for each input, state, weight,
  /// node and output extent; extents refer to outputs by index.
  ///
  /// ```
  /// input %x: float32[2x3]
  /// weight %w: float32[3]
  /// %sum: float32[2x3] = binary function=add(%x, %w)  # node from layer(Add, 0, 78.0)
  /// output %sum
  /// ```
  ///
  /// After `#` are the node's name and its origins, each with its kind, index in the file and work. The name is omitted
  /// if it is the name of the first output and there are no origins.
  ///
  /// A node's regions follow it, indented: their roles and, in brackets, their captures as indices of the node's
  /// operands. Weights have names and types only. Unused values are omitted.
  package var description: String { lines.joined(separator: "\n") }

  private var lines: [String] {
    var lines: [String] = []
    for id in inputs { lines.append("input \(declaration(id))") }
    for state in states {
      let written = state.written.map { " -> \(reference($0))" } ?? ""
      lines.append("state \(state.name.reference): \(declaration(state.read))\(written)")
    }
    for id in usedWeights { lines.append("weight \(declaration(id))") }
    for node in nodes {
      let results = node.outputs.map(declaration).joined(separator: ", ")
      let attributes = node.op.attributes.map { " \($0.name)=\($0.value)" }.joined()
      let operands = node.inputs.map(reference).joined(separator: ", ")
      lines.append("\(results) = \(node.op.name)\(attributes)(\(operands))\(note(node))")
      for region in node.regions {
        let captured = region.captures.map { "\($0) \(reference(node.inputs[$0]))" }.joined(separator: ", ")
        let refusal = region.refusal.map { " refused \($0.quoted)" } ?? ""
        lines.append("  \(region.role.rawValue)[\(captured)]\(refusal)")
        lines += region.graph.lines.map { "    " + $0 }
      }
    }
    for extent in extents {
      lines.append("extent \(extent.output) axis \(extent.axis) counted by \(extent.count)")
    }
    lines.append("output" + (outputs.isEmpty ? "" : " \(outputs.map(reference).joined(separator: ", "))"))
    return lines
  }

  /// The weights that nodes read or that are results, in the order of the values.
  package var usedWeights: [ValueID] {
    let used = Set(nodes.flatMap(\.inputs) + results)
    return values.indices.lazy.map(ValueID.init).filter { self[$0].weight != nil && used.contains($0) }
  }

  private func reference(_ id: ValueID) -> String { "%\(self[id].name.reference)" }
  private func declaration(_ id: ValueID) -> String { "\(reference(id)): \(self[id].type)" }

  private func note(_ node: Node) -> String {
    let isPlain = node.origins.isEmpty && node.outputs.first.map { self[$0].name } == node.name
    guard !isPlain else { return "" }
    let origins = node.origins.map { origin in
      "\(origin.name.reference)(\(origin.kind.reference), \(origin.index), \(origin.work))"
    }
    return "  # \(node.name.reference)" + (origins.isEmpty ? "" : " from \(origins.joined(separator: " + "))")
  }
}

extension String {
  /// The string itself if it is unambiguous, otherwise in quotes.
  var reference: String { !isEmpty && utf8.allSatisfy(\.isReferencePart) ? self : quoted }

  /// The string in double quotes, with `\"`, `\\`, and control characters as `\u{…}`.
  var quoted: String {
    var result = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where scalar.value < 0x20 || scalar.value == 0x7f: result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

extension UInt8 {
  /// Whether the byte is a letter, a digit or one of `_ . / ~ - $`.
  var isReferencePart: Bool { isNamePart || [0x2e, 0x2f, 0x7e, 0x2d, 0x24].contains(self) }
}
