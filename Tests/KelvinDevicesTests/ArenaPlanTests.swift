import KelvinBasics
import KelvinDevices
import TestSupport
import Testing

@Suite struct ArenaPlanTests {
  /// The same, looking at every value that was placed before.
  private func plain(_ lifetimes: [ArenaPlan.Lifetime]) -> [Int] {
    let order = lifetimes.indices.sorted {
      (lifetimes[$1].byteCount, $0) < (lifetimes[$0].byteCount, $1)
    }
    var offsets = lifetimes.map { _ in 0 }
    var placed: [Int] = []
    for index in order {
      for other in placed where lifetimes[other].steps.overlaps(lifetimes[index].steps) {
        if offsets[index] + lifetimes[index].byteCount <= offsets[other] { break }
        offsets[index] = max(offsets[index], offsets[other] + lifetimes[other].byteCount)
      }
      placed.append(index)
      placed.sort { offsets[$0] < offsets[$1] }
    }
    return offsets
  }

  @Test func eachValueHasTheLowestFreeOffset() {
    for seed in UInt64(1)...300 {
      var random = SeededGenerator(seed: seed)
      let (count, span) = (random.index(below: 200), 1 + random.index(below: 300))
      let lifetimes = (0..<count).map { _ in
        let first = random.index(below: span)
        let length = random.index(below: random.index(below: 8) == 0 ? span : 1 + span / 20)
        return ArenaPlan.Lifetime(byteCount: 1 + random.index(below: 6), steps: first...first + length)
      }
      let plan = ArenaPlan(lifetimes, alignment: 1)
      #expect(plan.offsets == plain(lifetimes), "seed \(seed)")
      #expect(plan.byteCount == zip(lifetimes, plan.offsets).map { $0.byteCount + $1 }.max() ?? 0, "seed \(seed)")
    }
  }

  @Test(.slow, arguments: [1, Int.max / 2])
  func planningTimeGrowsLinearly(life: Int) async {
    await #expect(processExitsWith: .success) { [life] in
      let process = OwnProcess()
      func seconds(_ count: Int) -> Double {
        let row = (0..<count).map { ArenaPlan.Lifetime(byteCount: bufferAlignment, steps: $0...$0 + life) }
        let before = process.processorSeconds
        #expect(ArenaPlan(row).byteCount == bufferAlignment * (life == 1 ? 2 : count))
        return process.processorSeconds - before
      }
      _ = seconds(1000)
      // Four times as many: quadratic growth would be 16 times the work.
      let (few, many) = (seconds(8000), seconds(32_000))
      #expect(many < 8 * few + 0.02, "\(few) s for 8000, \(many) s for 32 000")
    }
  }
}
