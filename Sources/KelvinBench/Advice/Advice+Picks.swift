import KelvinBasics
import KelvinGraph
import KelvinMeasurements
import KelvinStreams

extension Advice {
  /// Returns nil when no measurement answers the question.
  func pick(for question: Question) -> Pick? {
    switch question {
    case .photo: pick(question, evidence.results[.photo]?.deciding(.start) ?? evidence.results[.photo]?.deciding(.warm))
    case .stream: pick(question, evidence.results[.stream]?.deciding(.served))
    case .throughput: pick(question, evidence.results[.throughput]?.deciding(.served))
    case .sustained: lastingPick
    }
  }

  private func pick(_ question: Question, _ decided: ComparedQuestion?) -> Pick? {
    guard let decided else { return nil }
    let places = decided.labels.map { label in rows.firstIndex { $0.label == label } }
    let finding = decided.finding
    // One of several configurations with the same plan stands for all.
    let tied = finding.tied.filter { index in finding.tied.first { finding.plans[$0] == finding.plans[index] } == index
    }
    if let pick = timely(question, finding, places, tied: tied) { return pick }
    if let refusal = finding.refusal {
      // Only the medians are known. Configurations far from the least median are left out.
      let limit = finding.medians[finding.best] * (1 + (finding.detectable ?? Self.uncomparedReach))
      let near = tied.filter { finding.medians[$0] <= limit }.compactMap { places[$0] }
      return preferred(among: near).map {
        Pick(question, row: $0, isClear: false, equals: [], next: nil, refusal: rows.count > 1 ? refusal : nil)
      }
    }
    let tiedRows = tied.compactMap { places[$0] }
    guard let row = finding.winner.flatMap({ places[$0] }) ?? preferred(among: tiedRows) else { return nil }
    var next = finding.runnerUp.flatMap { next in places[next.index].map { (row: $0, ratio: next.ratio) } }
    let equals = tiedRows.filter { $0 != row }
    if let equal = equals.first { next = (equal, 1) }
    return Pick(question, row: row, isClear: finding.winner != nil, equals: equals, next: next)
  }

  /// The relative distance to the least median up to which uncompared configurations may be equal.
  private static let uncomparedReach = 1.0

  /// Returns the pick for a stream if some configurations answer its frames in time and one that might be picked does
  /// not: among the former, those tied with the best, else the fastest. Nil if time decides nothing.
  private func timely(_ question: Question, _ finding: Finding, _ places: [Int?], tied: [Int]) -> Pick? {
    guard question == .stream else { return nil }
    let timely = finding.medians.indices.filter { places[$0].map { isInTime(rows[$0]) } ?? false }
    let possible = finding.winner.map { [$0] } ?? tied
    guard !timely.isEmpty, possible.contains(where: { !timely.contains($0) }) else { return nil }
    let near = tied.filter(timely.contains)
    let fastest = timely.min { finding.medians[$0] < finding.medians[$1] }
    guard let row = preferred(among: near.compactMap { places[$0] }) ?? fastest.flatMap({ places[$0] }) else {
      return nil
    }
    let rule =
      (timely.count == 1 ? "the only one" : "one of \(timely.count)")
      + " with 99 of 100 frames answered before the next"
    return Pick(question, row: row, isClear: false, equals: [], next: nil, rule: rule)
  }

  /// Selects among equal rows: the smallest rounding error, then the least energy, then the fewest devices and threads.
  private func preferred(among rows: [Int]) -> Int? {
    rows.min { first, second in
      func rank(_ index: Int) -> (Double, Double, Int, Int, Int) {
        let row = self.rows[index]
        return (
          row.candidate.precision.unitRoundoff(.float32), row.joules ?? .infinity, row.candidate.devices.count,
          row.candidate.threads, index
        )
      }
      return rank(first) < rank(second)
    }
  }

