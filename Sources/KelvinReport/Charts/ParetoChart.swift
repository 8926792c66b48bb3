import Glibc
import KelvinBasics

/// A chart of the quality of models against their cost: the time of an answer, or the size. Each model is marked by its number and name. A step
/// line connects the models on the Pareto front; all others are drawn faintly.
enum ParetoChart {
  // Drawings have 360 by 250 units; the plot extends from (44, 14) to (346, 208).
  private static let (left, right, top, bottom) = (44.0, 346.0, 14.0, 208.0)
  private static let radius = 7.0
  /// The width of a character and the height of a line of a name.
  private static let (letterWidth, lineHeight) = (6.3, 12.0)
  private static let (longestName, mostNamed) = (24, 5)

  static func section(of page: EvaluationPage) -> Markup {
    let shown = page.candidates.enumerated().filter { $1.quality?.isFinite == true && $1.cost.isFinite }
    guard shown.count > 1 else { return "" }
    let measure = page.columns.first ?? ""
    let axes = Axes(page, shown.map(\.element))
    let front = shown.filter { $0.element.isOnFront }.map { axes.point($0.element) }.sorted {
      ($0.x, $0.y) < ($1.x, $1.y)
    }
    let points = shown.map { (number: $0.offset + 1, one: $0.element, at: axes.point($0.element)) }
    // Marks of models on the front are drawn last, over the others.
    let order = points.filter { !$0.one.isOnFront } + points.filter(\.one.isOnFront)
    var labels = LabelPlaces(taken: points.map(\.at), line: front, bounds: (left, right, top, bottom))
    var names: [Int: Markup] = [:]
    // With many models only those on the front are named. The key names the others.
    for point in order.reversed() where point.one.isOnFront || points.count <= mostNamed {
      names[point.number] = labels.label(point.one.name, at: point.at)
    }
    let marks: [Markup] = order.map { mark($0.number, $0.one, $0.at, axes, names[$0.number] ?? "") }
    let key: [Markup] = points.map { point in
      let isOnFront = point.one.isOnFront
      return """
        <span\(isOnFront ? "" : " class=\"beaten\"" as Markup)><b>\(point.number)</b> \(breaking: point.one.name)\
        \(isOnFront ? "" : " (beaten)" as Markup)</span>
        """
    }
    return """
      <section><h2>What accuracy costs</h2><p class="soft">\(measure) with its interval against \(page.cost.name). \
      \(page.isBetterWhenLarger ? "Higher" : "Lower") and further left is better; the line joins those that no other beats at \
      both.</p><figure class="chart pareto"><svg viewBox="0 0 360 250" role="img" \
      aria-label="\(measure) against \(page.cost.name)">\(axes.drawing)\(steps(front))\(marks)</svg></figure>
      <div class="key">\(key)</div></section>
      """
  }

  /// Draws the step line: from each model of the front horizontally to the cost of the next.
  private static func steps(_ front: [(x: Double, y: Double)]) -> Markup {
    guard let first = front.first else { return "" }
    let corners: [Markup] = front.dropFirst().map { "H\($0.x)V\($0.y)" }
    return "<path class=\"front\" d=\"M\(first.x) \(first.y)\(corners)H\(right)\"/>"
  }

  private static func mark(
    _ number: Int, _ one: EvaluationPage.BenchmarkCandidate, _ at: (x: Double, y: Double), _ axes: Axes, _ name: Markup
  ) -> Markup {
    let reach: Markup =
      one.interval.map { "<path class=\"reach\" d=\"M\(at.x) \(axes.y($0.lowerBound))V\(axes.y($0.upperBound))\"/>" }
      ?? ""
    let ring: Markup = one.isChosen ? "<circle class=\"ring\" cx=\"\(at.x)\" cy=\"\(at.y)\" r=\"\(radius + 3)\"/>" : ""
    return """
      <g\(one.isOnFront ? "" : " class=\"beaten\"" as Markup)>\(reach)\(ring)<circle cx="\(at.x)" cy="\(at.y)" r="\(radius)">\
      <title>\(one.name): \(one.cells.first ?? ""), \(axes.kind.text(one.cost))</title></circle>\
      <text x="\(at.x)" y="\(at.y + 3.5)" class="in" text-anchor="middle">\(number)</text>\(name)</g>
      """
  }

  private struct Axes {
    let kind: EvaluationPage.Cost
    let costs: ChartAxis
    let values: ClosedRange<Double>
    let step: Double
    let isShare: Bool

