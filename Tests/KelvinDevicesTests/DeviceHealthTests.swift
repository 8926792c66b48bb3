import KelvinDevices
import Testing

@Suite struct DeviceHealthTests {
  private let health = DeviceHealth()

  @Test func theFirstFailureIsTheOneThatIsTold() throws {
    try health.check()
    #expect(health.mayFree && health.failure == nil)
    let first = DeviceError(.lost, device: "gpu:0", place: "submission", reason: "pulled out")
    #expect(health.takeOut(first))
    #expect(!health.takeOut(DeviceError(.hung, device: "gpu:0", place: "later", reason: "asleep")))
    #expect(health.failure == first && !health.mayFree)
    #expect(throws: first) { try health.check() }
  }

  @Test func patienceIsThatOfTheLongestThatWasAllowed() {
    #expect(health.patience == Watchdog.standard.floor)
    health.allow(0.5)
    #expect(health.patience == 0.5)
    health.allow(90)
    health.allow(2)
    #expect(health.patience == 90)
  }

  @Test func aDeviceThatEndsNothingIsHung() throws {
    health.allow(3)
    var waits: [Double] = []
    #expect {
      try health.wait("gpu:0", "a wait") { (seconds) throws(DeviceError) in
        waits.append(seconds)
        return false
      }
    } throws: { error in
      (error as? DeviceError)?.code == .hung && "\(error)".contains("within 3 s")
    }
    #expect(waits == [3])
    #expect(health.failure?.code == .hung)
    #expect(throws: DeviceError.self) {
      try health.wait("gpu:0", "another") { (_) throws(DeviceError) in
        Issue.record("a device that is out is not waited for")
        return true
      }
    }
  }

  /// Work of others that ends meanwhile shows that the queue moves.
  @Test func whoWaitsBehindOthersWaitsAsLongAsTheyEnd() throws {
    var turns = 0
    try health.wait("gpu:0", "the last in the queue") { (_) throws(DeviceError) in
      turns += 1
      if turns < 5 { try health.wait("gpu:0", "one before it") { (_) throws(DeviceError) in true } }
      return turns == 5
    }
    #expect(turns == 5)
    #expect(health.mayFree)
  }

  @Test func theWatchdogAllowsAMultipleOfWhatIsExpectedAndAFloor() {
    let watchdog = Watchdog(floor: 2, multiple: 10)
    #expect(watchdog.limit(expecting: 0.01) == 2)
    #expect(watchdog.limit(expecting: 3) == 30)
    #expect(watchdog.limit(took: .milliseconds(1500)) == 15)
  }

  @Test func aWaitThatFailsIsALossWhateverItsCode() {
    let failed = DeviceError(.outOfMemory, device: "gpu:0", place: "a fence", reason: "no memory").asLoss()
    #expect(failed.code == .lost && failed.reason.contains("no memory"))
    let hung = DeviceError.hung("gpu:0", "a fence", seconds: 1)
    #expect(hung.asLoss() == hung)
  }
}
