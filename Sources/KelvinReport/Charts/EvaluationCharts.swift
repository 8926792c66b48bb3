import KelvinBasics

/// The charts and tables for one model on an evaluation's page.
enum EvaluationCharts {
  // Drawings have 320 by 200 units; plots extend from (34, 10) to (310, 170).
  private static let (left, right, top, bottom) = (34.0, 310.0, 10.0, 170.0)

  /// The number of rows above which a table scrolls.
  private static let mostRowsShown = 20

  static func draw(_ section: EvaluationPage.Section) -> Markup {
    switch section {
    case .table(let title, let columns, let rows): table(title, columns, rows)
    case .calibration(let bins): calibration(bins)
    case .scatter(let title, let points): scatter(title, points)
    }
  }

  private static func table(_ title: String, _ columns: [String], _ rows: [[String]]) -> Markup {
    // Columns of numbers are aligned right, all others left.
    let isTextColumn = columns.indices.map { column in
      rows.contains { row in row[column].first.map { !$0.isNumber && !"—−-+<".contains($0) } ?? false }
    }
    func cells(_ texts: [String], _ element: Markup) -> [Markup] {
      texts.enumerated().map { column, text in
        "<\(element)\(isTextColumn[column] ? " class=\"words\"" : "" as Markup)>\(text)</\(element)>"
      }
    }
    let lines: [Markup] = rows.map { "<tr>\(cells($0, "td"))</tr>" }
    let isTall: Markup = rows.count > mostRowsShown ? " tall" : ""
    let heading: Markup = title.isEmpty ? "" : "<h3>\(title)</h3>"
    return """
      <div>\(heading)<div class="scroll\(isTall)"><table><thead><tr>\(cells(columns, "th"))</tr></thead>\
      <tbody>\(lines)</tbody></table></div></div>
      """
  }

  private static func frame(_ label: Markup, below: Markup, above: Markup, _ contents: Markup) -> Markup {
    """
    <figure class="chart"><svg viewBox="0 0 320 200" role="img" aria-label="\(label)">\
    <path d="M\(left) \(top)V\(bottom)H\(right)" class="axis"/>\(contents)\
    <text x="\(left)" y="184">\(below)</text><text x="\(right)" y="184" text-anchor="end">\(above)</text></svg></figure>
    """
  }

  private static func calibration(_ bins: [(confidence: Double, share: Double, count: Int)]) -> Markup {
    func x(_ share: Double) -> Double { left + (right - left) * share }
    func y(_ share: Double) -> Double { bottom - (bottom - top) * share }
    let most = bins.map(\.count).max() ?? 1
    let marks: [Markup] = bins.map { bin in
      let radius = 3 + 7 * (Double(bin.count) / Double(most)).squareRoot()
      return """
        <circle cx="\(x(bin.confidence))" cy="\(y(bin.share))" r="\(radius)"><title>\(bin.count) answers, confidence \
        \(HumanReadable.percent(bin.confidence)), right \(HumanReadable.percent(bin.share))</title></circle>
        """
    }
    let drawing = frame(
      "Share of right answers against their confidence", below: "confidence 0 %", above: "100 %",
      """
      <path d="M\(x(0)) \(y(0))L\(x(1)) \(y(1))" class="even"/>\
      <text x="\(left - 4)" y="\(top + 8)" text-anchor="end">right</text>\(marks)
      """)
    return """
      <div><h3>Confidence calibration</h3>\(drawing)<p class="soft">On the line, the \
      proportion of right answers equals their confidence; below it, the model is overconfident.</p></div>
      """
  }

  private static func scatter(_ title: String, _ points: [(truth: Double, answer: Double)]) -> Markup {
    let numbers = points.flatMap { [$0.truth, $0.answer] }.filter(\.isFinite)
    let (low, high) = (numbers.min() ?? 0, numbers.max() ?? 1)
    func share(_ value: Double) -> Double { high > low ? (value - low) / (high - low) : 0.5 }
    func x(_ value: Double) -> Double { left + (right - left) * share(value) }
    func y(_ value: Double) -> Double { bottom - (bottom - top) * share(value) }
    let marks: [Markup] = points.filter { $0.truth.isFinite && $0.answer.isFinite }.map {
      "<circle cx=\"\(x($0.truth))\" cy=\"\(y($0.answer))\" r=\"2.5\" class=\"many\"/>"
    }
    let drawing = frame(
      "Answers against the right values", below: "right: \(HumanReadable.significant(low))",
      above: "\(HumanReadable.significant(high))",
      """
      <path d="M\(x(low)) \(y(low))L\(x(high)) \(y(high))" class="even"/>\
      <text x="\(left + 4)" y="\(top + 8)">answer: \(HumanReadable.significant(high))</text>\(marks)
      """)
    return "<div><h3>\(title)</h3>\(drawing)<p class=\"soft\">On the line, the answer equals the right value.</p></div>"
  }

  static let style: Markup = """
    .tall thead th{background:var(--bg)}.halves+h3{margin-top:26px}
    .halves th:first-child,.halves td:first-child{text-align:left;white-space:normal}\
    .words{text-align:left!important;white-space:normal!important;overflow-wrap:break-word}
    .chart{margin:8px 0;max-width:560px}.chart svg{width:100%;height:auto;display:block}
    .chart .axis,.chart .even,.chart .reach,.chart .tickline{fill:none;stroke:var(--line);stroke-width:1}
    .chart .even{stroke:var(--soft);stroke-dasharray:3 3}.chart .reach{stroke:var(--d0);stroke-width:2}
    .chart circle{fill:var(--d0);fill-opacity:.85}.chart circle.many{fill-opacity:.45}
    .chart text{font-size:10px;fill:var(--soft)}.chart text.in{fill:var(--bg);font-weight:600}
    .pareto{max-width:640px}.pareto .front{fill:none;stroke:var(--accent);stroke-width:1.8;stroke-linejoin:round}
    .pareto circle{fill:var(--accent);fill-opacity:1}.pareto .reach{stroke:var(--accent);stroke-width:1.5}
    .pareto .beaten circle{fill:var(--soft);fill-opacity:.45}.pareto .beaten .reach{stroke:var(--soft);stroke-opacity:.25}
    .pareto text.name{fill:var(--ink);font-size:10.5px;paint-order:stroke;stroke:var(--bg);stroke-width:3px;\
    stroke-linejoin:round}
    .pareto .beaten text.name{fill:var(--soft)}.pareto .ring{fill:none;stroke:var(--accent);stroke-width:1.5}
    .key .beaten b{color:var(--soft)}
    .halves{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr));gap:20px 40px}
    .wide{grid-template-columns:minmax(0,1fr);margin-top:24px}
    """
}
