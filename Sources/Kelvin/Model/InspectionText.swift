import KelvinBasics
import KelvinGraph
import KelvinImport
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
        ("description", metadata.summary), ("author", metadata.author), ("license", metadata.license),
        ("version", metadata.version),
      ] + metadata.userDefined.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    for (name, value) in entries where !value.isEmpty {
      let name = name.printable.truncatedInMiddle(to: 40)
      let line = value.split(whereSeparator: \.isNewline).joined(separator: " ").printable
      lines.append(
        "  \(name): \(isVerbose ? line : line.truncatedInMiddle(to: max(20, width - name.columns - 4)))")
    }
    for row in inspection.functions {
      if inspection.functions.count > 1 {
        lines += [
          "",
          "function \(row.name.printable)" + (row.name == inspection.defaultFunction ? " (the default)" : ""),
        ]
      }
      lines += ["", features("INPUT", row.function.inputs), "", features("OUTPUT", row.function.outputs), ""]
      if let text = overridable(row.function.overridable) { lines.append(text) }
      if let labels = row.labels { lines.append("class labels  \(labels)") }
      if let parts = row.parts {
        lines.append(
          "parts         \(parts.map(\.text).joined(separator: "; "))".paragraph(width: width, hangingIndent: 14))
      }
      if let nodes = row.nodes, let weights = row.weights {
        lines.append("weights       \(weights.text)".paragraph(width: width, hangingIndent: 14))
        lines.append("graph         \(counted(nodes, "node"))")
      }
      let counts = row.operations.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      let total = counts.reduce(0) { $0 + $1.value }
      lines.append(
        "operations    \(total): " + counts.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
      lines[lines.count - 1] = lines[lines.count - 1].paragraph(width: width, hangingIndent: 14)
      if !row.missing.isEmpty {
        var table = TextTable(
          .init("LACKING", shrinksTo: 16), .init("COUNT", .right), .init("FIRST PLACES", shrinksTo: 20, cut: .beginning)
        )
        for item in row.missing { table.add(item.name, "\(item.count)", item.places.joined(separator: ", ")) }
        lines += ["", table.text(width: width)]
      }
    }
    return lines.joined(separator: "\n")
  }

  /// The constants that predictions may override: all if there are few, and their number.
  private func overridable(_ rows: [Feature]) -> String? {
    guard !rows.isEmpty else { return nil }
    let shown = isVerbose ? rows[...] : rows.prefix(4)
    let names = shown.map { "\($0.name.printable) \($0.typeText)" }.joined(separator: ", ")
    let rest = rows.count > shown.count ? " and \(rows.count - shown.count) more" : ""
    return "overridable   \(names)\(rest): constants that inputs of these names override"
      .paragraph(width: width, hangingIndent: 14)
  }

  private func features(_ title: String, _ rows: [Feature]) -> String {
    var table = TextTable(
      .init(title, shrinksTo: 16), .init("TYPE", shrinksTo: 20), .init("DESCRIPTION", shrinksTo: 12))
    for row in rows { table.add(row.name, row.typeText + (row.isOptional ? " (optional)" : ""), row.summary) }
    return table.text(width: width)
  }
}
