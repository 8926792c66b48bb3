import FoundationEssentials
import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinRuntime
import TestSupport
import Testing

/// A decoder with a key-value cache, exported from PyTorch by coremltools, makes the tokens that PyTorch makes.
@Suite struct DecoderTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Decoder"
  private static let context = 80

  /// The form in which a program receives the range to write into its cache.
  enum Export: String, CaseIterable {
    case growing
    case growingHalf = "growing_half"
    case position
    case scattered

    /// Whether it reads several tokens at once, its mask as long as the cache is filled.
    var isFlexible: Bool { self == .growing || self == .growingHalf }
  }

  private func load(_ export: Export, _ devices: [String]) throws -> Model {
    var configuration = ModelConfiguration()
    configuration.computeUnits = .devices(devices)
    configuration.cacheDirectory = nil
    return try Model(
      contentsOf: URL(filePath: "\(Self.folder)/\(export.rawValue).mlpackage"), configuration: configuration)
  }

  /// The logits of the last of some tokens, which follow those that the state holds.
  private func logits(
    _ model: Model, _ state: ModelState, _ export: Export, _ tokens: [Int32], after count: Int
  ) throws -> [Double] {
    let end = count + tokens.count
    let columns = export.isFlexible ? end : Self.context
    let mask = (count..<end).flatMap { row in (0..<columns).map { $0 <= row ? Float(0) : -1e4 } }
    var inputs = [
      "ids": FeatureValue(multiArray: integers(tokens, [1, tokens.count])),
      "mask": FeatureValue(multiArray: MultiArray(Tensor(mask, [1, 1, tokens.count, columns]))),
    ]
    if !export.isFlexible {
      inputs["position"] = FeatureValue(multiArray: integers([Int32(count)], [1]))
    }
    let output = try model.prediction(from: DictionaryFeatureProvider(dictionary: inputs), using: state)
    let logits = try #require(output["logits"]?.multiArrayValue).tensor
    return logits.doubles.suffix(logits.shape[2])
  }

  private func integers(_ values: [Int32], _ shape: Shape) -> MultiArray {
    MultiArray(Tensor(TensorType(.int32, shape), rounding: values.map(Double.init)))
  }

  private func greedy(_ model: Model, _ export: Export, _ prompt: [Int32], steps: Int) throws -> [Int32] {
    let state = model.makeState()
    var (made, count): ([Int32], Int) = ([], 0)
    var pending = export.isFlexible ? [prompt] : prompt.map { [$0] }
    while made.count < steps {
      let tokens = pending.removeFirst()
      let scores = try logits(model, state, export, tokens, after: count)
      count += tokens.count
      guard pending.isEmpty else { continue }
      let best = try #require(scores.indices.max { scores[$0] < scores[$1] })
      made.append(Int32(best))
      pending = [[Int32(best)]]
    }
    return made
  }

  @Test(arguments: Export.allCases) func tokensMatchPyTorch(export: Export) throws { try check(export, on: "cpu") }

  @Test(arguments: ModelFixture.fastDevices.filter { $0 != "cpu" }, Tier.some(1, of: Export.allCases))
  func tokensOfOtherDevicesMatchPyTorch(device: String, export: Export) throws { try check(export, on: device) }

  private func check(_ export: Export, on device: String) throws {
    let vector = try Vector(path: "\(Self.folder)/tokens.kv")
    let prompt = vector.inputs[0].tensor.integers.map(Int32.init)
    let expected = vector.outputs[0].tensor.integers.map(Int32.init)
    #expect(expected.count == 64)
    let model = try load(export, [device])
    #expect(try greedy(model, export, prompt, steps: expected.count) == expected)
  }
}
