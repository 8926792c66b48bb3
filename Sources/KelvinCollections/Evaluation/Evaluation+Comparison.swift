import Kelvin
import KelvinBasics
import KelvinVision

extension Evaluation {
  /// The largest number of contenders that are compared with the first in sentences. More contenders are compared in a
  /// table.
  static var mostCompared: Int { 3 }

  /// Returns a sentence for people that compares a contender with the first.
  public func sentence(on contender: Int) -> String {
    let comparison = comparison(of: contender, with: 0)
    var words = "\(names[contender]) against \(names[0]): "
    guard let difference = comparison.difference else { return words + "nothing to compare" }
    words += "\(Self.decisive.name.lowercasedInitial) \(Self.signed(difference))"
    if Self.decisive.unit == .share { words += " points" }
    if let interval = comparison.interval {
      words += " (\(Self.signed(interval.lowerBound)) to \(Self.signed(interval.upperBound)))"
    }
    if let probability = comparison.probability { words += ", p \(Self.text(ofProbability: probability, equal: "= "))" }
    let count = "\(counted(examples.count)) \(examples.count == 1 ? "tells" : "tell")"
    return words + (comparison.isDifferent ? ": a difference" : ": no difference that \(count)")
  }

  /// A table that compares every further contender with the first; nil for at most `mostCompared` contenders.
  var comparisonTable: (title: String, columns: [String], rows: [[String]])? {
    guard contenders.count > Self.mostCompared else { return nil }
    let unit = Self.decisive.unit == .share ? ", points" : ""
    var columns = ["Model", Self.decisive.name + unit, "95 %"]
    let others = contenders.indices.dropFirst().map { (name: names[$0], comparison: comparison(of: $0, with: 0)) }
    let areTested = others.contains { $0.comparison.probability != nil }
    if areTested { columns.append("p") }
    let rows = others.map { name, comparison in
      let interval = comparison.interval.map { "\(Self.signed($0.lowerBound)) to \(Self.signed($0.upperBound))" }
      let probability = comparison.probability.map { Self.text(ofProbability: $0, equal: "") }
      return [name, comparison.difference.map(Self.signed) ?? "—", interval ?? "—"]
        + (areTested ? [probability ?? "—"] : []) + [comparison.isDifferent ? "a difference" : "not told apart"]
    }
    return ("Against \(names[0])", columns + [""], rows)
  }

  /// Formats a difference with its sign. Differences of shares are in percentage points.
  private static func signed(_ difference: Double) -> String {
    let isShare = decisive.unit == .share
    return (difference < 0 ? "" : "+")
      + (isShare ? HumanReadable.fixed(difference * 100, decimals: 1) : HumanReadable.significant(difference))
  }

  private static func text(ofProbability probability: Double, equal: String) -> String {
    probability < 0.001 ? "< 0.001" : "\(equal)\(HumanReadable.fixed(probability, decimals: 3))"
  }
}
