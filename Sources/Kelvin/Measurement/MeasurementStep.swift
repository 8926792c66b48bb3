#if Measuring
import KelvinBasics
import KelvinMeasurements

/// How far a measurement has come, in words.
package struct MeasurementStep: Sendable {
  /// Of the whole, 0…1.
  package let fraction: Double
  /// `stream`, and whose turn it is where no row says so.
  package let headline: String
  /// To the end of the whole when this was said, as far as it can be told.
  package let secondsLeft: Double?
  /// A table of what is known of each configuration so far.
  package let rows: [String]
  /// What is going on: `warm inferences`.
  let phase: String

  init(_ progress: MeasurementProgress) {
    fraction = progress.fraction
    headline = progress.headline
    secondsLeft = progress.secondsLeft
    rows = progress.liveLines
    phase = progress.phase
  }
}

/// What is said while a measurement runs.
package struct MeasurementListener: Sendable {
  /// Told once what the user should know of the model: stale measurements, a graph of several.
  package var note: @Sendable (String) -> Void
  /// Told how far the measurement has come.
  package var step: @Sendable (MeasurementStep) -> Void

  package init(
    note: @escaping @Sendable (String) -> Void = { _ in }, step: @escaping @Sendable (MeasurementStep) -> Void
  ) {
    self.note = note
    self.step = step
  }
}

extension MeasurementProgress {
  fileprivate var headline: String {
    !detail.isEmpty && !rows.contains { $0.isRunning } ? "\(phase)  \(detail)" : phase
  }

  /// A table of the configurations, the running one marked.
  fileprivate var liveLines: [String] {
    let cells = rows.map(\.fields)
    let widths = (cells.first ?? []).indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    return zip(rows, cells).map { row, fields in
      let columns = fields.enumerated().map { index, text in
        let padding = String(repeating: " ", count: widths[index] - text.count)
        return index == 0 ? text + padding : padding + text
      }
      return (row.isRunning ? "> " : "  ") + columns.joined(separator: "  ")
    }
  }
}

extension MeasurementProgress.Row {
  fileprivate var fields: [String] {
    func seconds(_ value: Double?) -> String { value.map { HumanReadable.seconds($0) } ?? "—" }
    return [
      label.truncatedInMiddle(to: 24), rate.map { HumanReadable.perSecond($0) } ?? "—", "p50 \(seconds(p50))",
      "p90 \(seconds(p90))", dropped > 0 ? "\(dropped) dropped" : "", state,
    ]
  }
}
#endif
