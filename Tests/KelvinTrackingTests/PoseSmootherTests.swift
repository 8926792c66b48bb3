import KelvinTracking
import Testing

/// Smoothing of joints that vanish and return.
@Suite struct PoseSmootherTests {
  private static let wrist = PosePoint(x: 10, y: 20)

  @Test func jointIsSmoothedLikeEachOfItsCoordinates() {
    var smoother = PoseSmoother<String>()
    var (x, y) = (OneEuroFilter(), OneEuroFilter())
    for step in 0..<20 {
      let (time, size) = (Double(step) / 30, 200.0)
      let point = PosePoint(x: Double(step * step), y: 50 - Double(step))
      let answer = smoother.update(["wrist": point], size: size, at: time)
      // The speed counts in sizes of the pose.
      let right = (x.update(point.x, at: time, unit: size), y.update(point.y, at: time, unit: size))
      #expect(answer == ["wrist": PosePoint(x: right.0, y: right.1)])
    }
  }

  @Test func smoothingDoesNotDependOnTheUnit() throws {
    var (small, large) = (PoseSmoother<Int>(), PoseSmoother<Int>())
    for step in 0..<20 {
      let x = Double(step * step)
      let time = Double(step) / 30
      let first = small.update([1: PosePoint(x: x, y: 0)], size: 10, at: time)
      let second = large.update([1: PosePoint(x: 64 * x, y: 0)], size: 640, at: time)
      #expect(abs(try #require(second[1]).x - 64 * (try #require(first[1]).x)) < 1e-6)
    }
  }

  @Test func missingJointIsNotAnsweredAndContinuesAfterAShortGap() {
    var smoother = PoseSmoother<String>(longestGap: 0.5)
    _ = smoother.update(["wrist": Self.wrist], size: 100, at: 0)
    #expect(smoother.update([:], size: 100, at: 0.2).isEmpty)
    let back = smoother.update(["wrist": PosePoint(x: 20, y: 20)], size: 100, at: 0.4)
    #expect(back["wrist"].map { $0.x > 10 && $0.x < 20 } == true)
  }

  @Test func jointBeginsAnewAfterALongGapAndAfterAJumpBack() {
    var smoother = PoseSmoother<String>(longestGap: 0.5)
    let other = PosePoint(x: 200, y: 300)
    _ = smoother.update(["wrist": Self.wrist], size: 100, at: 10)
    #expect(smoother.update(["wrist": other], size: 100, at: 10.6) == ["wrist": other])
    #expect(smoother.update(["wrist": Self.wrist], size: 100, at: 1) == ["wrist": Self.wrist])
  }

  @Test func jointsOutOfRangeAreLeftOut() {
    var smoother = PoseSmoother<String>()
    let joints = ["wrist": Self.wrist, "knee": PosePoint(x: .nan, y: 1)]
    #expect(smoother.update(joints, size: 100, at: 0) == ["wrist": Self.wrist])
    #expect(smoother.update(joints, size: 0, at: 1) == ["wrist": Self.wrist])
    #expect(smoother.update(joints, size: 100, at: .nan) == ["wrist": Self.wrist])
  }
}
