import Kelvin
import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPasses
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// ONNX models, ML Programs and neural networks whose sizes depend on data, against vectors of an independent implementation: their
/// graphs one after another on each device and with every node placed at random, and as predictions.
@Suite struct DataDependentShapeTests {
  private static let vectors = "\(SharedFiles.projectRoot)/Tests/Vectors"
  private static let folder = "\(vectors)/DataSizes"
  /// The cases, by their paths in the folder of all vectors.
  static let cases =
    fileStems(in: folder, endingWith: ".kv").map { "DataSizes/\($0)" }
    + fileStems(in: "\(vectors)/MILSizes", endingWith: ".kv").map { "MILSizes/\($0)" }
    + fileStems(in: "\(vectors)/NetworkSizes", endingWith: ".kv").map { "NetworkSizes/\($0)" }

  @Test func testVectorsExist() { #expect(Self.cases.count == 93) }

  private static func model(of name: String) -> String {
    "\(vectors)/\(name.split(separator: "_").dropLast().joined(separator: "_"))"
      + (name.hasPrefix("DataSizes") ? ".onnx" : ".mlmodel")
  }

  /// Runs the graphs of a function in their order, each built for the results of the previous ones, and for branches
  /// the side that is taken.
  ///
  /// - Parameter random: places nodes at random if it is given.
  private func run(
    _ function: Function, _ vector: Vector, units: [String], passes: Pipeline, _ random: inout SeededGenerator?
  ) throws -> [String: Tensor] {
    var slots = Dictionary(uniqueKeysWithValues: vector.inputs.map { ($0.name, $0.tensor) })
    try run(function.parts, &slots, features: Set(slots.keys), units: units, passes: passes, &random)
    return slots
  }

  private func run(
    _ parts: [FunctionPart], _ slots: inout [String: Tensor], features: Set<String>, units: [String], passes: Pipeline,
    _ random: inout SeededGenerator?
  ) throws {
    for part in parts {
      if case .branch(let branch) = part {
        let isThen = try #require(slots[branch.condition]).doubles != [0]
        let side = isThen ? branch.then : branch.otherwise
        var inside = slots
        try run(side.parts, &inside, features: features, units: units, passes: passes, &random)
        for (output, left) in zip(branch.outputs, side.left) { slots[output] = inside[left] }
      }
      guard case .graph(let part) = part else { continue }
      let known = slots
      let (own, others) = (part.inputs.filter(features.contains), part.inputs.filter { !features.contains($0) })
      func table<Value>(_ names: [String], _ value: (Tensor) -> Value) throws -> [String: Value] {
        try Dictionary(uniqueKeysWithValues: names.map { ($0, value(try #require(known[$0]))) })
      }
      let raw = try part.source.graph(
        shapes: table(own.filter { !part.valueDependent.contains($0) }, \.shape),
        computed: table(others.filter { !part.valueDependent.contains($0) }, \.type),
        values: table(part.inputs.filter(part.valueDependent.contains)) { $0 }, evaluator: ReferenceEvaluator())
      let graph = try passes.run(raw).graph
      let inputs = try graph.inputs.map { try #require(known[graph[$0].name]) }
      let room = try run(graph, inputs, units: units, &random)
      let outputs = try room.indices.map { try graph.exactOutput($0) { $1.map(room[$0].part) ?? room[$0] } }
      for (slot, tensor) in zip(part.outputs, outputs) { slots[slot] = tensor }
    }
  }

  private func run(
    _ graph: Graph, _ inputs: [Tensor], units: [String], _ random: inout SeededGenerator?
  ) throws -> [Tensor] {
    var pins: [String: String] = [:]
    let flat = FlatGraph(graph)
    for node in flat.graph.nodes where random != nil {
      let able = try units.filter {
        try deviceInventory.device($0).support(for: node, in: flat.graph, precision: .full).isSupported
      }
      pins[node.name] = able.isEmpty ? nil : able[Int.random(in: 0..<able.count, using: &random!)]
    }
    for tie in flat.ties.pairs { pins[tie.second] = pins[tie.first] }
    let request = PlanRequest(units: .devices(units), precision: .full, threads: 2, pins: pins)
    let solution = try Planner(inventory: deviceInventory, costs: CostSheet()).problem(graph, request).solve()
    let compiled = try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, inventory: deviceInventory,
      precision: .full, threads: 2, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
    return try compiled.makeSession().run(inputs)
  }

  /// Networks say of what type an output is, whatever computes it.
  private func check(_ slots: [String: Tensor], _ vector: Vector, _ what: String) {
    for (name, expected) in vector.outputs {
      guard let result = slots[name] else {
        Issue.record("\(what): no output \(name)")
        continue
      }
      let isNetwork = what.hasPrefix("NetworkSizes")
      #expect(result.shape == expected.shape, "\(what): output \(name)")
      #expect(isNetwork || result.type == expected.type, "\(what): output \(name)")
      let isClose = zip(result.doubles, expected.doubles).allSatisfy { abs($0 - $1) <= 2e-6 + 1e-5 * abs($1) }
      #expect(isClose, "\(what): output \(name): \(result.doubles), expected \(expected.doubles)")
    }
  }

  @Test(arguments: cases) func everyDeviceGivesTheVectorShapes(name: String) throws {
    let vector = try Vector(path: "\(Self.vectors)/\(name).kv")
    let function = try readModel(at: Self.model(of: name)).function(nil)
    var random: SeededGenerator?
    let all = Pipeline.standard(ReferenceEvaluator())
    let first = try all.stopping(after: "compute-outputs")
    check(try run(function, vector, units: ["reference"], passes: first, &random), vector, "\(name), reference")
    for device in Tier.some(1, of: ModelFixture.fastDevices) {
      check(try run(function, vector, units: [device], passes: all, &random), vector, "\(name), \(device)")
    }
    for seed in Tier.seeds(UInt64(1), of: 6) {
      random = SeededGenerator(seed: seed)
      let slots = try run(function, vector, units: ModelFixture.fastDevices, passes: all, &random)
      check(slots, vector, "\(name), seed \(seed)")
    }
  }

  private func predictor(_ path: String) throws -> Predictor {
    var options = LoadOptions()
    options.cacheDirectory = nil
    options.request = PlanRequest(units: .devices(["cpu"]), precision: .full, threads: 1)
    let loaded = try LoadedModel(path: path, options: options)
    return try PlannedModel(loaded, shown: loaded.shown.explain()).predictor(specializationLimit: 4)
  }

  private func predict(_ predictor: Predictor, _ inputs: [(name: String, tensor: Tensor)]) throws -> [String: Tensor] {
    let features = Dictionary(
      uniqueKeysWithValues: inputs.map { name, tensor in
        // There are no arrays of booleans.
        let plain = tensor.type.scalar == .bool ? tensor.converted(to: .int32) : tensor
        return (name, FeatureValue(multiArray: MultiArray(plain)))
      })
    let outputs = try predictor.predict(DictionaryFeatureProvider(dictionary: features), [:], nil)
    return Dictionary(
      uniqueKeysWithValues: outputs.featureNames.compactMap { name in
        outputs[name]?.multiArrayValue.map { (name, $0.tensor) }
      })
  }

  /// One model predicts for all its vectors in turn, and again.
  @Test(arguments: Set(cases.map(model)).sorted()) func predictionsHaveTheVectorShapes(path: String) throws {
    let predictor = try predictor(path)
    for name in Self.cases + Self.cases where Self.model(of: name) == path {
      let vector = try Vector(path: "\(Self.vectors)/\(name).kv")
      check(try predict(predictor, vector.inputs), vector, "\(name), predicted")
    }
  }

  @Test func nonZeroIndicesAreCorrectForAnyCount() throws {
    let predictor = try predictor("\(Self.folder)/places.onnx")
    for seed in 0..<UInt64(40) {
      var random = SeededGenerator(seed: seed)
      let share = seed == 0 ? 0 : seed == 1 ? 1.1 : random.unit()
      let values = (0..<12).map { _ in random.unit() < share ? random.signedUnit() : 0 }
      let found = values.indices.filter { values[$0] != 0 }
      let result = try predict(predictor, [("x", Tensor(values, [3, 4]))])["y"]
      #expect(result?.shape == [2, found.count], "seed \(seed)")
      #expect(result?.integers == found.map { $0 / 4 } + found.map { $0 % 4 }, "seed \(seed)")
    }
  }

  @Test(arguments: [[Int64(5), 5], [-3, 4], [.max, .max], [-1, -1]])
  func invalidShapeInputIsAPredictionError(shape: [Int64]) throws {
    let predictor = try predictor("\(Self.folder)/given.onnx")
    let floats = [Float](repeating: 1, count: 12)
    func inputs(_ shape: [Int64], iterations: Int64 = 1) -> [(name: String, tensor: Tensor)] {
      [
        ("x", Tensor(floats, [12])), ("shape", Tensor(shape, [2])), ("trips", Tensor([iterations], [])),
        ("start", Tensor([Float(0), 0], [2])),
      ]
    }
    #expect { try predict(predictor, inputs(shape)) } throws: { "\($0)".contains("Reshape") }
    #expect { try predict(predictor, inputs([3, 4], iterations: .max)) } throws: {
      "\($0)".contains("Loop") && "\($0)".contains("iterations")
    }
    #expect(try predict(predictor, inputs([3, 4]))["y"]?.shape == [3, 4], "the model goes on")
  }

  /// `given_0` with other sizes: too large, negative, not numbers, of layers that each would make something of it.
  @Test(arguments: [
    ("shape", [Float(0x1p62), 0x1p62], "broadcastToDynamic"), ("shape", [-1, 3], "broadcastToDynamic"),
    ("reps", [0x1p40, 0x1p40], "tile"), ("reps", [-1, 1], "tile"), ("end", [.infinity], "rangeDynamic"),
    ("step", [0], "rangeDynamic"), ("step", [.nan], "rangeDynamic"), ("form", [0x1p62, 0x1p62], "reshapeDynamic"),
    ("k", [-3], "topK"), ("k", [0x1p62], "topK"), ("depth", [0x1p62], "oneHot"), ("depth", [-1], "oneHot"),
    ("ends", [-0x1p62, 0x1p62], "sliceDynamic"), ("from", [0x1p62], "sliceBySize"),
    ("pads", [0x1p62, 0, 0, 0], "constantPad"), ("axis", [0x1p62], "cumSum"),
  ])
  func invalidNetworkSizeIsAPredictionError(input: String, sizes: [Float], layer: String) throws {
    let predictor = try predictor("\(Self.vectors)/NetworkSizes/given.mlmodel")
    let vector = try Vector(path: "\(Self.vectors)/NetworkSizes/given_0.kv")
    let hostile = vector.inputs.map {
      $0.name == input ? ($0.name, Tensor(sizes, $0.tensor.shape)) : ($0.name, $0.tensor)
    }
    #expect { try predict(predictor, hostile) } throws: { "\($0)".contains(layer) }
    check(try predict(predictor, vector.inputs), vector, "NetworkSizes, behind it")
  }

  @Test func sizesKnownFromShapesDoNotSplitTheGraph() throws {
    for (name, parts) in [
      ("places", 1), ("picked", 2), ("twice", 3), ("given", 1), ("shapes", 2), ("growing", 2), ("distinct", 2),
      ("columns", 2),
    ] {
      let function = try readModel(at: "\(Self.folder)/\(name).onnx").function(nil)
      #expect(function.graphParts.count == parts, "\(name)")
    }
    for (name, parts) in [("places", 1), ("picked", 2), ("unique", 2), ("sizes", 2), ("inside", 2), ("classes", 2)] {
      let function = try readModel(at: "\(Self.vectors)/MILSizes/\(name).mlmodel").function(nil)
      #expect(function.graphParts.count == parts, "ML Program \(name)")
    }
    for (name, parts) in [("given", 1), ("computed", 2), ("found", 3), ("looped", 2), ("chained", 2)] {
      let function = try readModel(at: "\(Self.vectors)/NetworkSizes/\(name).mlmodel").function(nil)
      #expect(function.graphParts.count == parts, "network \(name)")
    }
    for name in fileStems(in: "\(SharedFiles.projectRoot)/Tests/Vectors/Control", endingWith: ".onnx") {
      let path = "\(SharedFiles.projectRoot)/Tests/Vectors/Control/\(name).onnx"
      #expect(try readModel(at: path).function(nil).graphParts.map(\.name) == [GraphPart.onlyName], "\(name)")
    }
  }
}
