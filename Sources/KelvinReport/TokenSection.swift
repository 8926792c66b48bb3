import KelvinBasics

/// The section about token rates at growing lengths: a table for each configuration.
enum TokenSection {
  static func section(_ input: ReportInput) -> Markup {
    guard !input.tokens.isEmpty else { return "" }
    return "<section id=\"tokens\"><h2>Tokens</h2>\(input.tokens.map(table))</section>"
  }

  private static func table(_ tokens: ReportTokens) -> Markup {
    let first: Markup = """
      <tr><th scope="row">first token, of a prompt of \(tokens.prompt)</th>\
      <td>\(HumanReadable.seconds(tokens.firstOneShot))</td>\
      <td>\(tokens.firstSustained.map { HumanReadable.seconds($0) } ?? "—")</td></tr>
      """
    let rows: [Markup] = tokens.stretches.map { row("behind \($0.lengths)", $0.oneShot, $0.sustained) }
    let facts: [Markup] = tokens.facts.map { "<li>\($0.name): \($0.value)</li>" }
    return """
      <div class="panel"><h3>\(tokens.units)</h3><div class="scroll" tabindex="0" role="group" \
      aria-label="Tokens of \(tokens.units)"><table><thead><tr><th scope="col"></th><th scope="col">One-shot</th>\
      <th scope="col">Sustained</th></tr></thead><tbody>\(first)\(rows)\
      \(row("all", tokens.rateOneShot, tokens.rateSustained))</tbody></table></div><ul class="notes">\(facts)</ul></div>
      """
  }

  private static func row(_ name: String, _ oneShot: Double?, _ sustained: Double?) -> Markup {
    func rate(_ perSecond: Double?) -> String { perSecond.map { HumanReadable.perSecond($0) } ?? "—" }
    return "<tr><th scope=\"row\">\(name)</th><td>\(rate(oneShot))</td><td>\(rate(sustained))</td></tr>"
  }
}
