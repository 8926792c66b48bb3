import FoundationEssentials
import KelvinBasics
import KelvinBench
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinReport
import KelvinRuntime
import KelvinThermal
import TestSupport
import Testing

struct BenchmarkJournalTests {
  private let clock = VirtualClock()

  /// A stream of two devices, and the lines of its journal.
  private func stream(cancellation: Cancellation? = nil) throws -> (result: BenchmarkResult, journal: Data) {
    var journal = Data()
    var options = BenchmarkOptions()
    options.date = "a Sunday"
    options.keep = { journal += $0 }
    let result = try twoDeviceStream(clock, options: options).run()
    return (result, journal)
  }

  @Test("a journal reproduces the page, document and table of its run")
  func roundTrip() throws {
    let (result, journal) = try stream()
    let again = BenchmarkResult(try BenchmarkJournal.read(journal))
    #expect(try again.json() == result.json())
    #expect(again.csv() == result.csv())
    #expect(again.lines == result.lines)
    let page = HTMLReport.render(again.report())
    #expect(page == HTMLReport.render(result.report()) && page.contains("a Sunday"))
  }

  @Test("a truncated journal gives the results before its end")
  func cutShort() throws {
    let journal = try stream().journal
    let whole = try BenchmarkJournal.read(journal)
    var lines = journal.split(separator: 0x0A).map { Data($0) }
    let half = lines.count / 2
    lines = Array(lines.prefix(half)) + [Data(lines[half].prefix(20))]
    let part = try BenchmarkJournal.read(Data(lines.joined(separator: [0x0A])))
    #expect(part.configurations.count == 2)
    #expect(part.configurations[0].starts == whole.configurations[0].starts)
    let result = BenchmarkResult(part)
    #expect(result.configurations[0].total == BenchmarkResult(whole).configurations[0].total)
    #expect(try !result.json().isEmpty && !HTMLReport.render(result.report()).isEmpty)
  }

  @Test("an invalid journal is refused with its place")
  func refused() throws {
    let journal = try stream().journal
    let lines = journal.split(separator: 0x0A).map { Data($0) }
    func reason(_ lines: [Data]) -> String {
      do {
        _ = try BenchmarkJournal.read(Data(lines.joined(separator: [0x0A])))
        return "taken"
      } catch { return error.description }
    }
    #expect(reason([]).contains("empty"))
    #expect(reason(Array(lines.dropFirst())).contains("first line"))
    #expect(reason([lines[0], lines[0]]).contains("line 2: it begins twice"))
    #expect(reason([lines[0]] + lines.dropFirst(3)).contains("line 2: configuration"))
    #expect(reason([lines[0], Data("{}".utf8), lines[1]]).contains("line 2 is not a journal entry"))
    let foreign = Data(String(decoding: lines[0], as: UTF8.self).replacing("kelvin-journal", with: "diary").utf8)
    #expect(reason([foreign]).contains("'diary'"))
  }

  @Test("non-finite numbers do not prevent a document")
  func unspeakable() throws {
    let result = try stream().result
    var broken = result
    broken.configurations[0].sustained?.energy = InferenceEnergy(.nan, doubt: nil)
    broken.configurations[1].sustained?.throughput = .infinity
    broken.configurations[1].contention = ContentionSummary()
    broken.configurations[0].warm = try LatencyStatistics([1, 2])
    broken.configurations[0].solution.predicted = .infinity
    let text = String(decoding: try broken.json(), as: UTF8.self)
    #expect(text.contains("\"predicted\" : null"))
    #expect(!text.contains("no number"))
  }
}
