/// The first section of a page of advice: the picks side by side, and the table from which they are read.
enum AdviceSection {
  static func section(_ advice: ReportAdvice?) -> Markup {
    guard let advice, !advice.rows.isEmpty else { return "" }
    let picks: [Markup] = advice.picks.map { pick in
      "<div class=\"pick\"><h3>\(pick.question)</h3><p>\(pick.answer)</p></div>"
    }
    let crossovers: [Markup] = advice.crossovers.map { "<li>\($0)</li>" }
    return """
      <section id="advice" class="verdict"><h2>What to pick</h2><div class="picks">\(picks)</div>
      \(crossovers.isEmpty ? "" : "<ul>\(crossovers)</ul>" as Markup)
      <div class="panel"><div class="scroll" tabindex="0" role="group" aria-label="What to pick"><table class="cards">
      <thead><tr><th></th>\(groups(advice.columns))</tr>
      <tr><th scope="col">Configuration</th>\(advice.columns.map { "<th scope=\"col\">\($0.title)</th>" as Markup })</tr></thead>
      <tbody>\(advice.rows.map { row($0, advice.columns) })</tbody></table></div>
      <p><small>\(advice.legend)</small></p></div></section>
      """
  }

  /// Returns one heading for each group of adjacent columns.
  private static func groups(_ columns: [(group: String, title: String)]) -> [Markup] {
    var runs: [(group: String, count: Int)] = []
    for column in columns {
      if let last = runs.indices.last, runs[last].group == column.group {
        runs[last].count += 1
      } else {
        runs.append((column.group, 1))
      }
    }
    return runs.map { "<th scope=\"colgroup\" colspan=\"\($0.count)\">\($0.group)</th>" }
  }

  private static func row(
    _ row: (label: String, cells: [ReportAdvice.Cell]), _ columns: [(group: String, title: String)]
  ) -> Markup {
    let cells: [Markup] = zip(columns, row.cells).map { column, cell in
      guard let text = cell.text else { return "<td class=\"none\">—</td>" }
      let name = column.group.isEmpty ? column.title : "\(column.group), \(column.title)"
      let mark: Markup = cell.isPick ? " <span class=\"tag\">pick</span>" : ""
      return "<td data-label=\"\(name)\"><div>\(text)\(mark)</div></td>"
    }
    return "<tr><th scope=\"row\" data-label=\"Configuration\"><div><b>\(row.label)</b></div></th>\(cells)</tr>"
  }
}
