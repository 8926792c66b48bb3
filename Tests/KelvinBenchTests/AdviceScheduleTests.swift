import Glibc
import KelvinBasics
import KelvinBench
import KelvinMeasurements
import Testing

/// The measurements of one part of an advice within its time.
struct AdviceScheduleTests {
  @Test(
    "the fastest configurations are kept, with enough rounds to compare them",
    arguments: 1...40 as ClosedRange<UInt64>)
  func keepsTheQuickest(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let estimates: [AdviceSchedule.Estimate] = (0..<Int.random(in: 1...9, using: &random)).map { _ in
      let inference = exp(9 * (random.unit() - 1))
      return AdviceSchedule.Estimate(
        coldStart: inference * 3 + 2 * random.unit(), start: inference * 2 + random.unit(), inference: inference)
    }
    let seconds = 120 * random.unit()
    for part in AdvicePart.allCases {
      let schedule = AdviceSchedule(part, estimates, framesPerSecond: 30, seconds: seconds)
      #expect(Set(schedule.rows).isDisjoint(with: schedule.leftOut), "seed \(seed)")
      #expect(schedule.rows.count + schedule.leftOut.count == estimates.count, "seed \(seed)")
      #expect(!schedule.rows.isEmpty, "seed \(seed)")
      #expect(throws: Never.self, "seed \(seed)") { try schedule.workload.validate(document: "test") }
      // A dropped configuration is slower in some respect than every kept one.
      for out in schedule.leftOut {
        for kept in schedule.rows {
          let (slow, fast) = (estimates[out], estimates[kept])
          #expect(
            slow.start > fast.start || slow.inference > fast.inference || slow.coldStart > fast.coldStart,
            "seed \(seed)")
        }
      }
      let rounds = part == .photo ? schedule.workload.starts : Int(schedule.workload.duration / 0.3 + 1e-9)
      #expect(rounds >= 2 * PairedComparison.fewestPairs, "seed \(seed)")
    }
  }

  @Test("the most exact of equally fast configurations is measured first")
  func exactAmongEquals() {
    func estimate(_ inference: Double, _ roundoff: Double) -> AdviceSchedule.Estimate {
      .init(coldStart: 0.1, start: 0.05, inference: inference, roundoff: roundoff)
    }
    let rounded = estimate(0.0100, 4e-3)
    for part in AdvicePart.allCases {
      func first(_ estimates: AdviceSchedule.Estimate...) -> [Int] {
        AdviceSchedule(part, estimates, framesPerSecond: 30, seconds: 0).rows
      }
      #expect(first(rounded, estimate(0.0115, 6e-8)) == [1], "\(part)")
      #expect(first(estimate(0.0400, 6e-8), rounded) == [1], "\(part)")
    }
  }

  @Test("more time drops no configuration and shortens no measurement")
  func moreTimeIsNeverLess() {
    let estimates: [AdviceSchedule.Estimate] = [
      .init(coldStart: 0.02, start: 0.01, inference: 1e-3), .init(coldStart: 1, start: 0.5, inference: 0.02),
      .init(coldStart: 4, start: 2, inference: 0.4),
    ]
    for part in AdvicePart.allCases {
      var earlier: AdviceSchedule?
      for seconds in stride(from: 0.0, through: 300, by: 10) {
        let schedule = AdviceSchedule(part, estimates, framesPerSecond: 30, seconds: seconds)
        if let earlier { #expect(Set(earlier.rows).isSubset(of: schedule.rows), "\(part) in \(seconds) s") }
        if let earlier, earlier.rows == schedule.rows {
          #expect(schedule.workload.duration >= earlier.workload.duration, "\(part) in \(seconds) s")
        }
        earlier = schedule
      }
      #expect(earlier?.rows == [0, 1, 2])
    }
  }
}
