import KelvinBasics
import KelvinMeasurements
import KelvinPlanning

/// The measured times of the plans that were run, next to the predicted times.
struct TrialReport: Encodable, Sendable {
  let record: TriedPlans
  /// Whether other processes disturbed some rounds.
  let isDisturbed: Bool

  init(_ record: TriedPlans, isDisturbed: Bool) {
    self.record = record
    self.isDisturbed = isDisturbed
  }

  func encode(to encoder: any Encoder) throws {
    let document: JSONObject = [
      "chosen": record.entries[record.chosen].label, "reason": record.reason, "disturbed": isDisturbed,
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
    var verdict = "Adopted: \(record.reason)."
    if goal != .latency {
      verdict =
        "The trial runs one inference at a time; it does not measure the goal \(goal.rawValue), and the plan stays."
    }
    if isDisturbed { verdict += " Background load disturbed the trial: its figures are uncertain." }
    return table.text(width: width) + "\n\n" + verdict.paragraph(width: width)
  }
}
