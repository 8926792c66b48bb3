import KelvinDevices
import Testing

/// When a device is checked, and which predictions a failed check makes doubtful.
@Suite struct ResultCheckTests {
  private let check = ResultCheck()
  private let account = PredictionAccount()
  private static let failure = DeviceError(.wrong, device: "gpu:0", place: "check", reason: "1 instead of 2")

  /// Ends a prediction, and returns whether the device was checked.
  private func predict(_ seconds: Double, isRight: Bool = true, cost: Double = 0.001) throws(DeviceError) -> Bool {
    var isChecked = false
    try check.ended(account.next(), of: account, seconds: seconds) { () throws(DeviceError) in
      isChecked = true
      if !isRight { throw Self.failure }
      return cost
    }
    return isChecked
  }

  @Test func firstPredictionIsChecked() throws {
    #expect(try predict(0.01))
    #expect(try !predict(0.01))
  }

  /// A check of 1 ms is due after predictions of 200 ms.
  @Test func checksTakeHalfAPercentOfTheTime() throws {
    let checked = try (0..<401).count { _ in try predict(0.01) }
    #expect(checked == 21)
  }

  @Test func anomalyMakesACheckDue() throws {
    #expect(try predict(0.01))
    check.doubt()
    #expect(try predict(0.01))
    #expect(try !predict(0.01))
  }

  @Test func failedCheckMakesThePredictionsSinceTheLatestOneDoubtful() throws {
    for _ in 0..<4 { _ = try predict(0.01) }
    check.doubt()
    #expect(throws: Self.failure) { try predict(0.01, isRight: false) }
    #expect(account.doubts.map(\.numbers) == [2...4])
    #expect(account.doubts.first?.failure == Self.failure)
  }

  @Test func failedFirstCheckLeavesNothingDoubtful() {
    #expect(throws: Self.failure) { try predict(0.01, isRight: false) }
    #expect(account.doubts.isEmpty)
  }

  @Test func lastCheckIsMadeOnlyIfPredictionsHaveEndedSince() throws {
    _ = try predict(0.01)
    try check.checkLast { () throws(DeviceError) in
      Issue.record("the latest prediction was checked")
      return 0.001
    }
    _ = try predict(0.01)
    #expect(throws: Self.failure) { try check.checkLast { () throws(DeviceError) in throw Self.failure } }
    #expect(account.doubts.map(\.numbers) == [2...2])
  }

  /// A lack of memory says nothing about results.
  @Test func checkThatCannotRunIsNoFailure() throws {
    let full = DeviceError(.outOfMemory, device: "gpu:0", place: "buffer", reason: "no memory")
    try check.ended(account.next(), of: account, seconds: 1) { () throws(DeviceError) in throw full }
    #expect(account.doubts.isEmpty)
  }
}
