/// A self-contained page of tables. The page loads nothing, which its content security policy enforces.
package struct TablePage: Sendable {
  package var title: String
  /// A summary of the tables in one sentence.
  package var summary: String
  package var tables: [ReportTable]
  package var kelvinVersion: String

  package init(title: String, summary: String, tables: [ReportTable], kelvinVersion: String) {
    (self.title, self.summary, self.tables, self.kelvinVersion) = (title, summary, tables, kelvinVersion)
  }

  /// Renders the page.
  ///
  /// - Returns: A complete HTML document in UTF-8.
  package func render() -> String {
    let sections: [Markup] = tables.map { table in
      EvaluationCharts.draw(.table(title: table.title, columns: table.columns, rows: table.rows))
    }
    let body: Markup = """
      <main>
      <header><h1>\(title)</h1><p class="soft">\(summary)</p></header>
      <div class="halves wide">\(sections)</div>
      <footer><p><small>Kelvin \(kelvinVersion)</small></p></footer>
      </main>
      """
    return PageDocument(title: title, style: "\(ReportStyle.words)\(EvaluationCharts.style)", body: body).html
  }
}
