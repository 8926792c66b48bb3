import FoundationEssentials
import Kelvin
import KelvinGraph
import TestSupport
import Testing

/// Decoders that read tokens by the roles of their inputs, from exports that differ in how their
/// cache is written.
@Suite(.serialized) struct TokenSequenceTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Decoder"

  /// The sizes of the first step, if a model leaves them open.
  private static let sizes: [String: [String: [Int]]] = {
    var past = ["input_ids": [1, 1], "attention_mask": [1, 1], "position_ids": [1, 1]]
    for layer in 0..<2 {
      for part in ["key", "value"] { past["past_key_values.\(layer).\(part)"] = [1, 2, 0, 16] }
    }
    let lengths = past.filter { $0.key != "attention_mask" && $0.key != "position_ids" }
    return [
      "past.onnx": past, "ignoring.onnx": past, "lengths.onnx": lengths, "shared.onnx": ["input_ids": [1, 1]],
    ]
  }()

  private func model(_ file: String, _ device: String = "cpu") throws -> Model {
    var configuration = ModelConfiguration()
    configuration.computeUnits = .devices([device])
    configuration.cacheDirectory = nil
    configuration.inputShapes = Self.sizes[file] ?? [:]
    return try Model(contentsOf: URL(filePath: "\(Self.folder)/\(file)"), configuration: configuration)
  }

  private func vector() throws -> (prompt: [Int], tokens: [Int]) {
    let vector = try Vector(path: "\(Self.folder)/tokens.kv")
    return (vector.inputs[0].tensor.integers, vector.outputs[0].tensor.integers)
  }

  private func greedy(_ sequence: TokenSequence, _ prompt: [Int], _ count: Int) throws -> [Int] {
    var (made, fed): ([Int], [Int]) = ([], prompt)
    while made.count < count {
      let scores = try sequence.read(fed)
      fed = [try #require(scores.indices.max { scores[$0] < scores[$1] })]
      made += fed
    }
    return made
  }

  @Test(
    arguments: Tier.some(
      3,
      of: [
        "growing.mlpackage", "past.onnx", "shared.onnx", "ignoring.onnx", "lengths.onnx", "position.mlpackage",
        "scattered.mlpackage",
      ]))
  func tokensMatchPyTorch(file: String) throws {
    let (prompt, tokens) = try vector()
    let sequence = try TokenSequence(try model(file))
    #expect(try greedy(sequence, prompt, tokens.count) == tokens)
    #expect(sequence.length == prompt.count + tokens.count - 1)
    sequence.restart()
    #expect(try greedy(sequence, prompt, 3) == Array(tokens.prefix(3)))
  }

  @Test(arguments: ModelFixture.fastDevices)
  func everyDeviceComputesASharedCacheBuffer(device: String) throws {
    let (prompt, tokens) = try vector()
    #expect(try greedy(try TokenSequence(try model("shared.onnx", device)), prompt, 8) == Array(tokens.prefix(8)))
  }

  /// The first tokens settle how the past is fed: by a mask that is looked at, or by a specialization without padding. Later
  /// tokens have the sizes of the one before.
  @Test(
    arguments: Tier.some(
      2, of: ["position.mlpackage", "past.onnx", "scattered.mlpackage", "ignoring.onnx", "lengths.onnx", "shared.onnx"])
  )
  func tokensInsideABucketNeedNoCompilation(file: String) throws {
    let (prompt, tokens) = try vector()
    let model = try model(file)
    let sequence = try TokenSequence(model)
    _ = try sequence.read(prompt)
    _ = try sequence.read([tokens[0]])
    _ = try sequence.read([tokens[1]])
    let before = model.sizeCosts
    #expect(before.compilations <= 5, "the prompt, and two steps both ways")
    #expect(try greedy(sequence, [tokens[2]], 50) == Array(tokens[3..<53]))
    #expect(model.sizeCosts == before)
    // The cache contents are discarded, and its memory and specializations serve the next sequence.
    sequence.restart()
    #expect(try greedy(sequence, prompt, 40) == Array(tokens.prefix(40)))
    #expect(model.sizeCosts == before)
  }

  @Test(arguments: ModelFixture.fastDevices, ["ignoring.onnx", "lengths.onnx"])
  func unmaskedPaddingIsIgnoredOnEveryDevice(device: String, file: String) throws {
    let (prompt, tokens) = try vector()
    let sequence = try TokenSequence(try model(file, device))
    #expect(try greedy(sequence, prompt, 12) == Array(tokens.prefix(12)))
    #expect(sequence.memory.contains("with room for 63 tokens"))
  }

  /// Caches that are inputs and outputs of the model stay on its device, between steps of one token at least.
  @Test(
    arguments: ModelFixture.fastDevices.filter { $0 != "cpu" },
    Tier.some(2, of: ["shared.onnx", "past.onnx", "lengths.onnx"])
  )
  func cachesStayOnTheDevice(device: String, file: String) throws {
    let (prompt, tokens) = try vector()
    let sequence = try TokenSequence(try model(file, device))
    #expect(try greedy(sequence, prompt, 6) == Array(tokens.prefix(6)))
    #expect(sequence.memory.contains("on \(device)"), "\(sequence.memory)")
    #expect(try greedy(sequence, Array(tokens[5..<9]), 4) == Array(tokens[9..<13]), "several tokens at a time")
    sequence.restart()
    #expect(try greedy(sequence, prompt, 4) == Array(tokens.prefix(4)))
  }

  /// The rows of all tokens move to a larger cache.
  @Test(.slow, arguments: ModelFixture.fastDevices.filter { $0 != "cpu" })
  func cacheOnADeviceGrows(device: String) throws {
    let (prompt, tokens) = try vector()
    let sequence = try TokenSequence(try model("lengths.onnx", device))
    #expect(try greedy(sequence, prompt, 64) == Array(tokens.prefix(64)))
    #expect(sequence.memory.contains("with room for 79 tokens"), "\(sequence.memory)")
  }

  /// The capacity grows by an eighth of a power of two at a time, so that a token's time follows the length; the
  /// model's tables of positions have 80 rows.
  @Test func capacityFollowsTheLength() throws {
    let (prompt, tokens) = try vector()
    let sequence = try TokenSequence(try model("lengths.onnx"))
    #expect(try greedy(sequence, prompt, 50) == Array(tokens.prefix(50)))
    #expect(sequence.memory.contains("with room for 63 tokens"))
    #expect(try greedy(sequence, [tokens[49]], 14) == Array(tokens[50..<64]))
    #expect(sequence.memory.contains("with room for 79 tokens"))
  }

  @Test func severalTokensMayFollowSingleOnes() throws {
    let (prompt, tokens) = try vector()
    let sequence = try TokenSequence(try model("past.onnx"))
    for token in prompt + tokens.prefix(3) { _ = try sequence.read([token]) }
    #expect(try greedy(sequence, Array(tokens[3..<9]), 4) == Array(tokens[9..<13]))
    sequence.restart()
    #expect(try greedy(sequence, prompt, 4) == Array(tokens.prefix(4)))
  }

  @Test func refusedTokensLeaveTheSequenceUsable() throws {
    let (prompt, tokens) = try vector()
    let sequence = try TokenSequence(try model("shared.onnx"))
    #expect(sequence.capacity == 80)
    _ = try sequence.read(prompt)
    let full = #expect(throws: ModelError.self) { try sequence.read(Array(repeating: 1, count: 76)) }
    #expect(full?.code == .parameters && full?.description.contains("room for 80") == true)
    #expect(throws: ModelError.self) { try sequence.read([]) }
    #expect(try greedy(sequence, [tokens[0]], 2) == Array(tokens[1..<3]))
  }

  @Test func nonTokenModelIsRefusedWithMissingRoles() throws {
    let digits = try Model(contentsOf: URL(filePath: ModelFixture.digits))
    let error = #expect(throws: ModelError.self) { try TokenSequence(digits) }
    #expect(error?.code == .parameters && error?.description.contains("--token-role") == true, "\(error as Any)")
  }

  @Test func givenRolesOverrideNames() throws {
    let model = try model("past.onnx")
    let wrong = #expect(throws: ModelError.self) { try TokenSequence(model, roles: ["tokens": .tokens]) }
    #expect(wrong?.description.contains("no input or output 'tokens'") == true)
    // The positions taken for tokens leave two inputs of tokens.
    #expect(throws: ModelError.self) { try TokenSequence(model, roles: ["position_ids": .tokens]) }
    let (prompt, tokens) = try vector()
    let sequence = try TokenSequence(
      model, roles: ["input_ids": .tokens, "past_key_values.0.key": .past(present: "present.0.key"), "logits": .scores])
    #expect(try greedy(sequence, prompt, 2) == Array(tokens.prefix(2)))
  }
}
