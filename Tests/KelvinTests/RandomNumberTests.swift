import FoundationEssentials
import Glibc
import Kelvin
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// Random operations of ONNX, ML Programs and neural networks, by their moments and distributions, on every device.
@Suite struct RandomNumberTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Random"
  private static let count = 20_000

  private func model(_ name: String, _ device: String) throws -> Model {
    var configuration = ModelConfiguration()
    configuration.computeUnits = .devices([device])
    configuration.cacheDirectory = nil
    return try Model(contentsOf: URL(filePath: "\(Self.folder)/\(name)"), configuration: configuration)
  }

  private func predict(_ model: Model, _ name: String) throws -> [String: [Double]] {
    let weights = Tensor([Float]([1, 2, 3, 4, 5, 0, 1, 4]), [2, 4])
    let inputs =
      switch name {
      case "random.onnx": ["x": Tensor([Float](repeating: 0, count: Self.count), [Self.count])]
      case "random.mlmodel": ["x": weights, "shape": Tensor([Float(Self.count)], [1])]
      default: ["x": weights]
      }
    let features = inputs.mapValues { FeatureValue(multiArray: MultiArray($0)) }
    let output = try model.prediction(from: DictionaryFeatureProvider(dictionary: features))
    var values: [String: [Double]] = [:]
    for name in output.featureNames { values[name] = try #require(output[name]?.multiArrayValue).tensor.doubles }
    return values
  }

  /// The largest distance between the numbers' and the distribution's shares; beyond this limit it is with a probability of
  /// 10^-9 (`2 e^(-2 n d²)`, Kolmogorov and Smirnov).
  private func follows(_ values: [Double], _ share: (Double) -> Double) -> Bool {
    let sorted = values.sorted()
    let count = Double(sorted.count)
    let distance = sorted.enumerated().map { place, value in
      max(abs(Double(place + 1) / count - share(value)), abs(share(value) - Double(place) / count))
    }.max()
    return (distance ?? 1) < (-log(0.5e-9) / (2 * count)).squareRoot()
  }

  /// Whether so many of the draws are within six deviations of what a share of them should be.
  private func isShare(_ drawn: Int, _ probability: Double, of count: Int) -> Bool {
    let deviation = (probability * (1 - probability) * Double(count)).squareRoot()
    return abs(Double(drawn) - probability * Double(count)) <= 6 * deviation
  }

  private func expect(_ classes: [Double], _ rows: [[Double]]) {
    #expect(classes.count == rows.count * Self.count)
    for (row, shares) in rows.enumerated() {
      let drawn = classes[row * Self.count..<(row + 1) * Self.count]
      for (number, share) in shares.enumerated() {
        #expect(isShare(drawn.count { $0 == Double(number) }, share, of: Self.count), "class \(number) of row \(row)")
      }
    }
  }

  private static func normal(_ value: Double) -> Double { 0.5 * erfc(-value / 2.0.squareRoot()) }

  @Test(arguments: Tier.some(1, of: ModelFixture.devices), ["random.onnx", "random.mlpackage", "random.mlmodel"])
  func numbersFollowTheirDistributions(device: String, name: String) throws {
    let values = try predict(model(name, device), name)
    let (normal, uniform) = (try #require(values["normal"]), try #require(values["uniform"]))
    #expect(follows(normal) { Self.normal(($0 + 3) / 2) })
    #expect(follows(uniform) { min(max(($0 + 1) / 5, 0), 1) })
    #expect(uniform.allSatisfy { (-1..<4).contains($0) })
    #expect(follows(try #require(values["unseeded"])) { min(max($0, 0), 1) })
    #expect(values["same"] == uniform)
    #expect(values["another"] != values["unseeded"])
    // Neighbours are independent.
    let centred = uniform.map { $0 - 1.5 }
    let products = zip(centred, centred.dropFirst()).reduce(0) { $0 + $1.0 * $1.1 }
    #expect(abs(products) / (25.0 / 12) < 6 * Double(Self.count).squareRoot())

    for (row, probability) in zip([0, 1], [0.25, 0.75]) {
      guard let flags = values["bernoulli"], flags.count > row * Self.count else { continue }
      let drawn = flags[row * Self.count..<(row + 1) * Self.count]
      #expect(drawn.allSatisfy { $0 == 0 || $0 == 1 })
      #expect(isShare(drawn.count { $0 == 1 }, probability, of: Self.count))
    }
    let shares = [[0.1, 0.2, 0.3, 0.4], [0.5, 0, 0.1, 0.4]]
    try expect(#require(values["multinomial"] ?? values["categorical"]), shares)
    let squared = shares.map { row in row.map { $0 * $0 / row.reduce(0) { $0 + $1 * $1 } } }
    for name in ["cooled", "warmed"] { values[name].map { expect($0, squared) } }
    if let like = values["like"] { #expect(like == [Double](repeating: 7, count: 8)) }
    if let like = values["normal_like"] { #expect(follows(like, Self.normal)) }
    if let like = values["uniform_like"] { #expect(like.allSatisfy { (0...1).contains($0) }) }
  }

  @Test(arguments: ModelFixture.fastDevices) func equalSeedsRepeatASequence(device: String) throws {
    let (first, second) = (try model("random.onnx", device), try model("random.onnx", device))
    let steps = try [first, first, second, second].map { try predict($0, "random.onnx") }
    for name in ["normal", "uniform", "bernoulli", "multinomial"] {
      #expect(steps[0][name] == steps[2][name] && steps[1][name] == steps[3][name], "\(name)")
      #expect(steps[0][name] != steps[1][name], "\(name)")
    }
    #expect(steps[0]["unseeded"] != steps[2]["unseeded"])
  }

  /// From the known answers that come with Random123.
  @Test func philoxGivesItsKnownValues() {
    #expect(
      Philox.block([0, 0, 0, 0], key: [0, 0]) == [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8])
    #expect(
      Philox.block([.max, .max, .max, .max], key: [.max, .max]) == [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd])
    #expect(
      Philox.block([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], key: [0xa409_3822, 0x299f_31d0])
        == [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1])
  }
}
