import Kelvin
import KelvinBasics
import KelvinMeasurements

/// The progress of a measurement, for display.
package struct MeasurementStep: Sendable {
  let progress: MeasurementProgress

  /// The fraction of all work that is done, 0…1.
  package var fraction: Double { progress.fraction }
  /// A headline such as `stream`, with the running configuration if no row shows it.
  package var headline: String { progress.headline }
  /// The estimated seconds until the end, at the time of this step; nil if unknown.
  package var secondsLeft: Double? { progress.secondsLeft }
  /// A table of the results of each configuration so far.
  package var rows: [String] { progress.liveLines }
  /// The current phase, such as `warm inferences`.
  var phase: String { progress.phase }
}

/// Receives notes and progress while a measurement runs.
package struct MeasurementListener: Sendable {
  /// Called once for each message about the model: stale measurements, the choice of one graph of several.
  package var note: @Sendable (String) -> Void
  /// Called with the progress of the measurement.
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

  /// A table of the configurations in which the running one is marked.
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
    let seconds = HumanReadable.seconds
    return [
      label.truncatedInMiddle(to: 24), HumanReadable.perSecond(rate), "p50 \(seconds(p50))",
      "p90 \(seconds(p90))", dropped > 0 ? "\(dropped) dropped" : "", state,
    ]
  }
}
