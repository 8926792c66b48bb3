import KelvinBasics
import KelvinRuntime

/// Formats the contents of a model file as tables.
struct InspectionText {
  let inspection: ModelInspection
  /// The terminal's width in columns.
  let width: Int
  /// Whether long metadata lines are shown in full.
  let isVerbose: Bool

  package func text() -> String {
    let metadata = inspection.metadata
    var lines = ["\(inspection.model.printable): \(inspection.format), version \(inspection.formatVersion)"]
    let entries =
      [
        ("description", metadata.description), ("author", metadata.author), ("license", metadata.license),
        ("version", metadata.version),
      ] + metadata.userDefined.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    for (name, value) in entries where !value.isEmpty {
      let name = name.printable.truncatedInMiddle(to: 40)
      let line = value.split(whereSeparator: \.isNewline).joined(separator: " ").printable
      lines.append(
        "  \(name): \(isVerbose ? line : line.truncatedInMiddle(to: max(20, width - name.columns - 4)))")
    }
    for function in inspection.functions {
      if inspection.functions.count > 1 {
        lines += [
          "",
          "function \(function.name.printable)" + (function.name == inspection.defaultFunction ? " (the default)" : ""),
        ]
      }
      lines += ["", features("INPUT", function.inputs), "", features("OUTPUT", function.outputs), ""]
      if let text = overridable(function.overridable) { lines.append(text) }
      if let labels = function.labels { lines.append("class labels  \(labels)") }
      if let parts = function.parts {
        lines.append(
          "parts         \(parts.map(\.text).joined(separator: "; "))".paragraph(width: width, hangingIndent: 14))
      }
      if let nodes = function.nodes, let weights = function.weights {
        lines.append("weights       \(weights.text)".paragraph(width: width, hangingIndent: 14))
        lines.append("graph         \(counted(nodes, "node"))")
      }
      let counts = function.operations.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      let total = counts.reduce(0) { $0 + $1.value }
      lines.append(
        "operations    \(total): " + counts.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
      lines[lines.count - 1] = lines[lines.count - 1].paragraph(width: width, hangingIndent: 14)
      if !function.missing.isEmpty {
        var table = TextTable(
          .init("LACKING", shrinksTo: 16), .init("COUNT", .right), .init("FIRST PLACES", shrinksTo: 20, cut: .beginning)
        )
        for item in function.missing { table.add(item.name, "\(item.count)", item.places.joined(separator: ", ")) }
        lines += ["", table.text(width: width)]
      }
    }
    return lines.joined(separator: "\n")
  }

  /// The constants that predictions may override: all if there are few, and their number.
  private func overridable(_ rows: [ModelInspection.FeatureRow]) -> String? {
    guard !rows.isEmpty else { return nil }
    let shown = isVerbose ? rows[...] : rows.prefix(4)
    let names = shown.map { "\($0.name.printable) \($0.type)" }.joined(separator: ", ")
    let rest = rows.count > shown.count ? " and \(rows.count - shown.count) more" : ""
    return "overridable   \(names)\(rest): constants that inputs of these names override"
      .paragraph(width: width, hangingIndent: 14)
  }

  private func features(_ title: String, _ rows: [ModelInspection.FeatureRow]) -> String {
    var table = TextTable(
      .init(title, shrinksTo: 16), .init("TYPE", shrinksTo: 20), .init("DESCRIPTION", shrinksTo: 12))
    for row in rows { table.add(row.name, row.type + (row.isOptional ? " (optional)" : ""), row.summary) }
    return table.text(width: width)
  }
}
