import KelvinBench
import KelvinMeasurements
import KelvinThermal
import TestSupport
import Testing

/// A `/proc` in which another process takes processor time when a test says so.
private final class FakeProcessList {
  private let tree = FixtureTree([:])
  private var busy = 1000
  private var idle = 1000
  private var waited = 0

  init() { write() }

  var files: SystemFiles { tree.files }

  /// A second goes by on two processors, one of them ours.
  func pass(isDisturbed: Bool) {
    busy += isDisturbed ? 60 : 1
    idle += isDisturbed ? 40 : 99
    waited += isDisturbed ? 500_000 : 10_000
    write()
  }

  private func write() {
    tree.write("proc/stat", "cpu  \(busy) 0 0 \(idle) 0 0 0 0 0 0\n")
    tree.write("proc/self/stat", "1 (kelvin) R 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1\n")
    tree.write("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=\(waited)\n")
  }
}

struct RoundLogTests {
  /// Runs rounds with one turn of a second each, until the log needs no more.
  private func run(planned: Int, isDisturbed: (Int) -> Bool) -> RoundLog {
    let machine = FakeProcessList()
    var log = RoundLog(planned: planned, files: machine.files, at: 0)
    var round = 0
    while log.wantsAnother {
      machine.pass(isDisturbed: isDisturbed(round))
      round += 1
      log.endTurn(at: Double(round))
      log.endRound()
    }
    return log
  }

  /// The rounds that count.
  private func kept(_ log: RoundLog) -> [Int] {
    BenchmarkRecord.Phase(planned: log.planned, isDisturbed: log.isDisturbed).kept
  }

  @Test func quietRoundsAreNotRepeated() {
    let log = run(planned: 12) { _ in false }
    #expect(log.isDisturbed == Array(repeating: false, count: 12))
    #expect(kept(log) == Array(0..<12))
  }

  @Test func disturbedRoundsAreRepeated() {
    let log = run(planned: 12) { (3...5).contains($0) }
    #expect(log.isDisturbed.count == 15)
    #expect(kept(log).count == 12)
    #expect(!kept(log).contains(4))
  }

  @Test func constantBackgroundLoadAddsNoRounds() {
    let log = run(planned: 12) { _ in true }
    #expect(log.isDisturbed.count == 12)
    #expect(kept(log).count == 12)
  }

  @Test func undecidedRoundsAreDoubledOnce() {
    let machine = FakeProcessList()
    var log = RoundLog(planned: 4, files: machine.files, at: 0)
    func go() { while log.wantsAnother { log.endRound() } }
    go()
    #expect(log.isDisturbed.count == 4)
    let first = log.extend()
    go()
    #expect(first && log.isDisturbed.count == 8)
    let second = log.extend()
    #expect(!second)
    #expect(!log.wantsAnother)
  }

  @Test func deadlineEndsOnlyDisturbedRounds() {
    func rounds(isDisturbed: Bool, deadline: Double) -> (count: Int, isCutShort: Bool, isExtended: Bool) {
      let machine = FakeProcessList()
      var log = RoundLog(planned: 20, files: machine.files, at: 0, deadline: deadline)
      while log.wantsAnother {
        machine.pass(isDisturbed: isDisturbed)
        log.endTurn(at: Double(log.isDisturbed.count + 1))
        log.endRound()
      }
      return (log.isDisturbed.count, log.isCutShort, log.extend())
    }
    #expect(rounds(isDisturbed: true, deadline: 9) == (9, true, false))
    // A comparison needs six pairs, however late it is.
    #expect(rounds(isDisturbed: true, deadline: 2) == (6, true, false))
    #expect(rounds(isDisturbed: true, deadline: 100) == (20, false, false))
    #expect(rounds(isDisturbed: false, deadline: 9) == (20, false, true))
  }

  @Test func shortRoundsUseTheNextContentionReading() {
    let machine = FakeProcessList()
    var log = RoundLog(planned: 4, files: machine.files, at: 0)
    for time in [0.1, 0.2] {
      #expect(log.endTurn(at: time) == nil)
      log.endRound()
    }
    #expect(log.isDisturbed == [false, false])
    machine.pass(isDisturbed: true)
    let contention = log.endTurn(at: 1)
    log.endRound()
    #expect(contention?.isDisturbed == true)
    #expect(log.isDisturbed == [true, true, true])
    machine.pass(isDisturbed: false)
    log.endTurn(at: 2)
    log.endRound()
    #expect(log.isDisturbed == [true, true, true, false])
  }

  @Test func theSummaryGivesMeansAndLargestShares() {
    var summary = ContentionSummary()
    summary.add(Contention(steal: 0.01, pressure: 0.2, utilisation: 1, neighbours: 0.1))
    summary.add(Contention(steal: 0.03, pressure: 0.4, utilisation: 1, neighbours: 0.3))
    #expect(summary.windows == 2 && summary.disturbed == 2)
    #expect(abs(summary.steal - 0.02) < 1e-12 && summary.largestSteal == 0.03)
    #expect(abs((summary.neighbours ?? 0) - 0.2) < 1e-12 && summary.largestNeighbours == 0.3)
    #expect(abs((summary.pressure ?? 0) - 0.3) < 1e-12)
  }
}
