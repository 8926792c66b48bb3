/// The section about token rates at growing lengths: a table for each configuration.
enum TokenSection {
  static func section(_ input: ReportInput) -> Markup {
    guard !input.tokens.isEmpty else { return "" }
    return "<section id=\"tokens\"><h2>Tokens</h2>\(input.tokens.map { panel($0) })</section>"
  }

  /// Draws a table and its facts.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - titled: Whether its title is the heading of the panel.
  static func panel(_ table: ReportTable, titled: Bool = true) -> Markup {
    let head: [Markup] = table.columns.map { "<th scope=\"col\">\($0.prefix(1).uppercased() + $0.dropFirst())</th>" }
    let rows: [Markup] = table.rows.map { row in
      let cells: [Markup] = row.dropFirst().map { "<td>\($0)</td>" }
      return "<tr><th scope=\"row\">\(row[0])</th>\(cells)</tr>"
    }
    let facts: [Markup] = table.facts.map { "<li>\($0.name): \($0.value)</li>" }
    return """
      <div class="panel">\(titled ? "<h3>\(table.title)</h3>" as Markup : "")<div class="scroll" tabindex="0" role="group" \
      aria-label="\(table.title)"><table><thead><tr>\(head)</tr></thead><tbody>\(rows)</tbody></table></div>\
      \(facts.isEmpty ? "" : "<ul class=\"notes\">\(facts)</ul>" as Markup)</div>
      """
  }
}
