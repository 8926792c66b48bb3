import KelvinBasics

/// A self-contained page about the size of a model: the bytes of its files as a treemap, the totals, the smaller copies
/// that could be made of it, and the tensors. The page loads nothing, which its content security policy enforces.
package struct SizePage: Sendable {
  /// How the elements of a tensor are stored; each kind has a colour and a pattern.
  package enum Coding: Int, CaseIterable, Sendable {
    case float32, float16, palette, integers, sparse
    /// Bytes that are not a tensor's.
    case other

    /// The name in the legend.
    var name: String {
      switch self {
      case .float32: "float32"
      case .float16: "float16"
      case .palette: "palettes"
      case .integers: "integers"
      case .sparse: "sparse"
      case .other: "not tensors"
      }
    }
  }

  /// A tensor, or another part of the files.
  package struct Part: Sendable {
    package var name: String
    /// The sizes of a tensor: `64x3x7x7`.
    package var shape: String
    /// The coding of a tensor: `palette-6`.
    package var form: String
    package var coding: Coding
    /// The name of the file.
    package var file: String
    package var byteCount: Int

    package init(name: String, shape: String, form: String, coding: Coding, file: String, byteCount: Int) {
      (self.name, self.shape, self.form, self.coding) = (name, shape, form, coding)
      (self.file, self.byteCount) = (file, byteCount)
    }
  }

  package var title: String
  package var summary: String
  /// The totals, by name.
  package var totals: [(name: String, value: String, remark: String)]
  /// The copies that `kelvin compress` could make; nil where it makes none.
  package var copies: ReportTable?
  /// The parts of the files in descending order of bytes. Together they are the files.
  package var parts: [Part]
  package var notes: [String]
  package var kelvinVersion: String

  package init(
    title: String, summary: String, totals: [(name: String, value: String, remark: String)], copies: ReportTable?,
    parts: [Part], notes: [String], kelvinVersion: String
  ) {
    (self.title, self.summary, self.totals, self.copies) = (title, summary, totals, copies)
    (self.parts, self.notes, self.kelvinVersion) = (parts, notes, kelvinVersion)
  }

  /// The number of rows that are printed; the others would make very many pages.
  private static let mostPrinted = 120

  private var byteCount: Int { parts.reduce(0) { $0 + $1.byteCount } }

  /// Renders the page.
  ///
  /// - Returns: A complete HTML document in UTF-8.
  package func render() -> String {
    let body: Markup = """
      \(ReportPalette.definitions)
      <main>
      <header><h1>\(breaking: title)</h1><p class="soft">\(summary)</p></header>
      <section><h2>Where the bytes are</h2>\(legend)\(SizeTreemap.draw(parts))</section>
      <section><h2>Totals</h2><div class="panel"><div class="scroll" tabindex="0" role="group" aria-label="Totals">\
      \(totalsTable)</div></div><ul class="notes">\(notes.map { "<li>\($0)</li>" as Markup })</ul></section>
      \(copies.map(copiesSection) ?? "")
      <section id="parts"><h2>Tensors and other parts</h2>\(partsTable)</section>
      <footer><p><small>Kelvin \(kelvinVersion)</small></p></footer>
      </main>
      """
    return PageDocument(
      title: title, style: "\(ReportStyle.css)\(SizeTreemap.style)", body: body, script: SizeTreemap.script
    ).html
  }

  /// The codings that occur, with the bytes of each.
  private var legend: Markup {
    let entries: [Markup] = Coding.allCases.compactMap { coding in
      let bytes = parts.reduce(0) { $0 + ($1.coding == coding ? $1.byteCount : 0) }
      guard bytes > 0 else { return nil }
      return """
        <span>\(SizeTreemap.badge(coding)) \(coding.name) <small>\(HumanReadable.bytes(bytes)), \
        \(share(bytes))</small></span>
        """
    }
    return "<div class=\"legend\">\(entries)</div>"
  }

  private func share(_ bytes: Int) -> String { HumanReadable.percent(Double(bytes) / Double(max(byteCount, 1))) }

  private var totalsTable: Markup {
    let rows: [Markup] = totals.map { total in
      """
      <tr><th scope="row">\(total.name)</th><td class="left"><b>\(total.value)</b></td>\
      <td class="left wrap">\(total.remark)</td></tr>
      """
    }
    return """
      <table><thead><tr><th scope="col">Total</th><th scope="col" class="left">Size</th>\
      <th scope="col" class="left">Meaning</th></tr></thead><tbody>\(rows)</tbody></table>
      """
  }

  private func copiesSection(_ table: ReportTable) -> Markup {
    let head: [Markup] = table.columns.map { "<th scope=\"col\">\($0)</th>" }
    let rows: [Markup] = table.rows.map { row in
      let cells: [Markup] = row.dropFirst().map { "<td>\($0)</td>" }
      return "<tr><th scope=\"row\">\(row[0])</th>\(cells)</tr>"
    }
    let facts: [Markup] = table.facts.map { "<p class=\"soft\">\($0.value)</p>" }
    return """
      <section><h2>\(table.title)</h2>\(facts)<div class="panel"><div class="scroll" tabindex="0" role="group" \
      aria-label="\(table.title)"><table><thead><tr>\(head)</tr></thead><tbody>\(rows)</tbody></table></div></div></section>
      """
  }

  private var partsTable: Markup {
    let most = parts.first?.byteCount ?? 0
    let rows: [Markup] = parts.enumerated().map { place, part in
      let bar: Markup = """
        <i class="bar" style="width:\(share: most > 0 ? Double(part.byteCount) / Double(most) : 0);\
        background:var(--d\(part.coding.rawValue))"></i>
        """
      return """
        <tr id="t\(place)"\(place < Self.mostPrinted ? "" : " class=\"late\"" as Markup)>\
        <th scope="row" title="\(part.name)">\(breaking: part.name)</th>\
        <td>\(HumanReadable.bytes(part.byteCount))\(bar)</td><td>\(share(part.byteCount))</td>\
        <td class="left">\(part.form)</td><td class="left">\(part.shape)</td>\
        <td class="left" title="\(part.file)">\(breaking: part.file.lastPathPart)</td></tr>
        """
    }
    let remark: Markup =
      parts.count > Self.mostPrinted
      ? "<p class=\"soft printed\">The largest \(Self.mostPrinted) of \(parts.count) are printed.</p>" : ""
    return """
      \(remark)<div class="panel"><div class="scroll tall" tabindex="0" role="group" aria-label="Tensors and other parts">\
      <table class="layers"><thead><tr><th scope="col">Name</th><th scope="col">Size</th><th scope="col">Share</th>\
      <th scope="col" class="left">Coding</th><th scope="col" class="left">Shape</th>\
      <th scope="col" class="left">File</th></tr></thead><tbody>\(rows)</tbody></table></div></div>
      """
  }
}