  /// The configuration with the highest settled rate. Among configurations with the same rate, the one that takes the
  /// least energy per inference: heat limits a long stream more than latency does.
  private var lastingPick: Pick? {
    guard let lasting else { return nil }
    let known = lasting.runs.indices.compactMap { index in
      rows.firstIndex { $0.label == lasting.runs[index].label }.map { (row: $0, run: lasting.runs[index]) }
    }
    guard let most = known.map(\.run.settledRate).max() else { return nil }
    let (keeping, losing) = (
      known.filter { $0.run.settledRate >= (1 - StreamComparison.sameRate) * most },
      known.filter { $0.run.settledRate < (1 - StreamComparison.sameRate) * most }
    )
    func joules(_ row: Int) -> Double? { rows[row].stream?.joulesPerInference }
    let rank = { (row: Int) in joules(row) ?? .infinity }
    guard let leanest = keeping.min(by: { rank($0.row) < rank($1.row) })?.row else { return nil }
    // A configuration of unknown energy is not excluded.
    let lean = keeping.map(\.row).filter { row in
      row == leanest || !(joules(row).map { $0 > (1 + Self.sameEnergy) * rank(leanest) } ?? false)
    }
    guard let best = preferred(among: lean) else { return nil }
    let equals = lean.filter { $0 != best }
    let hungrier = keeping.map(\.row).filter { !lean.contains($0) }.min { rank($0) < rank($1) }
    let slower = losing.max { $0.run.settledRate < $1.run.settledRate }
    let next: (row: Int, ratio: Double)? =
      equals.first.map { ($0, 1) } ?? hungrier.map { ($0, rank($0) / rank(best)) }
      ?? slower.map { ($0.row, most / max($0.run.settledRate, 1e-9)) }
    return Pick(.sustained, row: best, isClear: equals.isEmpty && known.count > 1, equals: equals, next: next)
  }

  /// The relative difference below which two energies count as equal.
  private static let sameEnergy = 0.05

  /// Computes from how many predictions on another configuration takes less total time than the pick for a single
  /// image, compilation included.
  var predictionsToBreakEven: [Crossover] {
    guard let pick = picks.first(where: { $0.question == .photo }), let result = evidence.results[.photo],
      let warm = result.deciding(.warm), let start = rows[pick.row].firstAnswer, let own = rows[pick.row].warm
    else { return [] }
    let quicker = warm.labels.indices.filter { index in
      let finding = warm.finding
      // The difference must exceed noise: only the best counts, and only when the pick is not tied with it.
      return index == finding.best && !finding.tied.contains { warm.labels[$0] == rows[pick.row].label }
    }
    return quicker.compactMap { index -> Crossover? in
      guard let row = rows.firstIndex(where: { $0.label == warm.labels[index] }), let later = rows[row].firstAnswer,
        let seconds = rows[row].warm, seconds < own, later > start
      else { return nil }
      let count = ((later - start) / (own - seconds)).rounded(.up) + 1
      let text = HumanReadable.seconds
      return Crossover(
        overtaken: pick.row, overtaking: row, measure: .predictions, at: count, headroom: nil,
        sentence: "From \(Workload.number(count)) photos on \(rows[row].label) is done sooner than"
          + " \(rows[pick.row].label): it answers \(text(later - start)) later at first, then takes \(text(own - seconds))"
          + " less for each.")
    }
  }

  /// The crossovers that heat causes, restricted to those in which the pick for the stream or the sustained question
  /// takes part.
  var heatCrossovers: [Crossover] {
    guard let lasting else { return [] }
    let places = lasting.runs.map { run in rows.firstIndex { $0.label == run.label } }
    let picked = Set(picks.filter { [.stream, .sustained].contains($0.question) }.map(\.row))
    return lasting.crossovers.compactMap { crossing -> Crossover? in
      guard let from = places[crossing.overtaken], let to = places[crossing.overtaking],
        picked.contains(from) || picked.contains(to)
      else { return nil }
      let window = lasting.runs[crossing.overtaken].windows.last { $0.start <= crossing.at }
      let heat =
        window.map { ", when its headroom is \(HumanReadable.fixed($0.headroom, decimals: 2)) of the limit" } ?? ""
      return Crossover(
        overtaken: from, overtaking: to, measure: .seconds, at: crossing.at, headroom: window?.headroom,
        sentence: "After \(HumanReadable.seconds(crossing.at)) of the stream \(rows[to].label) overtakes"
          + " \(rows[from].label)\(heat).")
    }
  }
}

extension BenchmarkResult {
  /// Returns the finding that answers `subject`. For frames served, latency decides among configurations that serve
  /// equally many.
  func deciding(_ subject: ComparedQuestion.Subject) -> ComparedQuestion? {
    guard var question = questions.first(where: { $0.subject == subject }) else { return nil }
    if subject == .served, let latency = questions.first(where: { $0.subject == .latency }) {
      question.finding = SustainedFinding.deciding(served: question.finding, latency: latency.finding)
    }
    return question
  }
}