    init(_ page: EvaluationPage, _ shown: [EvaluationPage.BenchmarkCandidate]) {
      kind = page.cost
      let most = (shown.map(\.cost).max() ?? 1) * 1.02
      costs = kind == .time ? ChartAxis(upTo: most, about: 4) : ChartAxis(upToBytes: most, about: 4)
      isShare = page.isShare
      let reached = shown.flatMap { one in
        [one.quality, one.interval?.lowerBound, one.interval?.upperBound].compactMap { $0 }.filter(\.isFinite)
      }
      let (low, high) = (reached.min() ?? 0, reached.max() ?? 1)
      step = ChartAxis(upTo: max(high - low, 1e-6 * max(abs(high), 1)), about: 4).ticks[1]
      let (first, last) = ((low / step).rounded(.down) * step, (high / step).rounded(.up) * step)
      values = first...(last > first ? last : first + step)
    }

    func point(_ one: EvaluationPage.BenchmarkCandidate) -> (x: Double, y: Double) {
      (costs.position(one.cost, from: left, length: right - left), y(one.quality ?? 0))
    }

    func y(_ value: Double) -> Double {
      let share = (value - values.lowerBound) / (values.upperBound - values.lowerBound)
      return bottom - (bottom - top) * min(max(share, 0), 1)
    }

    private var levels: [Double] {
      let count = Int(((values.upperBound - values.lowerBound) / step).rounded())
      return (0...min(max(count, 1), 12)).map { values.lowerBound + Double($0) * step }
    }

    private func text(_ value: Double) -> String {
      guard isShare else { return HumanReadable.significant(value) }
      return HumanReadable.percent(value, decimals: step < 0.001 ? 2 : step < 0.01 ? 1 : 0)
    }

    var drawing: Markup {
      let rows: [Markup] = levels.map { level in
        """
        <path class="tickline" d="M\(left) \(y(level))H\(right)"/>\
        <text x="\(left - 5)" y="\(y(level) + 3.5)" text-anchor="end">\(text(level))</text>
        """
      }
      let columns: [Markup] = costs.ticks.enumerated().map { number, tick in
        let x = costs.position(tick, from: left, length: right - left)
        let anchor: Markup = number == costs.ticks.count - 1 ? "end" : "middle"
        return """
          <text x="\(x)" y="\(bottom + 15)" text-anchor="\(anchor)">\(kind.text(tick))</text>
          """
      }
      return """
        \(rows)<path d="M\(left) \(top)V\(bottom)H\(right)" class="axis"/>\(columns)\
        <text x="\((left + right) / 2)" y="\(bottom + 31)" text-anchor="middle">\(kind.axis)</text>
        """
    }
  }

  /// A search for label positions that overlap no mark, no part of the front's line and no other label.
  private struct LabelPlaces {
    private var boxes: [(x: Double, y: Double, width: Double, height: Double)]
    private let bounds: (left: Double, right: Double, top: Double, bottom: Double)

    init(
      taken marks: [(x: Double, y: Double)], line: [(x: Double, y: Double)],
      bounds: (left: Double, right: Double, top: Double, bottom: Double)
    ) {
      boxes = marks.map { ($0.x - radius, $0.y - radius, 2 * radius, 2 * radius) }
      self.bounds = bounds
      for (place, corner) in line.enumerated() {
        let next = place + 1 < line.count ? line[place + 1] : (x: bounds.right, y: corner.y)
        boxes.append((corner.x, corner.y - 1, next.x - corner.x, 2))
        boxes.append((next.x - 1, min(corner.y, next.y), 2, abs(next.y - corner.y)))
      }
    }

    /// Returns a label right of the mark, left of it, above or below, where it fits; otherwise an empty label. The key
    /// contains the name in any case.
    mutating func label(_ name: String, at mark: (x: Double, y: Double)) -> Markup {
      let text = name.truncatedInMiddle(to: longestName)
      let (width, height) = (Double(text.columns) * letterWidth, lineHeight)
      let gap = radius + 5
      let places: [(x: Double, y: Double)] = [
        (mark.x + gap, mark.y - height / 2), (mark.x - gap - width, mark.y - height / 2),
        (mark.x + radius, mark.y - radius - height), (mark.x + radius, mark.y + radius),
        (mark.x - radius - width, mark.y - radius - height), (mark.x - radius - width, mark.y + radius),
        (mark.x - width / 2, mark.y - gap - height), (mark.x - width / 2, mark.y + gap),
      ]
      for place in places where fits(place.x, place.y, width, height) {
        boxes.append((place.x, place.y, width, height))
        return "<text class=\"name\" x=\"\(place.x)\" y=\"\(place.y + height - 3)\">\(text)</text>"
      }
      return ""
    }

    private func fits(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> Bool {
      guard x > bounds.left, x + width <= bounds.right + 10, y >= 0, y + height <= bounds.bottom else { return false }
      return boxes.allSatisfy { box in
        x + width <= box.x || box.x + box.width <= x || y + height <= box.y || box.y + box.height <= y
      }
    }
  }
}
