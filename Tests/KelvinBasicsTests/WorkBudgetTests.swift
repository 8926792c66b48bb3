import KelvinBasics
import Synchronization
import Testing

/// The work budget of a model runs out once, and the error names the place.
@Suite struct WorkBudgetTests {
  /// A clock and a memory size that change only when a test sets them.
  private final class Still: Sendable {
    let now = Mutex((seconds: 100.0, bytes: 1 << 30))
    var meter: WorkMeter {
      WorkMeter(seconds: { self.now.withLock { $0.seconds } }, bytes: { self.now.withLock { $0.bytes } })
    }
  }

  @Test func exceededTimeNamesThePhaseThatTookIt() {
    let still = Still()
    let budget = WorkBudget(.init(seconds: 2), meter: still.meter)
    budget.enter(.building)
    still.now.withLock { $0.seconds += 2 }
    #expect(!budget.isSpent)
    still.now.withLock { $0.seconds += 0.5 }
    #expect(budget.isSpent)
    budget.enter(.compiling)
    #expect(budget.excess?.kind == .time(limit: 2, used: 2.5) && budget.excess?.phase == .building)
    #expect(budget.excess?.description.contains("building its graph") == true)
    #expect(budget.excess?.description.contains("--max-seconds") == true)
    // A spent budget stays spent, whatever the clock says.
    still.now.withLock { $0.seconds = 100 }
    #expect(budget.isSpent)
  }

  @Test func phaseThatEndedTooLateIsNamed() {
    let still = Still()
    let budget = WorkBudget(.init(seconds: 1), meter: still.meter)
    budget.enter(.passes)
    still.now.withLock { $0.seconds += 3 }
    budget.enter(.planning)
    #expect(budget.excess?.phase == .passes)
  }

  @Test func memoryCountsFromTheBeginningOfTheBudget() {
    let still = Still()
    let budget = WorkBudget(.init(bytes: 1 << 20), meter: still.meter)
    #expect(!budget.measuresSpent)
    #expect(budget.admits(bytes: 1 << 20))
    still.now.withLock { $0.bytes += 1 << 19 }
    #expect(!budget.measuresSpent)
    #expect(!budget.admits(bytes: 1 << 20))
    #expect(budget.excess?.kind == .memory(limit: 1 << 20, used: 3 << 19) && budget.excess?.phase == .reading)
  }

  @Test func limitFromTheFreeMemoryIsNamedWithItsRemedy() {
    let still = Still()
    var limits = WorkBudget.Limits(bytes: 900 << 20)
    limits.freeBytes = 1000 << 20
    let budget = WorkBudget(limits, meter: still.meter)
    still.now.withLock { $0.bytes += 901 << 20 }
    #expect(budget.measuresSpent && !budget.isFarOver)
    let text = budget.excess?.description ?? ""
    #expect(text.contains("nine tenths of the free memory") && text.contains("--max-memory"), "\(text)")
    still.now.withLock { $0.bytes += 100 << 20 }
    #expect(budget.isFarOver)
  }

  @Test func overflowingSizeIsNotAdmitted() {
    let still = Still()
    still.now.withLock { $0.bytes = 0 }
    let budget = WorkBudget(.init(bytes: 1 << 20), meter: still.meter)
    still.now.withLock { $0.bytes = 5 }
    #expect(!budget.admits(bytes: .max))
  }

  @Test func frequentChecksMeasureMemorySooner() {
    let still = Still()
    let budget = WorkBudget(.init(bytes: 1000), meter: still.meter)
    _ = budget.isSpent
    still.now.withLock { $0.bytes += 2000 }
    let looks = (1...200).first { _ in budget.isSpent }
    #expect(looks.map { $0 <= 64 } == true)
  }

  @Test func emptyLimitsKeepTheOuterBudget() {
    #expect(WorkBudget.current == nil && !WorkBudget.isSpent)
    let outer = WorkBudget(.init(seconds: 1e9))
    outer.governing {
      WorkBudget.bounding(.init()) { #expect(WorkBudget.current === outer) }
      WorkBudget.bounding(.init(seconds: 5)) { #expect(WorkBudget.current?.limits.seconds == 5) }
      #expect(WorkBudget.current === outer)
    }
    #expect(WorkBudget.current == nil)
  }

  @Test func processMeterReportsMemoryAndTime() {
    let before = WorkMeter.process.seconds()
    #expect(WorkMeter.process.bytes() > 1 << 20)
    #expect(WorkMeter.process.seconds() >= before)
  }
}
