import KelvinBasics
import KelvinMeasurements
import KelvinPlanning

/// The measured times of the plans that were run, next to the predicted times.
struct TrialReport: Encodable, Sendable {
  private struct Entry: Encodable, Sendable {
    var label: String
    var predicted: Double
    var measured: Double
    /// `measured / predicted - 1`.
    var error: Double
    var rounds: Int
  }

  private enum CodingKeys: String, CodingKey {
    case plans, chosen, reason, disturbed
  }

  let record: TriedPlans
  private let plans: [Entry]
  private let chosen: String
  private let reason: String
  private let disturbed: Bool

  /// - Parameter isDisturbed: whether other processes disturbed some rounds.
  init(_ record: TriedPlans, isDisturbed: Bool) {
    self.record = record
    plans = record.entries.map { entry in
      Entry(
        label: entry.label, predicted: entry.predicted, measured: entry.seconds,
        error: entry.predicted > 0 ? entry.seconds / entry.predicted - 1 : 0, rounds: entry.samples)
    }
    chosen = record.entries[record.chosen].label
    reason = record.reason
    disturbed = isDisturbed
  }

  package func text(goal: Goal, width: Int) -> String {
    var table = TextTable(
      .init("TRIED", shrinksTo: 20, cut: .beginning), .init("PREDICTED", .right), .init("MEASURED", .right),
      .init("ERROR", .right))
    for plan in plans {
      table.add(
        plan.label, HumanReadable.seconds(plan.predicted), HumanReadable.seconds(plan.measured),
        (plan.error >= 0 ? "+" : "−") + HumanReadable.percent(abs(plan.error)))
    }
    var verdict = "Adopted: \(reason)."
    if goal != .latency {
      verdict =
        "The trial runs one inference at a time; it does not measure the goal \(goal.rawValue), and the plan stays."
    }
    if disturbed { verdict += " Background load disturbed the trial: its figures are uncertain." }
    return table.text(width: width) + "\n\n" + verdict.paragraph(width: width)
  }
}
