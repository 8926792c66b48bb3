import KelvinBasics

/// What classifiers said of labelled pictures, on one self-contained page: how often each is right, against what it takes; whether
/// it is as often right as it is believed; what it takes for what; and the pictures that it is surest and wrong about. Nothing
/// is fetched, and a content policy in the page forbids it.
package struct EvaluationPage: Sendable {
  /// One classifier.
  package struct Contestant: Sendable {
    package var name: String
    /// Shares of the pictures, 0…1, and the interval of the first with 95 % confidence.
    package var top1: Double
    package var interval: ClosedRange<Double>
    package var top5: Double
    /// The expected calibration error.
    package var calibrationError: Double
    /// Of its files.
    package var bytes: Int
    /// Of one picture, warm.
    package var seconds: Double
    /// Against the first, in a sentence; empty for the first itself.
    package var comparison: String
    /// Of each bin with answers: their mean confidence, the share that is right, and how many there are.
    package var calibration: [(confidence: Double, share: Double, count: Int)]
    /// The most frequent first.
    package var confusions: [(truth: String, answer: String, count: Int)]
    /// The surest first.
    package var mistakes: [Mistake]

    package init(
      name: String, top1: Double, interval: ClosedRange<Double>, top5: Double, calibrationError: Double, bytes: Int,
      seconds: Double, comparison: String, calibration: [(confidence: Double, share: Double, count: Int)],
      confusions: [(truth: String, answer: String, count: Int)], mistakes: [Mistake]
    ) {
      (self.name, self.top1, self.interval, self.top5) = (name, top1, interval, top5)
      (self.calibrationError, self.bytes, self.seconds) = (calibrationError, bytes, seconds)
      (self.comparison, self.calibration) = (comparison, calibration)
      (self.confusions, self.mistakes) = (confusions, mistakes)
    }
  }

  /// A picture with another class than the surest answer.
  package struct Mistake: Sendable {
    package var picture: ContactSheet.Picture
    package var truth: String

    package init(picture: ContactSheet.Picture, truth: String) { (self.picture, self.truth) = (picture, truth) }
  }

  package var title: String
  package var summary: String
  package var contestants: [Contestant]
  package var kelvinVersion: String

  package init(title: String, summary: String, contestants: [Contestant], kelvinVersion: String) {
    (self.title, self.summary, self.contestants, self.kelvinVersion) = (title, summary, contestants, kelvinVersion)
  }

  /// - Returns: a complete HTML document in UTF-8.
  package func render() -> String {
    let body: Markup = """
      <main>
      <header><h1>\(title)</h1><p class="soft">\(summary)</p></header>
      <div class="panel scroll">\(table)</div>
      <ul class="notes">\(contestants.filter { !$0.comparison.isEmpty }.map { "<li>\($0.comparison)</li>" as Markup })</ul>
      \(contestants.count > 1 ? tradeOff : "")
      \(contestants.map(section))
      <footer><p><small>Kelvin \(kelvinVersion)</small></p></footer>
      </main>
      """
    return PageDocument(
      title: title,
      style: "\(ReportStyle.colours)\(ReportStyle.text)\(ReportStyle.tables)\(ContactSheet.style)\(Self.style)", body: body,
      hasPictures: true
    ).html
  }

  private var table: Markup {
    let rows: [Markup] = contestants.map { one in
      """
      <tr><th scope="row">\(breaking: one.name)</th><td><b>\(HumanReadable.percent(one.top1))</b></td>\
      <td>\(HumanReadable.percent(one.interval.lowerBound)) to \(HumanReadable.percent(one.interval.upperBound))</td>\
      <td>\(HumanReadable.percent(one.top5))</td><td>\(HumanReadable.percent(one.calibrationError))</td>\
      <td>\(HumanReadable.bytes(one.bytes))</td><td>\(HumanReadable.seconds(one.seconds))</td></tr>
      """
    }
    return """
      <table><thead><tr><th scope="col">Model</th><th scope="col">Top-1</th><th scope="col">95 %</th><th scope="col">Top-5</th>\
      <th scope="col">Calibration error</th><th scope="col">Size</th><th scope="col">Warm</th></tr></thead>\
      <tbody>\(rows)</tbody></table>
      """
  }

  // Drawings are of 320 by 200 units, their plots from (34, 10) to (310, 170).
  private static let (left, right, top, bottom) = (34.0, 310.0, 10.0, 170.0)

  private static func frame(_ label: Markup, below: Markup, above: Markup, _ contents: Markup) -> Markup {
    """
    <figure class="chart"><svg viewBox="0 0 320 200" role="img" aria-label="\(label)">\
    <path d="M\(left) \(top)V\(bottom)H\(right)" class="axis"/>\(contents)\
    <text x="\(left)" y="184">\(below)</text><text x="\(right)" y="184" text-anchor="end">\(above)</text></svg></figure>
    """
  }

  /// Top-1 against the time of a picture: what is above and left of another is better at both.
  private var tradeOff: Markup {
    let times = contestants.map(\.seconds)
    let (low, high) = (times.min() ?? 0, times.max() ?? 1)
    let shares = contestants.flatMap { [$0.interval.lowerBound, $0.interval.upperBound] }
    let (floor, ceiling) = (shares.min() ?? 0, shares.max() ?? 1)
    func x(_ seconds: Double) -> Double {
      Self.left + 16 + (Self.right - Self.left - 32) * (high > low ? (seconds - low) / (high - low) : 0.5)
    }
    func y(_ share: Double) -> Double {
      Self.bottom - (Self.bottom - Self.top) * (ceiling > floor ? (share - floor) / (ceiling - floor) : 0.5)
    }
    let marks: [Markup] = contestants.enumerated().map { number, one in
      """
      <path d="M\(x(one.seconds)) \(y(one.interval.lowerBound))V\(y(one.interval.upperBound))" class="reach"/>\
      <circle cx="\(x(one.seconds))" cy="\(y(one.top1))" r="8"/>\
      <text x="\(x(one.seconds))" y="\(y(one.top1) + 4)" class="in" text-anchor="middle">\(number + 1)</text>
      """
    }
    let key: [Markup] = contestants.enumerated().map { "<span><b>\($0 + 1)</b> \(breaking: $1.name)</span>" }
    return """
      <section><h2>What accuracy costs</h2><p class="soft">Top-1 with its interval, from \(HumanReadable.percent(floor)) to \
      \(HumanReadable.percent(ceiling)), against the time of one picture. Higher and further left is better.</p>
      \(Self.frame("Top-1 against time", below: "\(HumanReadable.seconds(low))", above: "\(HumanReadable.seconds(high))", "\(marks)"))
      <div class="key">\(key)</div></section>
      """
  }

  private func section(_ one: Contestant) -> Markup {
    let confusions: [Markup] = one.confusions.map {
      "<tr><td>\($0.truth)</td><td>\($0.answer)</td><td>\($0.count)</td></tr>"
    }
    let mistakes: [Markup] = one.mistakes.map { mistake in
      var picture = mistake.picture
      picture.path = "is \(mistake.truth): \(picture.path)"
      return ContactSheet.figure(picture, [:])
    }
    let confused: Markup =
      confusions.isEmpty
      ? "<p>Nothing was taken for anything else.</p>"
      : """
      <table><thead><tr><th scope="col">Class</th><th scope="col">taken for</th><th scope="col">Pictures</th></tr></thead>\
      <tbody>\(confusions)</tbody></table>
      """
    return """
      <section><h2>\(breaking: one.name)</h2><div class="halves"><div><h3>Is it as often right as it is believed?</h3>\
      \(calibration(one))<p class="soft">On the line, answers of a confidence are right in that share of the pictures; below it they \
      are believed too much.</p></div><div><h3>What it takes for what</h3>\(confused)</div></div>
      \(mistakes.isEmpty ? "" : "<h3>Surest and wrong</h3><div class=\"sheet\">\(mistakes)</div>" as Markup)</section>
      """
  }

  private func calibration(_ one: Contestant) -> Markup {
    func x(_ share: Double) -> Double { Self.left + (Self.right - Self.left) * share }
    func y(_ share: Double) -> Double { Self.bottom - (Self.bottom - Self.top) * share }
    let most = one.calibration.map(\.count).max() ?? 1
    let marks: [Markup] = one.calibration.map { bin in
      let radius = 3 + 7 * (Double(bin.count) / Double(most)).squareRoot()
      return """
        <circle cx="\(x(bin.confidence))" cy="\(y(bin.share))" r="\(radius)"><title>\(bin.count) answers, confidence \
        \(HumanReadable.percent(bin.confidence)), right \(HumanReadable.percent(bin.share))</title></circle>
        """
    }
    return Self.frame(
      "Share of right answers against their confidence", below: "confidence 0 %", above: "100 %",
      "<path d=\"M\(x(0)) \(y(0))L\(x(1)) \(y(1))\" class=\"even\"/><text x=\"\(Self.left - 4)\" y=\"\(Self.top + 8)\" text-anchor=\"end\">right</text>\(marks)"
    )
  }

  private static let style: Markup = """
    th:first-child,td:first-child,.halves :is(td,th):nth-child(2){text-align:left;white-space:normal}
    .chart{margin:8px 0;max-width:560px}.chart svg{width:100%;height:auto;display:block}
    .chart .axis,.chart .even,.chart .reach{fill:none;stroke:var(--line);stroke-width:1}
    .chart .even{stroke:var(--soft);stroke-dasharray:3 3}.chart .reach{stroke:var(--d0);stroke-width:2}
    .chart circle{fill:var(--d0);fill-opacity:.85}.chart text{font-size:10px;fill:var(--soft)}
    .chart text.in{fill:var(--bg);font-weight:600}
    .halves{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr));gap:20px 40px}
    """
}
