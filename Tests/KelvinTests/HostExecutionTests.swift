import Kelvin
import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import Synchronization
import Testing

/// Functions of several parts: host operations and graphs in any order, each graph specialized by its inputs.
@Suite struct HostExecutionTests {
  /// The number of characters of each string.
  private struct Lengths: HostOperation {
    static let name = "lengths"
    let inputs = ["strings"]
    let outputs = ["lengths"]

    func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
      let strings = try strings(0, inputs)
      return [.tensor(Tensor(strings.strings.map { Float($0.count) }, strings.shape))]
    }
  }

  /// The elements above zero; their number depends on the data.
  private struct Positive: HostOperation {
    static let name = "positive"
    let inputs = ["shifted"]
    let outputs = ["positive"]

    func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
      let kept = try tensor(0, inputs).floats.filter { $0 > 0 }
      return [.tensor(Tensor(kept, [kept.count]))]
    }
  }

  /// `a · x + b` of a computed slot.
  private struct Affine: GraphSource {
    let input: String
    let function: UnaryFunction

    func graph(
      shapes: [String: Shape], computed: [String: TensorType], evaluator: any ConstantEvaluator
    ) throws -> Graph {
      var builder = GraphBuilder(evaluator: evaluator)
      let type = try #require(computed[input])
      let x = try builder.input(input, type)
      let y = try builder.add(
        Unary(function), x, name: "\(input)/affine", origin: Origin(name: input, kind: "Affine", index: 0))
      builder.output(y)
      return try builder.finish()
    }
  }

  private func graph(_ name: String, _ input: String, _ output: String, _ function: UnaryFunction) -> FunctionPart {
    .graph(GraphPart(name: name, inputs: [input], outputs: [output], source: Affine(input: input, function: function)))
  }

  /// Strings → lengths → minus 3 → those above 0 → times 2.
  private func function() -> Function {
    let lengths = FeatureKind.tensor(.float32, [.flexible(name: "n", range: 0...Int.max, standard: nil)])
    return Function(
      inputs: [Feature(name: "strings", type: .sequence(of: .string))],
      outputs: [Feature(name: "doubled", type: lengths), Feature(name: "shifted", type: lengths)],
      parts: [
        .host(Lengths()), graph("shift", "lengths", "shifted", UnaryFunction(.affine, a: 1, b: -3)), .host(Positive()),
        graph("double", "positive", "doubled", UnaryFunction(.affine, a: 2, b: 0)),
      ])
  }

  /// As many numbers as the iteration's number, which starts at one; and whether they are few.
  private struct Ramp: HostOperation {
    static let name = "ramp"
    let inputs = ["trip", "first"]
    let outputs = ["ramp", "next", "few"]
    /// The minimum number of numbers.
    let least: Int

    func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
      let iteration = try tensor(0, inputs).integers[0]
      let first = try tensor(1, inputs).floats[0]
      let count = max(iteration, least)
      let ramp = (0..<count).map { first + Float($0) }
      return [
        .tensor(Tensor(ramp, [count])), .tensor(Tensor([first + 1], [1])),
        .tensor(Tensor([iteration < 3 ? 1 : 0] as [Int64], [])),
      ]
    }
  }

  /// A loop of `Ramp`, whose numbers are doubled by a graph.
  private func loop(least: Int, leaving slot: String = "few") -> Function {
    let any = FeatureKind.tensor(.float32, [.flexible(name: "n", range: 0...Int.max, standard: nil)])
    let body = [.host(Ramp(least: least)), graph("double", "ramp", "doubled", UnaryFunction(.affine, a: 2, b: 0))]
    return Function(
      inputs: [Feature(name: "start", type: any), Feature(name: "limit", type: any)],
      outputs: [Feature(name: "last", type: any), Feature(name: "rows", type: any)],
      parts: [
        .loop(
          LoopPart(
            name: "ramps", limit: "limit", condition: nil, trip: "trip", tripShape: [], goesOn: slot,
            carried: [LoopPart.Carried(start: "start", given: "first", left: "next", result: "last")],
            rows: [LoopPart.Rows(row: "doubled", result: "rows", rowType: TensorType(.float32, [4]))], captured: [],
            body: body)),
        graph("shift", "rows", "unused", .relu),
      ])
  }

  /// Rows of twice the elements of one array, with those of another beside them; the last is first.
  private func scan(axis: Int) -> Function {
    let any = FeatureKind.tensor(.float32, [.flexible(name: "n", range: 0...Int.max, standard: nil)])
    return Function(
      inputs: [Feature(name: "start", type: any), Feature(name: "limit", type: any)],
      outputs: [Feature(name: "rows", type: any)],
      parts: [
        .loop(
          LoopPart(
            name: "scan", limit: nil, condition: nil, trip: nil, tripShape: [], goesOn: nil, carried: [],
            scanned: [
              LoopPart.Scanned(whole: "start", slice: "own", axis: -1, isBackwards: false),
              LoopPart.Scanned(whole: "limit", slice: "other", axis: axis, isBackwards: false),
            ],
            rows: [
              LoopPart.Rows(
                row: "doubled", result: "rows", rowType: TensorType(.float32, []), axis: -1, isBackwards: true)
            ],
            captured: [], body: [graph("double", "own", "doubled", UnaryFunction(.affine, a: 2, b: 0))])),
        graph("shift", "rows", "unused", .relu),
      ])
  }

  @Test func loopReadsOneSlicePerIteration() throws {
    #expect(
      try predict(scan(axis: 0), start: [1, 2, 3], limit: [0, 0, 0])["rows"]?.multiArrayValue?.doubles == [6, 4, 2])
    #expect(try predict(scan(axis: 0), start: [], limit: [])["rows"]?.multiArrayValue?.shape == [0])
    #expect { try predict(scan(axis: 0), start: [1, 2], limit: [3]) } throws: {
      "\($0)".contains("loop 'scan'") && "\($0)".contains("has 1 slices along axis 0, and 'start' has 2")
    }
    #expect { try predict(scan(axis: 1), start: [1], limit: [3]) } throws: {
      "\($0)".contains("'limit'") && "\($0)".contains("has no axis 1 for the slices")
    }
  }

  /// Passes its input on, or fails.
  private struct Passing: HostOperation {
    static let name = "passing"
    let inputs = ["start"]
    let outputs = ["passed"]
    let fails: Bool

    func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
      if fails { throw HostOperationError(step: Self.name, slot: "start", reason: "was run") }
      return inputs
    }
  }

  /// Passes on its initial values if its condition holds, and fails otherwise.
  private func branch(leaving slot: String = "passed") -> Function {
    let any = FeatureKind.tensor(.float32, [.flexible(name: "n", range: 0...Int.max, standard: nil)])
    return Function(
      inputs: [Feature(name: "start", type: any), Feature(name: "limit", type: any)],
      outputs: [Feature(name: "chosen", type: any)],
      parts: [
        .branch(
          BranchPart(
            name: "either", condition: "limit",
            then: BranchPart.Side(parts: [.host(Passing(fails: false))], left: ["passed"]),
            otherwise: BranchPart.Side(parts: [.host(Passing(fails: true))], left: [slot]), outputs: ["chosen"],
            captured: ["start"])),
        graph("shift", "chosen", "unused", .relu),
      ])
  }

  /// Makes numbers of those before, which it remembers without keeping them.
  private struct Link: HostOperation {
    /// The memory that a link has received.
    final class Memory: Sendable {
      private let given = Mutex<[Bytes.Unowned]>([])

      /// The number of received objects that still exist.
      var count: Int { given.withLock { $0.count { $0.bytes != nil } } }

      func remember(_ bytes: Bytes) { given.withLock { $0.append(Bytes.Unowned(bytes)) } }
    }

    static let name = "link"
    let place: Int
    let memory: Memory

    var inputs: [String] { ["\(place)"] }
    var outputs: [String] { ["\(place + 1)"] }

    func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
      let given = try tensor(0, inputs)
      memory.remember(given.bytes)
      guard memory.count <= 2 else { throw refused(0, "\(memory.count) values are kept") }
      return [.tensor(Tensor(given.floats.map { $0 + 1 }, given.shape))]
    }

    static func == (a: Self, b: Self) -> Bool { a.place == b.place }
    func hash(into hasher: inout Hasher) { hasher.combine(place) }
  }

  @Test func unusedValuesAreReleased() throws {
    let any = FeatureKind.tensor(.float32, [.flexible(name: "n", range: 0...Int.max, standard: nil)])
    let memory = Link.Memory()
    let inner = (1..<9).map { FunctionPart.host(Link(place: $0, memory: memory)) }
    let loop = LoopPart(
      name: "links", limit: "limit", condition: nil, trip: nil, tripShape: [], goesOn: nil,
      carried: [LoopPart.Carried(start: "start", given: "1", left: "9", result: "10")], rows: [], captured: [],
      body: inner)
    let links = Function(
      inputs: [Feature(name: "start", type: any), Feature(name: "limit", type: any)],
      outputs: [Feature(name: "20", type: any)],
      parts: [.loop(loop)] + (10..<20).map { .host(Link(place: $0, memory: memory)) } + [
        graph("shift", "20", "u", .relu)
      ])
    #expect(try predict(links, start: [0], limit: [3])["20"]?.multiArrayValue?.doubles == [34])
  }

  @Test func onlyTheTakenBranchRuns() throws {
    #expect(try predict(branch(), start: [1, 2], limit: [1])["chosen"]?.multiArrayValue?.doubles == [1, 2])
    #expect { try predict(branch(), start: [1], limit: [0]) } throws: {
      "\($0)".contains("passing of 'start': was run")
    }
    #expect { try predict(branch(), start: [1], limit: [1, 0]) } throws: {
      "\($0)".contains("branch 'either'") && "\($0)".contains("expected one number for which branch runs")
    }
    #expect { try branch(leaving: "nothing").verify() } throws: {
      "\($0)".contains("a branch of it leaves 'nothing', which nothing in it computes")
    }
  }

  private func predict(_ function: Function, start: [Float], limit: [Float]) throws -> DictionaryFeatureProvider {
    let inputs = DictionaryFeatureProvider(dictionary: [
      "start": FeatureValue(multiArray: MultiArray(Tensor(start, [start.count]))),
      "limit": FeatureValue(multiArray: MultiArray(Tensor(limit, [limit.count]))),
    ])
    return try predictor(function).predict(inputs, [:], nil)
  }

  @Test func loopEndsByItsLimitOrItsCondition() throws {
    for (limit, iterations) in [(Float(2), 2), (9, 4), (-1, 0), (0, 0)] {
      let outputs = try predict(loop(least: 4), start: [10], limit: [limit])
      #expect(outputs["last"]?.multiArrayValue?.doubles == [10 + Double(iterations)], "\(limit)")
      let rows = try #require(outputs["rows"]?.multiArrayValue)
      #expect(rows.shape == [iterations, 4], "\(limit)")
      let expected = (0..<4 * iterations).map { place in
        let (iteration, column) = place.quotientAndRemainder(dividingBy: 4)
        return Double(2 * (10 + iteration + column))
      }
      #expect(rows.doubles == expected, "\(limit)")
    }
  }

  @Test func invalidLoopValuesAreNamed() throws {
    #expect { try predict(loop(least: 0), start: [0], limit: [9]) } throws: { error in
      let string = "\(error)"
      return string.contains("loop 'ramps'") && string.contains("'doubled'")
        && string.contains("which form one array")
    }
    #expect { try predict(loop(least: 1), start: [0], limit: [1, 2]) } throws: {
      "\($0)".contains("'limit'") && "\($0)".contains("expected one number")
    }
    #expect { try predict(loop(least: 2, leaving: "ramp"), start: [0], limit: [9]) } throws: {
      "\($0)".contains("'ramp'") && "\($0)".contains("expected one number")
    }
    #expect { try loop(least: 1, leaving: "nothing").verify() } throws: {
      "\($0)".contains("its iterations leave 'nothing', which nothing in its body computes")
    }
  }

  @Test func endlessLoopNamesTheLastIteration() throws {
    let any = FeatureKind.tensor(.float32, [.flexible(name: "n", range: 0...Int.max, standard: nil)])
    let loop = LoopPart(
      name: "endless", limit: nil, condition: nil, trip: nil, tripShape: [], goesOn: nil,
      carried: [LoopPart.Carried(start: "start", given: "before", left: "after", result: "last")], rows: [],
      captured: [],
      body: [graph("double", "before", "after", .relu)])
    let endless = Function(
      inputs: [Feature(name: "start", type: any)], outputs: [Feature(name: "last", type: any)],
      parts: [.loop(loop), graph("shift", "last", "unused", .relu)])
    let inputs = ["start": FeatureValue(multiArray: MultiArray(Tensor([1] as [Float], [1])))]
    let predictor = try predictor(endless, WorkBudget.Limits(seconds: 0.2))
    #expect { try predictor.predict(DictionaryFeatureProvider(dictionary: inputs), [:], nil) } throws: { error in
      let error = error as? ModelError
      return error?.code == .limit && error?.description.contains("of the loop 'endless'") == true
        && error?.description.contains("while predicting") == true
    }
  }

  private func predictor(_ function: Function, _ limits: WorkBudget.Limits = .init()) throws -> Predictor {
    var options = LoadOptions()
    options.limits = limits
    options.cacheDirectory = nil
    options.request = PlanRequest(units: .devices(["cpu"]), precision: .full, threads: 1)
    let program = ModelProgram(
      functions: ["main": function], defaultFunction: "main", metadata: ModelMetadata(),
      structure: .network(layers: []), source: ModelSource(path: "parts", format: .onnx, version: 1, files: []))
    let loaded = try LoadedModel(program: program, options: options)
    #expect(loaded.graphs.allSatisfy { $0 == nil }, "their sizes depend on data")
    let planned = try PlannedModel(loaded, shown: loaded.shown.explain())
    return try planned.predictor(specializationLimit: 2)
  }

  private func strings(_ strings: [String]) -> DictionaryFeatureProvider {
    DictionaryFeatureProvider(dictionary: ["strings": FeatureValue(sequence: FeatureSequence(strings: strings))])
  }

  @Test func hostOperationsAndGraphsRunInOrder() throws {
    let predictor = try predictor(function())
    for (words, shifted, doubled) in [
      (["a", "abcd", "abcdef"], [-2.0, 1, 3], [2.0, 6]), (["abcdefgh"], [5], [10]), (["a", "b"], [-2, -2], []),
      (["abcd", "a", "abcdef"], [1, -2, 3], [2, 6]),
    ] {
      let outputs = try predictor.predict(strings(words), [:], nil)
      #expect(outputs["shifted"]?.multiArrayValue?.doubles == shifted)
      #expect(outputs["doubled"]?.multiArrayValue?.doubles == doubled)
      #expect(outputs["lengths"] == nil, "what lies between parts is none of the outputs")
    }
  }

  @Test func laterGraphWritesIntoTheCallerMemory() throws {
    let predictor = try predictor(function())
    let memory = try MultiArray(shape: [2], dataType: .float32)
    for words in [["abcd", "abcde"], ["abcdef", "abcdefg"], ["abcd", "abcdefg"]] {
      let outputs = try predictor.predict(strings(words), ["doubled": .multiArray(memory)], nil)
      #expect(outputs["doubled"]?.multiArrayValue === memory)
      #expect(memory.doubles == words.map { 2 * Double($0.count - 3) })
    }
  }

  @Test func valueOfWrongKindIsNamed() throws {
    let predictor = try predictor(function())
    let numbers = DictionaryFeatureProvider(dictionary: [
      "strings": FeatureValue(sequence: FeatureSequence(int64s: [1]))
    ])
    #expect { try predictor.predict(numbers, [:], nil) } throws: { error in
      "\(error)".contains("'strings'") && "\(error)".contains("expected sequence")
    }
    #expect { try predictor.predict(DictionaryFeatureProvider(dictionary: [:]), [:], nil) } throws: { error in
      "\(error)".contains("'strings'") && "\(error)".contains("no value was given")
    }
  }

  @Test func inconsistentPartsAreRefused() {
    var backwards = function()
    backwards.parts.reverse()
    #expect { try backwards.verify() } throws: {
      "\($0)".contains("reads 'positive', which is not computed before it")
    }
    var short = function()
    short.parts.removeLast()
    #expect { try short.verify() } throws: { "\($0)".contains("output 'doubled': nothing computes it") }
    var twins = function()
    twins.parts[3] = graph("shift", "positive", "doubled", .relu)
    #expect { try twins.verify() } throws: { "\($0)".contains("another graph of the function has this name") }
  }
}
