package import FoundationEssentials
import KelvinBasics

/// What a benchmark learns, kept as it comes: in memory for the result, and line by line for whoever listens, so that
/// nothing is lost when something fails at the end.
///
/// Each line is one `JournalEntry` as JSON; infinities and what is no number are the texts `inf`, `-inf` and `nan`.
package final class BenchmarkJournal {
  package private(set) var record: BenchmarkRecord
  /// Why not everything was kept; nil where it was.
  private(set) var fault: String?
  private let keep: (Data) -> Void

  /// A journal with more than this is not one of ours.
  package static let largestDocument = 1 << 30

  /// - Parameter keep: takes each line with its end, at once.
  package init(_ benchmark: JournalEntry.Benchmark, keep: @escaping (Data) -> Void = { _ in }) {
    record = BenchmarkRecord(benchmark)
    self.keep = keep
    attempt { try write(.benchmark(benchmark)) }
  }

  func add(_ entry: JournalEntry) {
    attempt {
      try record.add(entry)
      try write(entry)
    }
  }

  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch { fault = fault ?? "\(error)" }
  }

  private func write(_ entry: JournalEntry) throws {
    keep(try JSONText.encode(entry, unspeakable: .text, layout: .line) + [0x0A])
  }

  /// Puts a kept journal together again. Its last line may be cut short, as the end of a process leaves it.
  ///
  /// - Throws: `invalidJournal`; never trusts the file.
  package static func read(_ document: Data) throws(BenchmarkError) -> BenchmarkRecord {
    guard document.count <= largestDocument else {
      throw .invalidJournal("\(document.count) bytes, expected at most \(largestDocument); is this the right file?")
    }
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    var record: BenchmarkRecord?
    let lines = document.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() where !line.isEmpty {
      let entry: JournalEntry
      do { entry = try JSONText.decode(JournalEntry.self, from: Data(line), with: decoder) } catch {
        if number == lines.count - 1, record != nil { break }
        throw .invalidJournal("line \(number + 1) is no entry of a journal: \(error)")
      }
      if case .benchmark(let benchmark) = entry, record == nil {
        guard benchmark.format == JournalEntry.Benchmark.format,
          (1...JournalEntry.Benchmark.version).contains(benchmark.version)
        else {
          throw .invalidJournal(
            "it is '\(benchmark.format)' version \(benchmark.version), expected '\(JournalEntry.Benchmark.format)' up to"
              + " version \(JournalEntry.Benchmark.version)")
        }
        record = BenchmarkRecord(benchmark)
      } else if record != nil {
        do throws(BenchmarkError) { try record?.add(entry) } catch {
          throw .invalidJournal("line \(number + 1): \(error.reason)")
        }
      } else {
        throw .invalidJournal("its first line does not say what was measured")
      }
    }
    guard let record else { throw .invalidJournal("it is empty") }
    return record
  }
}
