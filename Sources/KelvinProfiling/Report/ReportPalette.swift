/// One colour and one pattern for each device, by its place in the input. The colours are told apart by people with
/// any of the common colour deficiencies (after Okabe and Ito, 2008); the patterns by everybody.
struct ReportPalette {
  static let count = 6
  private let index: [String: Int]

  init(_ devices: [ReportDevice]) {
    index = Dictionary(devices.enumerated().map { ($1.id, $0 % Self.count) }, uniquingKeysWith: { first, _ in first })
  }

  /// CSS paint for the device; grey for one that is not listed.
  func fill(_ device: String) -> Markup {
    guard let number = index[device] else { return "fill:var(--soft)" }
    return "fill:url(#p\(number))"
  }

  func colour(_ device: String) -> Markup {
    guard let number = index[device] else { return "var(--soft)" }
    return "var(--d\(number))"
  }

  /// A square of the device's pattern and its id.
  func chip(_ device: String) -> Markup {
    """
    <span class="chip"><svg width="14" height="14" aria-hidden="true"><rect width="14" height="14" rx="3" \
    style="\(fill(device))"/></svg>\(device)</span>
    """
  }

  /// Pattern definitions, once on a page.
  static let definitions: Markup = {
    let strokes: [Markup] = [
      "",
      "<path d=\"M-2 2l4-4M0 8l8-8M6 10l4-4\"/>",
      "<path d=\"M2 2h.01M6 6h.01\" stroke-width=\"2.6\" stroke-linecap=\"round\"/>",
      "<path d=\"M2 0v8M6 0v8\"/>",
      "<path d=\"M0 2h8M0 6h8\"/>",
      "<path d=\"M-2 6l4 4M0 0l8 8M6-2l4 4M0 8l8-8\"/>",
    ]
    let patterns: [Markup] = strokes.enumerated().map { number, stroke in
      """
      <pattern id="p\(number)" width="8" height="8" patternUnits="userSpaceOnUse">\
      <rect width="8" height="8" style="fill:var(--d\(number))"/>\
      <g style="stroke:var(--hatch);fill:none" stroke-width="1.4">\(stroke)</g></pattern>
      """
    }
    return """
      <svg class="defs" width="0" height="0" aria-hidden="true"><defs>\(patterns)\
      <pattern id="wait" width="6" height="6" patternUnits="userSpaceOnUse">\
      <path d="M0 6l6-6" style="stroke:var(--soft)" stroke-width="1"/></pattern>\
      <marker id="arrow" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">\
      <path d="M0 0l6 3l-6 3z" style="fill:var(--ink)"/></marker></defs></svg>
      """
  }()
}

/// A linear axis from zero with round ticks.
struct ChartAxis {
  let maximum: Double
  let ticks: [Double]

  /// Ticks at whole seconds, minutes and hours once the span allows it.
  init(upToTime seconds: Double, about count: Int) {
    let clock: [Double] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400]
    guard seconds > Double(count), seconds.isFinite, let step = clock.first(where: { $0 * Double(count) >= seconds })
    else {
      self.init(upTo: seconds, about: count)
      return
    }
    self.init(step: step, upTo: seconds)
  }

  private init(step: Double, upTo most: Double) {
    let steps = max(1, Int((most / step).rounded(.up)))
    maximum = step * Double(steps)
    ticks = (0...steps).map { step * Double($0) }
  }

  /// - Parameter most: the largest value to show.
  init(upTo most: Double, about count: Int = 5) {
    guard most >= 1e-12, most.isFinite else {
      self.init(step: 1, upTo: 1)
      return
    }
    let rough = most / Double(max(count, 1))
    var unit = 1.0
    while unit > rough { unit /= 10 }
    while unit * 10 <= rough { unit *= 10 }
    let round = [1.0001, 2, 5].first { rough <= unit * $0 } ?? 10
    self.init(step: unit * round.rounded(), upTo: most)
  }

  func position(_ value: Double, from start: Double, length: Double) -> Double {
    start + length * min(max(value / maximum, 0), 1)
  }
}
