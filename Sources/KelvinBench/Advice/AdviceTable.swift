import Glibc
import KelvinBasics
import KelvinMeasurements
import KelvinReport
import KelvinStreams

/// The table of an advice: a row for each configuration, columns grouped by question. The terminal and the page show
/// the same cells.
struct AdviceTable {
  struct Column {
    /// The question of the column; empty for columns that concern all questions.
    var group: String
    var title: String
    /// The explanation of the column: `warm: one further inference`.
    var legend: String
    /// The question whose pick is marked in this column.
    var decides: Advice.Question?
    /// The order in which a narrow terminal drops columns; nil for columns that are never dropped.
    var dispensable: Int?
    var isForPageAlone = false
    var cell: (Advice.Row) -> String?
  }

  let advice: Advice

  /// The columns that have a value in at least one row.
  var columns: [Column] {
    let seconds = HumanReadable.seconds
    let rate = Workload.number(advice.request.framesPerSecond)
    let all: [Column] = [
      Column(
        group: "one photo", title: "first",
        legend: "first: from the start of a process to its first answer, caches filled", decides: .photo
      ) { $0.firstAnswer.map(seconds) },
      Column(group: "one photo", title: "cold", legend: "cold: with empty caches", dispensable: 0) {
        $0.coldAnswer.map(seconds)
      },
      Column(group: "one photo", title: "warm", legend: "warm: one further inference") { $0.warm.map(seconds) },
      Column(
        group: "\(rate) frames/s", title: "p99",
        legend: "p99: of \(rate) frames/s, or the share that newer frames replaced", decides: .stream
      ) { row in
        row.stream.map { stream in
          let lost = Advice.lostShare(stream)
          return lost > 0
            ? "\(HumanReadable.percent(lost, decimals: lost < 0.1 ? 1 : 0)) lost" : seconds(stream.latency.p99)
        }
      },
      Column(group: "throughput", title: "most/s", legend: "most/s: the highest rate", decides: .throughput) { row in
        row.throughput.map { HumanReadable.significant($0.throughput) }
      },
      Column(
        group: "for \(seconds(advice.request.horizon))", title: "lasts",
        legend: "lasts: answers a second after \(seconds(advice.request.horizon))", decides: .sustained
      ) { row in
        row.lasting.map { HumanReadable.significant($0.settledRate) }
      },
      Column(group: "memory", title: "MiB", legend: "MiB: peak memory of the process", dispensable: 1) { row in
        row.memory.map { Self.mebibytes($0.peakResident) }
      },
      Column(
        group: "memory", title: "of it on devices", legend: "of it on devices: weights and one session",
        isForPageAlone: true
      ) { row in
        row.memory.map { memory in
          memory.devices.sorted { $0.key < $1.key }.map { "\(Self.mebibytes($0.value)) \($0.key)" }
            .joined(separator: ", ")
        }
      },
      Column(group: "", title: "energy", legend: "energy: of one inference, measured or relative to the least") { row in
        if let energy = row.measuredEnergy {
          let joules = energy.atMost.map { HumanReadable.significant($0 * 1e3) + " mJ" }
          return (energy.below == nil ? "" : "< ") + (joules ?? "—")
        }
        return row.energyRatio.map { HumanReadable.significant($0) }
      },
      Column(group: "", title: "off", legend: "off: largest difference to the reference device", dispensable: 2) {
        row in
        row.agreement.map { Self.difference($0.largestDifference) }
      },
    ]
    return all.filter { column in advice.rows.contains { column.cell($0) != nil } }
  }

  func isPick(_ column: Column, _ row: Int) -> Bool {
    guard let question = column.decides else { return false }
    return advice.picks.contains { $0.question == question && $0.row == row }
  }

  /// Returns the table for a terminal; picks are marked by a star.
  func lines(width: Int) -> [String] {
    let columns = columns.filter { !$0.isForPageAlone }
    var table = TextTable(
      [TextTable.Column("Configuration", shrinksTo: 12, cut: .end)] + columns.map { TextTable.Column($0.title, .right) }
    )
    for index in advice.rows.indices {
      table.add(
        [advice.rows[index].label]
          + columns.map { column in
            let text = column.cell(advice.rows[index]) ?? "—"
            return column.decides == nil ? text : text + (isPick(column, index) ? "*" : " ")
          })
    }
    let dispensable = columns.filter { $0.dispensable != nil }.sorted { ($0.dispensable ?? 0) < ($1.dispensable ?? 0) }
    let lines = table.lines(width: width, leavingOut: dispensable.map(\.title))
    let shown = lines.first?.split(separator: " ").map(String.init) ?? []
    return lines + ("* the pick. " + Self.legend(of: columns.filter { shown.contains($0.title) })).wrapped(to: width)
  }

  private static func mebibytes(_ bytes: Int) -> String { "\((bytes + (1 << 19)) >> 20)" }

  /// Returns `0` or the nearest power of ten.
  private static func difference(_ value: Double) -> String {
    guard value > 0, value.isFinite else { return value == 0 ? "0" : "—" }
    return "1e\(Int(log10(value).rounded()))"
  }

  private static func legend(of columns: [Column]) -> String {
    columns.map(\.legend).joined(separator: "; ") + "."
  }

  var report: ReportAdvice {
    let columns = columns
    return ReportAdvice(
      picks: advice.picks.map { (advice.title($0.question), $0.answer) }, columns: columns.map { ($0.group, $0.title) },
      rows: advice.rows.enumerated().map { index, row in
        (row.label, columns.map { ($0.cell(row), isPick($0, index)) })
      }, crossovers: advice.crossovers.map(\.sentence), legend: Self.legend(of: columns))
  }
}
