import KelvinBasics
import KelvinMeasurements
import KelvinStreams
import KelvinThermal

extension Advice {
  /// Returns a sentence with the pick, its measured times and the cost of the second best configuration.
  func answer(_ pick: Pick) -> String {
    let label = rows[pick.row].label
    let choice =
      if rows.count == 1 {
        label
      } else if pick.isClear {
        "pick \(label)"
      } else if let rule = pick.rule {
        "pick \(label), \(rule)"
      } else if pick.equals.isEmpty {
        "\(label), not compared\(pick.refusal.map { " (\($0))" } ?? "")"
      } else {
        "\(label), though no difference was measured to \(pick.equals.map { rows[$0].label }.inWords)"
      }
    let second = pick.isClear ? pick.next.map { "; the second best, \(cost(of: $0, after: pick))" } ?? "" : ""
    return "\(choice): \(facts(pick.row, for: pick.question))\(second)."
  }

  /// Returns a title such as `Stream of 30 frames/s`.
  func title(_ question: Question) -> String {
    let rate = "\(Workload.number(request.framesPerSecond)) frames/s"
    return switch question {
    case .photo: "One photo"
    case .stream: "Stream of \(rate)"
    case .throughput: "Throughput"
    case .sustained: "\(rate) for \(HumanReadable.seconds(request.horizon)) on \"\(request.envelope.name)\""
    }
  }

  private func facts(_ index: Int, for question: Question) -> String {
    let row = rows[index]
    let seconds = HumanReadable.seconds
    switch question {
    case .photo:
      let later = row.warm.map { ", every further photo in \(seconds($0))" } ?? ""
      return (row.firstAnswer.map { "the first answer \(seconds($0)) after the start" } ?? "") + later
    case .stream:
      guard let stream = row.stream else { return "" }
      let lost = Self.lostShare(stream)
      let kept = lost == 0 ? "every frame is answered" : "\(HumanReadable.percent(lost)) of the frames are lost"
      let p99 = stream.latency.p99
      return "\(kept), half of them within \(seconds(stream.latency.p50)) and 99 of 100 within \(seconds(p99)), "
        + (p99 <= deadline ? "before the next arrives" : "the next arrives after \(seconds(deadline))")
        + (rows.contains(where: isInTime) ? "" : "; no configuration answers 99 of 100 frames before the next arrives")
    case .throughput:
      guard let load = row.throughput else { return "" }
      return HumanReadable.perSecond(load.throughput) + (load.pipeline.map { " with \($0.inFlight) in flight" } ?? "")
    case .sustained:
      guard let run = row.lasting else { return "" }
      let heat = run.throttledAt.map { "heat slows it down after \(seconds($0))" } ?? "heat never slows it down"
      return "\(HumanReadable.perSecond(run.settledRate)) at the end, \(heat)"
    }
  }

  /// Returns a clause such as `opencl:0, takes 1.7 × as long (105 ms)`.
  private func cost(of next: (row: Int, ratio: Double), after pick: Pick) -> String {
    let label = rows[next.row].label
    let times = "\(HumanReadable.significant(next.ratio)) ×"
    switch pick.question {
    case .photo:
      return "\(label), takes \(times) as long"
        + (rows[next.row].firstAnswer.map { " (\(HumanReadable.seconds($0)))" } ?? "")
    case .stream:
      return "\(label), takes \(times) as long for a frame, by medians"
    case .throughput:
      return "\(label), does \(rows[next.row].throughput.map { HumanReadable.perSecond($0.throughput) } ?? "less")"
    case .sustained:
      guard let run = rows[next.row].lasting, let own = rows[pick.row].lasting else { return label }
      return run.settledRate < (1 - StreamComparison.sameRate) * own.settledRate
        ? "\(label), ends at \(HumanReadable.perSecond(run.settledRate))" : "\(label), takes \(times) the energy"
    }
  }

  /// Seconds from one frame to the next.
  var deadline: Double { 1 / request.framesPerSecond }

  /// Whether 99 of 100 frames of the stream are answered before the next arrives.
  func isInTime(_ row: Row) -> Bool {
    row.stream.map { $0.latency.p99 <= deadline && Self.lostShare($0) <= 0.01 } ?? false
  }

  static func lostShare(_ stream: ConfigurationResult.Sustained) -> Double {
    let lost = Double(stream.dropped + stream.skipped)
    return lost / max(lost + Double(stream.served), 1)
  }

  /// Limits of the measurements, configurations left out, and configurations that are equal.
  package var notes: [String] {
    var notes: [String] = []
    notes += sameNotes
    notes += rows.compactMap { row in
      row.candidate.twin.map { "\(row.label) runs the plan of \($0); only its plan for throughput is another" }
    }
    for (label, omissions) in Dictionary(grouping: evidence.omissions, by: \.label).sorted(by: { $0.key < $1.key }) {
      let parts = omissions.compactMap(\.part?.rawValue)
      notes.append(
        "not tried: \(label)\(parts.isEmpty ? "" : " for \(parts.inWords)"): \(omissions.first?.reason ?? "")")
    }
    notes += evidence.failures
    for row in rows { row.failure.map { notes.append("\(row.label): \($0)") } }
    let energies = Set(rows.compactMap { $0.stream?.energySource ?? $0.throughput?.energySource }).subtracting([""])
    notes += energies.sorted().map { "energy of one inference: \($0)" }
    if let lasting {
      notes.append(
        "how long it lasts is predicted by the thermal model of \"\(request.envelope.name)\" in virtual time,"
          + " with the times and energies measured here; no temperature is measured"
          + (lasting.runs.allSatisfy { $0.throttledAt == nil }
            ? ", and none of them reaches the limit"
            : "; every row runs its plan for latency, and 'plan --goal sustained' makes one for the power budget"))
    }
    if let disturbed = disturbance { notes.append(disturbed) }
    return notes
  }

  /// Notes on configurations that are equal to others. Rows that stand for the same precision levels share one note.
  private var sameNotes: [String] {
    var rowsByLevels: [[String]: [String]] = [:]
    var notes: [String] = []
    for row in rows {
      let prefix = "\(row.label), "
      let levels = row.candidate.equivalentLabels.filter { $0.hasPrefix(prefix) }
        .map { String($0.dropFirst(prefix.count)) }
      if !levels.isEmpty { rowsByLevels[levels, default: []].append(row.label) }
      let others = row.candidate.equivalentLabels.filter { !$0.hasPrefix(prefix) }
      let heads = others.filter { label in !others.contains { label != $0 && label.hasPrefix("\($0), ") } }
      if !heads.isEmpty { notes.append("\(heads.inWords) \(heads.count == 1 ? "comes" : "come") to \(row.label)") }
    }
    return rowsByLevels.sorted { $0.key.joined() < $1.key.joined() }.map { levels, labels in
      "one row for the precision levels automatic, \(levels.inWords): they are equivalent on"
        + " \(labels.inWords)"
    } + notes
  }

  private var disturbance: String? {
    let parts = AdvicePart.allCases.compactMap { part -> String? in
      guard let result = evidence.results[part] else { return nil }
      let count = result.disturbedRounds.values.reduce(0) { $0 + $1.count }
      return count > 0 ? "\(count) of the \(part.rawValue)" : nil
    }
    return parts.isEmpty ? nil : "other processes took processor time in rounds: \(parts.inWords); see the journals"
  }
}
