import KelvinBasics
import KelvinPlanning
import Testing

@Suite struct CostModelTests {
  @Test func theLargerOfArithmeticAndTrafficDecides() {
    let roof = Roofline(overheadSeconds: 1, operationsPerSecond: 10, bytesPerSecond: 5)
    #expect(roof.estimate(operations: 100, bytes: 10) == 11)
    #expect(roof.estimate(operations: 10, bytes: 100) == 21)
    let serial = Roofline(overheadSeconds: 1, operationsPerSecond: 10, bytesPerSecond: 5, combination: .serial)
    #expect(serial.estimate(operations: 100, bytes: 10) == 13)
    let device = DeviceCoefficients(general: roof, operators: ["softmax": serial])
    #expect(device.estimate(operator: "softmax", operations: 100, bytes: 10) == 13)
    #expect(device.estimate(operator: "add", operations: 100, bytes: 10) == 11)
  }

  @Test(arguments: [Roofline.Combination.serial, .overlapped])
  func coefficientsAreRecoveredDespiteNoise(combination: Roofline.Combination) throws {
    let truth = Roofline(
      overheadSeconds: 5e-6, operationsPerSecond: 4e10, bytesPerSecond: 8e9, combination: combination)
    var random = SeededGenerator(seed: 90_000)
    var samples = (0..<60).map { _ in
      let operations = Double.random(in: 1e4...5e7, using: &random)
      let bytes = Double.random(in: 1e3...5e6, using: &random)
      let noise = Double.random(in: 0.97...1.03, using: &random)
      return CostSample(
        operations: operations, bytes: bytes, seconds: truth.estimate(operations: operations, bytes: bytes) * noise)
    }
    samples[7].seconds *= 20
    let fitted = try #require(Roofline.fit(samples))
    #expect(fitted.combination == combination)
    #expect(abs(fitted.operationsPerSecond / truth.operationsPerSecond - 1) < 0.1)
    #expect(abs(fitted.bytesPerSecond / truth.bytesPerSecond - 1) < 0.1)
    #expect(DeviceCoefficients.leaveOneOutError(samples.map { FamilySample(family: "add", cost: $0) }) < 0.05)
  }

  @Test func coefficientsAreNeverNegative() throws {
    let samples = [(1.0, 5.0), (2.0, 4.0), (3.0, 3.0), (4.0, 2.0)].map {
      CostSample(operations: $0.0 * 1e6, bytes: $0.0 * 1e3, seconds: $0.1)
    }
    let fitted = try #require(Roofline.fit(samples))
    #expect(fitted.overheadSeconds >= 0)
    #expect(fitted.operationsPerSecond > 0)
    #expect(fitted.bytesPerSecond > 0)
  }

  @Test func everyKindOfDeviceHasDefaultCosts() {
    for kind in DeviceKind.allCases {
      #expect(kind.guess.estimate(operator: "conv", operations: 1e6, bytes: 1e4) > 0)
      #expect(kind.transferGuess.estimate(bytes: 1e6) > 0)
    }
    let work = (operations: 1e9, bytes: 1e6)
    let guess = { (kind: DeviceKind) in
      kind.guess.estimate(operator: "conv", operations: work.operations, bytes: work.bytes)
    }
    #expect(guess(.discreteGPU) < guess(.integratedGPU))
    #expect(guess(.integratedGPU) < guess(.cpu))
    #expect(guess(.cpu) < guess(.software))
  }

  /// Two families, one ten times as fast as the other: neither is described by what both have in common.
  @Test func familiesAreFittedSeparately() throws {
    var random = SeededGenerator(seed: 4_711)
    let samples = (0..<40).map { index in
      let operations = Double.random(in: 1e6...1e8, using: &random)
      let rate = index.isMultiple(of: 2) ? 1e11 : 1e10
      return FamilySample(
        family: index.isMultiple(of: 2) ? "convolution" : "convolution depthwise",
        cost: CostSample(operations: operations, bytes: 1, seconds: 2e-6 + operations / rate))
    }
    let model = try #require(DeviceCoefficients(fitting: samples))
    #expect(DeviceCoefficients.leaveOneOutError(samples) < 0.02)
    #expect(abs(model.estimate(operator: "convolution", operations: 1e9, bytes: 1) / 1e-2 - 1) < 0.05)
    #expect(abs(model.estimate(operator: "convolution depthwise", operations: 1e9, bytes: 1) / 1e-1 - 1) < 0.05)
    #expect(model.estimate(operator: "softmax", operations: 1e9, bytes: 1) > 1e-2)
  }

  /// Seconds without any law: an error measured on the samples that were fitted would look better than it is.
  @Test func leaveOneOutErrorUsesUnseenNodes() throws {
    var random = SeededGenerator(seed: 815)
    let samples = (0..<5).map { _ in
      FamilySample(
        family: "softmax",
        cost: CostSample(
          operations: Double.random(in: 1e3...1e6, using: &random), bytes: Double.random(in: 1e3...1e6, using: &random),
          seconds: Double.random(in: 1e-6...1e-3, using: &random)))
    }
    let model = try #require(DeviceCoefficients(fitting: samples))
    let seen = samples.map { sample in
      let estimate = model.estimate(
        operator: "softmax", operations: sample.cost.operations, bytes: sample.cost.bytes)
      return abs(estimate / sample.cost.seconds - 1)
    }
    let error = DeviceCoefficients.leaveOneOutError(samples)
    #expect(error >= seen.sorted()[2])
    #expect(error > 0.2)
    #expect(DeviceCoefficients(fitting: Array(samples.prefix(3))) == nil)
  }
}
