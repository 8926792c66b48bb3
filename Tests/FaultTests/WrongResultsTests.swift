import CFaultyDrivers
import KelvinDevices
import KelvinEngine
import TestSupport
import Testing

/// Devices that turn bad after their self-tests: one kernel in ten is left out, or writes a wrong word. Every test uses the
/// simulated drivers exclusively.
@Suite(.serialized) struct WrongResultsTests {
  enum Damage: String, CaseIterable, Codable {
    case drop, flip

    /// - Parameter after: how many kernels run correctly before.
    func order(after: Int = 0) -> FaultyOrder {
      var order = FaultyOrder()
      (order.drop, order.flip) = self == .drop ? (10, 0) : (0, 10)
      order.after = UInt32(after)
      return order
    }
  }

  private static let cases = Interface.allCases.flatMap { interface in Damage.allCases.map { (interface, $0) } }

  /// The device is bad when the first prediction runs.
  @Test(arguments: Tier.some(2, of: cases))
  func firstPredictionIsRepeatedElsewhere(interface: Interface, damage: Damage) async {
    await #expect(processExitsWith: .success) { [interface, damage] in
      let input = try FaultyMachine.input(0)
      let expected = try FaultyMachine.expected([input])[0]
      let machine = FaultyMachine(interface)
      let predictor = try machine.load()
      faulty_order(damage.order())
      #expect(distance(try predictor.answer(input), expected) < 1e-4)
      #expect(machine.device?.health.failure?.code == .wrong)
      #expect(predictor.loaded.guardian.doubtful.isEmpty)
      let remark = try #require(predictor.loaded.fallback.remarks.first)
      #expect(remark.hasPrefix("\(interface.device) computes wrongly (") && remark.contains("runs without it"))
      leave()
    }
  }

  /// The device turns bad after its first check. The last check finds it, and marks the predictions in between.
  @Test(arguments: Tier.some(1, of: Damage.allCases))
  func predictionsSinceTheLatestCheckAreDoubtful(damage: Damage) async {
    await #expect(processExitsWith: .success) { [damage] in
      let input = try FaultyMachine.input(0)
      let machine = FaultyMachine(.opencl)
      let predictor = try machine.load()
      let guardian = predictor.loaded.guardian
      _ = try predictor.answer(input)
      try guardian.checkLast()
      faulty_order(damage.order())
      for _ in 0..<3 { _ = try predictor.answer(input) }
      #expect(guardian.doubtful.isEmpty)
      #expect(throws: (any Error).self) { try guardian.checkLast() }
      #expect(guardian.count == 4 && guardian.doubtful == [2...4])
      #expect(guardian.remarks.first?.contains("predictions 2 to 4 of the model may be wrong") == true)
      let expected = try FaultyMachine.expected([input])[0]
      #expect(distance(try predictor.answer(input), expected) < 1e-4, "the CPU answers from now on")
      leave()
    }
  }

  /// A slow submission makes a check due, which finds the device bad before the result is returned.
  @Test func anomalyIsCheckedAtOnce() async {
    await #expect(processExitsWith: .success) {
      let input = try FaultyMachine.input(0)
      let expected = try FaultyMachine.expected([input])[0]
      let machine = FaultyMachine(.opencl)
      let predictor = try machine.load()
      _ = try predictor.answer(input)
      machine.device?.health.results.doubt()
      faulty_order(Damage.drop.order())
      #expect(distance(try predictor.answer(input), expected) < 1e-4)
      #expect(predictor.loaded.guardian.doubtful.isEmpty)
      #expect(machine.device?.health.failure?.code == .wrong)
      leave()
    }
  }

  @Test func soundDevicePassesItsChecks() async {
    await #expect(processExitsWith: .success) {
      for interface in Interface.allCases {
        let input = try FaultyMachine.input(0)
        let machine = FaultyMachine(interface)
        let predictor = try machine.load()
        for _ in 0..<3 {
          _ = try predictor.answer(input)
          machine.device?.health.results.doubt()
        }
        try predictor.loaded.guardian.checkLast()
        #expect(machine.device?.health.failure == nil && predictor.loaded.guardian.remarks.isEmpty)
      }
      leave()
    }
  }
}
