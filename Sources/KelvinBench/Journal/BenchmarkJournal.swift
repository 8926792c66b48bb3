package import FoundationEssentials
import KelvinBasics

/// The journal of a benchmark: its record in memory, and each entry as a line as soon as it is known, so that a later
/// failure loses nothing.
///
/// Each line is one `JournalEntry` as JSON. Infinities and NaN are the strings `inf`, `-inf` and `nan`.
package final class BenchmarkJournal {
  package private(set) var record: BenchmarkRecord
  /// The reason for which an entry was not kept; nil when all were.
  private(set) var fault: String?
  private let keep: (Data) -> Void

  /// The largest journal in bytes that is read.
  package static let largestDocument = 1 << 30

  /// - Parameter keep: called at once with each line, including its line feed.
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

  /// Reads a journal. Its last line may be incomplete, as when the process was ended.
  ///
  /// - Throws: `invalidJournal`. The content of the file is not trusted.
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
        throw .invalidJournal("line \(number + 1) is not a journal entry: \(error)")
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
