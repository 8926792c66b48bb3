import Kelvin
import KelvinBasics
import KelvinVision

extension Evaluation {
  /// The largest number of contenders that get notes each, and of classes that a note names.
  private static var mostNoted: Int { 3 }

  /// Returns the results as text for people, in at most 80 columns.
  ///
  /// - Parameters:
  ///   - costs: The costs of the contenders, in their order.
  ///   - showsFront: Whether to mark the contenders on the Pareto front of figure and time.
  public func text(costs: [CandidateCost], showsFront: Bool = false) -> String {
    let verdict = verdict(costs: costs)
    var columns = [TextTable.Column("MODEL", shrinksTo: 12, cut: .beginning)]
    columns += Self.columns.map { .init($0.uppercased(), .right, vanishes: $0 == "Memory") }
    if showsFront { columns.append(.init("FRONT")) }
    var table = TextTable(columns)
    for (place, cost) in costs.enumerated() {
      let isOnFront = verdict?.front.contains(place) ?? true
      table.add(
        [names[place]] + cells(of: place, cost, intervalText(of: place))
          + (showsFront ? [isOnFront ? "yes" : ""] : []))
    }
    let droppable = Self.measures.dropFirst().reversed().map { $0.name.uppercased() }
    let lines = table.lines(width: 80, leavingOut: droppable) + ["", subject]
    let devices = costs.enumerated().filter { $1.devices.count > 1 || !$1.notes.isEmpty }.map {
      "\(names[$0]) runs on \($1.placement)"
    }
    // Of many contenders, only the recommended one gets notes.
    let noted = contenders.count > Self.mostNoted ? [verdict?.chosen ?? 0] : Array(contenders.indices)
    let compared = comparisonLines
    let sentences =
      (compared.isEmpty ? contenders.indices.dropFirst().map(sentence) : []) + devices + noted.flatMap(notes)
      + (verdict.map { [$0.sentence] } ?? [])
    return (lines + compared + sentences.flatMap { $0.wrapped(hangingIndent: 2) }).joined(separator: "\n")
  }

  /// The headings of figures and costs, which text writes in capitals.
  static var columns: [String] {
    [decisive.name, "95 %"] + measures.dropFirst().map(\.name) + ["Size", "Memory", "Warm"]
  }

  /// Returns the cells of a contender's `columns`.
  func cells(of contender: Int, _ cost: CandidateCost, _ interval: String) -> [String] {
    let figures = zip(Self.measures, figures(of: contender)).map { $0.text($1) }
    return figures.prefix(1) + [interval] + figures.dropFirst()
      + [
        HumanReadable.bytes(cost.bytes), HumanReadable.bytes(cost.peakMemory),
        HumanReadable.seconds(cost.time.inSeconds),
      ]
  }

  /// Returns one sentence that names the classes that a contender is worst at; none for fewer than two classes.
  func noteOnWorst(_ classes: [(name: String, share: Double)], of contender: Int) -> [String] {
    guard classes.count > 1 else { return [] }
    let worst = classes.indices.sorted { (classes[$0].share, $0) < (classes[$1].share, $1) }.prefix(Self.mostNoted)
    let shown = worst.map { "\(classes[$0].name) \(HumanReadable.percent(classes[$0].share))" }
    return ["\(names[contender]) is worst at \(shown.joined(separator: ", "))"]
  }

  private var comparisonLines: [String] {
    guard let compared = comparisonTable else { return [] }
    let inner = compared.columns.dropFirst().dropLast().map { TextTable.Column($0.uppercased(), .right) }
    var table = TextTable(
      [.init(compared.columns[0].uppercased(), shrinksTo: 12, cut: .beginning)] + inner + [.init("")])
    for row in compared.rows { table.add(row) }
    return ["", "\(compared.title):"] + table.lines(width: 80) + [""]
  }

  private func intervalText(of contender: Int) -> String {
    guard let interval = interval(of: contender) else { return "—" }
    func shown(_ value: Double) -> String {
      Self.decisive.unit == .share ? HumanReadable.fixed(value * 100, decimals: 1) : HumanReadable.significant(value)
    }
    return "\(shown(interval.lowerBound))–\(shown(interval.upperBound))"
  }
}
