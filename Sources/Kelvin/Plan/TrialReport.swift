import KelvinBasics
import KelvinMeasurements
import KelvinPlanning

/// The measured times of the plans that were run, next to the predicted times.
struct TrialReport: Encodable, Sendable {
  let record: TriedPlans
  /// The earlier, quiet trial that decides because other processes disturbed this one; nil if this one decides.
  let earlier: TriedPlans?
  /// The trial that decides.
  var deciding: TriedPlans { earlier ?? record }
  private var isDisturbed: Bool { record.isDisturbed == true }

  /// - Parameter earlier: the earlier trial of these plans, if there was one.
  init(_ record: TriedPlans, after earlier: TriedPlans?) {
    self.record = record
    self.earlier = earlier.flatMap { $0.isAbout(record) && !record.replaces($0) ? $0 : nil }
  }

  func encode(to encoder: any Encoder) throws {
    let document: JSONObject = [
      "chosen": deciding.entries[deciding.chosen].label, "reason": deciding.reason, "disturbed": isDisturbed,
      "keepsEarlier": earlier != nil,
      "plans": record.entries.map { entry -> JSONObject in
        [
          "label": entry.label, "predicted": entry.predicted, "measured": entry.seconds,
          "error": Self.error(of: entry), "rounds": entry.samples,
        ]
      },
    ]
    try document.encode(to: encoder)
  }

  /// Returns `measured / predicted - 1`.
  private static func error(of entry: TriedPlans.Entry) -> Double {
    entry.predicted > 0 ? entry.seconds / entry.predicted - 1 : 0
  }

  func text(goal: Goal, width: Int) -> String {
    var table = TextTable(
      .init("TRIED", shrinksTo: 20, cut: .beginning), .init("PREDICTED", .right), .init("MEASURED", .right),
      .init("ERROR", .right))
    for entry in record.entries {
      let error = Self.error(of: entry)
      table.add(
        entry.label, HumanReadable.seconds(entry.predicted), HumanReadable.seconds(entry.seconds),
        (error >= 0 ? "+" : "−") + HumanReadable.percent(abs(error)))
    }
    var verdict =
      earlier.map { "An earlier trial without other load stays: \($0.reason)." } ?? "Adopted: \(record.reason)."
    if goal != .latency {
      verdict =
        "The trial runs one inference at a time; it does not measure the goal \(goal.rawValue), and the plan stays."
    }
    if isDisturbed { verdict += " Background load disturbed the trial: its figures are uncertain." }
    return table.text(width: width) + "\n\n" + verdict.paragraph(width: width)
  }
}
