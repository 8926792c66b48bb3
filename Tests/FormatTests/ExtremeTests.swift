import KelvinBasics
import KelvinCoreML
import KelvinGraph
import KelvinImport
import KelvinONNX
import KelvinPasses
import KelvinReference
import TestSupport
import Testing

extension HeavyTests {
  /// Sizes and counts at the ends of their ranges, in every field of a model that has numbers.
  @Suite struct ExtremeTests {
    private static let numbers = [
      Int.min, Int.min + 1, -(1 << 62), -(1 << 31), -2, -1, 0, 1, 2, 3, 7, 1 << 15, 1 << 16, 1 << 20, (1 << 31) - 1,
      1 << 31,
      1 << 36, 1 << 40, 1 << 61, 1 << 62, Int.max - 1, Int.max,
    ]
    private static let shapes: [[Int]] = [
      [], [0], [1], [2, 3], [0, 1 << 36], [1 << 36, 0], [1 << 37], [1, 4, 6, 6], [1, 4, 0, 6], [1, 1 << 30, 4, 0],
      [1, 1 << 36, 0, 0], [1 << 12, 1 << 12, 1 << 6, 1 << 6], [Int](repeating: 1, count: 32), [1, 1 << 40],
      [1 << 62, 2], [Int.max],
    ]
    private static let attributes: [(kind: String, integers: [String], lists: [String], inputs: [String])] = [
      ("ArgMax", ["axis", "keepdims", "select_last_index"], [], []),
      ("AveragePool", ["ceil_mode", "count_include_pad"], ["kernel_shape", "strides", "pads", "dilations"], []),
      ("Cast", ["to"], [], []),
      ("Concat", ["axis"], [], []),
      ("ConstantOfShape", [], [], ["only"]),
      ("DepthToSpace", ["blocksize"], [], []),
      ("Expand", [], [], ["shape"]),
      ("Flatten", ["axis"], [], []),
      ("Gather", ["axis"], [], ["indices"]),
      ("GlobalAveragePool", [], [], []),
      ("LogSoftmax", ["axis"], [], []),
      ("MaxPool", ["ceil_mode"], ["kernel_shape", "strides", "pads", "dilations"], []),
      ("Pad", [], [], ["pads"]),
      ("ReduceSum", ["keepdims", "noop_with_empty_axes"], [], ["axes"]),
      ("Reshape", ["allowzero"], [], ["shape"]),
      ("Shape", ["start", "end"], [], []),
      ("Size", [], [], []),
      ("Slice", [], [], ["starts", "ends", "axes", "steps"]),
      ("Softmax", ["axis"], [], []),
      ("SpaceToDepth", ["blocksize"], [], []),
      ("Split", ["axis", "num_outputs"], [], ["split"]),
      ("Squeeze", [], [], ["axes"]),
      ("Tile", [], [], ["repeats"]),
      ("Transpose", [], ["perm"], []),
      ("Unsqueeze", [], [], ["axes"]),
    ]

    @Test(arguments: Tier.sample(8, of: attributes.map(\.kind)))
    func extremeAttributesAreRefusedOrRead(kind: String) async {
      await #expect(processExitsWith: .success) { [kind] in
        let place = try #require(ExtremeTests.attributes.first { $0.kind == kind })
        var watch = MemoryWatch()
        var generator = SeededGenerator(seed: UInt64(kind.utf8.reduce(0) { $0 &* 31 &+ Int($1) }))
        for shape in ExtremeTests.shapes {
          for opset in [7, 12, 18] {
            for _ in 0..<12 {
              func number() -> Int { ExtremeTests.numbers.randomElement(using: &generator) ?? 0 }
              func list() -> [Int] {
                (0..<[shape.count, 1, 2, 2 * shape.count, Int.random(in: 0...4, using: &generator)].randomElement(
                  using: &generator)!)
                  .map { _ in number() }
              }
              var file = ONNXFile()
              file.opset = opset
              file.input("x", shape)
              for name in place.inputs { file.integers(name, list()) }
              file.addNode(
                kind, ["x"] + place.inputs, ["y", "z"], integers: place.integers.map { ($0, number()) },
                lists: place.lists.map { ($0, list()) })
              file.output("y")
              let bytes = file.bytes
              #expect(settleONNX(bytes, "\(kind) of \(shape) in set \(opset)") != nil)
            }
            watch.look()
          }
        }
        #expect(watch.isBounded)
      }
    }

    /// The same on constants, which are computed while the graph is built.
    @Test(arguments: attributes.map(\.kind)) func extremeAttributesOfConstantsAreRefusedOrRead(kind: String) throws {
      let place = try #require(Self.attributes.first { $0.kind == kind })
      var generator = SeededGenerator(seed: 1)
      var graphs = 0
      for shape in [[], [1], [6], [2, 3], [1, 4, 2, 2], [0, 1 << 30], [1 << 30, 0], [1 << 20, 1, 0, 2]] as [[Int]] {
        for _ in 0..<40 {
          func number() -> Int { Self.numbers.randomElement(using: &generator) ?? 0 }
          var file = ONNXFile()
          file.input("free", [1])
          file.ramp("x", shape)
          func list() -> [Int] {
            (0..<[max(shape.count, 1), 2 * shape.count].randomElement(using: &generator)!)
              .map { _ in Bool.random(using: &generator) ? Int.random(in: 0...3, using: &generator) : number() }
          }
          for name in place.inputs { file.integers(name, list()) }
          file.addNode(
            kind, ["x"] + place.inputs, ["y"], integers: place.integers.map { ($0, number()) },
            lists: place.lists.map { ($0, list()) })
          file.node("Identity", ["free"], ["through"])
          file.output("y")
          file.output("through")
          if settleONNX(file.bytes, "\(kind) of \(shape)") == .graph { graphs += 1 }
        }
      }
      #expect(graphs > 0 || ["AveragePool", "ConstantOfShape", "MaxPool"].contains(kind))
    }

    @Test(.slow) func manyOrdinaryOperationsOnOneConstantStayCheap() throws {
      var file = ONNXFile()
      file.input("x", [1])
      file.ramp("c", [64, 32])
      for index in 0..<20_000 {
        file.node(index < 10_000 ? "Transpose" : "Neg", [index == 0 ? "c" : "v\(index - 1)"], ["v\(index)"])
      }
      file.node("Add", ["x", "v19999"], ["y"])
      file.output("y")
      let graph = try readONNX(Bytes(file.bytes), path: "m.onnx").graph()
      let folded = try Pipeline.standard(ReferenceEvaluator()).run(graph).graph
      // The last first: computing a weight must not recurse through thousands of others.
      for value in graph.values.reversed() + folded.values.reversed() { _ = value.weight?.dense() }
      #expect(folded.nodes.count < 20_000)
    }

    @Test(.slow) func manyEquallyNamedOperationsStayCheap() throws {
      var file = ONNXFile()
      file.input("x", [1])
      for index in 0..<40_000 { file.node("Relu", [index == 0 ? "x" : "v\(index - 1)"], ["v\(index)"], name: "same") }
      file.output("v39999")
      #expect(try readONNX(Bytes(file.bytes), path: "m.onnx").graph().nodes.count == 40_000)
    }

    @Test func manyNormalizationsInARowStayCheap() throws {
      var file = ONNXFile()
      file.input("x", [1, 2, 3, 3])
      file.ramp("w", [2, 2, 1, 1])
      file.ramp("c", [2])
      file.node("Conv", ["x", "w"], ["v0"])
      for index in 1...5000 {
        file.node("BatchNormalization", ["v\(index - 1)", "c", "c", "c", "c"], ["v\(index)"], ["epsilon": .float(3)])
      }
      file.output("v5000")
      #expect(settleONNX(file.bytes) == .graph)
    }

    @Test func constantMuchLargerThanItsFileIsNotComputed() async {
      await #expect(processExitsWith: .success) {
        var watch = MemoryWatch()
        var file = ONNXFile()
        file.input("x", [1])
        file.integers("shape", [1 << 12, 1 << 12])
        for index in 0..<8 {
          file.node(
            "ConstantOfShape", ["shape"], ["c\(index)"], ["value": .tensor(ONNXFile.tensor("", [2 as Float], [1]))])
          file.node("Add", ["c\(index)", "x"], ["y\(index)"])
          file.output("y\(index)")
        }
        let graph = try readONNX(Bytes(file.bytes), path: "m.onnx").graph()
        let folded = try Pipeline.standard(ReferenceEvaluator()).run(graph).graph
        let given = 1024
        #expect(folded.values.reduce(0) { $0 + ($1.weight?.type.byteCount ?? 0) } <= 128 << 20 + given)
        watch.look()
        #expect(watch.isBounded)
      }
    }

    @Test func tooLargeSumsOfSizesAreRefused() {
      for size in [1 << 37, 1 << 59, 1 << 60] {
        var file = ONNXFile()
        for index in 0..<5 { file.input("x\(index)", [size], type: ONNXFile.double) }
        file.node("Concat", (0..<5).map { "x\($0)" }, ["y"], ["axis": .integer(0)])
        file.output("y")
        #expect(settleONNX(file.bytes) == .refused)
      }
    }

    private static let operations: [(kind: String, scalars: [String], lists: [String])] = [
      ("concat", ["axis", "interleave"], []), ("depth_to_space", ["block_size"], []), ("expand_dims", [], ["axes"]),
      ("fill", [], ["shape"]), ("flatten2d", ["axis"], []),
      ("max_pool", ["ceil_mode"], ["kernel_sizes", "strides", "pad"]),
      ("pad", [], ["pad"]), ("pixel_shuffle", ["upscale_factor"], []), ("reduce_argmin", ["axis", "keep_dims"], []),
      ("reduce_max", ["keep_dims"], ["axes"]), ("reshape", [], ["shape"]),
      ("slice_by_index", [], ["begin", "end", "stride"]),
      ("slice_by_size", [], ["begin", "size"]), ("softmax", ["axis"], []), ("space_to_depth", ["block_size"], []),
      ("split", ["axis", "num_splits"], ["split_sizes"]), ("squeeze", [], ["axes"]), ("stack", ["axis"], []),
      ("tile", [], ["reps"]), ("transpose", [], ["perm"]),
      ("upsample_nearest_neighbor", ["scale_factor_height", "scale_factor_width"], []),
    ]

    @Test(arguments: operations.map(\.kind)) func extremeProgramAttributesAreRefusedOrRead(kind: String) throws {
      let place = try #require(Self.operations.first { $0.kind == kind })
      var generator = SeededGenerator(seed: 2)
      for shape in Self.shapes where shape.allSatisfy({ $0 <= 1 << 40 }) {
        for _ in 0..<20 {
          func number() -> Int { Self.numbers.randomElement(using: &generator) ?? 0 }
          var file = MILFile()
          file.input("x", shape)
          for name in place.scalars { file.longs(name, [number()], scalar: true) }
          for name in place.lists {
            let count =
              [shape.count, max(shape.count - 2, 0), 2 * shape.count, 1].randomElement(using: &generator) ?? 0
            file.longs(name, (0..<count).map { _ in number() })
          }
          file.text("custom", "custom")
          file.operation(
            kind, ["x": ["x"], "values": ["x", "x"], "pad_type": ["custom"]], also: place.scalars + place.lists, "y",
            shape)
          file.output("y", shape)
          let bytes = file.bytes
          let ending = settle("\(kind) of \(shape)") { try readCoreML(Bytes(bytes), path: "m", folder: ".", files: []) }
          #expect(ending != nil)
        }
      }
    }

    @Test func aLongNameOrListIsRefused() {
      var file = ONNXFile()
      file.input("x", [1])
      file.node("Relu", ["x"], ["y"], name: String(repeating: "n", count: 1 << 20))
      file.output("y")
      #expect(settleONNX(file.bytes) == .refused)
      file = ONNXFile()
      file.input("x", [1])
      file.node("Sum", [String](repeating: "x", count: 1 << 16), ["y"])
      file.output("y")
      #expect(settleONNX(file.bytes) == .refused)
    }

    @Test func deeplyNestedTypesAreRefused() {
      var type = MILFile.type(MILFile.float32, [1])
      for _ in 0..<2000 {
        let inner = type
        type = Wire.message { $0.message(5) { $0.bytes(1, inner) } }
      }
      var file = MILFile()
      file.input("x", [1])
      file.constant("c", MILFile.float32, [1], Wire.message { $0.bytes(2, type) })
      file.output("x", [1])
      #expect(settle("types") { try readCoreML(Bytes(file.bytes), path: "m", folder: ".", files: []) } == .refused)
    }

    @Test func hugeWindowOverAConstantIsNotComputed() {
      var file = ONNXFile()
      file.input("x", [1, 1, 1, 1])
      file.ramp("c", [1, 1, 1, 1])
      let (kernel, pad) = ((1 << 18) + 1, 1 << 17)
      file.node(
        "AveragePool", ["c"], ["p"],
        ["kernel_shape": .integers([kernel, kernel]), "pads": .integers([pad, pad, pad, pad])])
      file.node("Add", ["x", "p"], ["y"])
      file.output("y")
      #expect(settleONNX(file.bytes) == .graph)
    }

    @Test func deeplyNestedGraphsAreRefused() {
      var inner = Wire.message { $0.text(2, "innermost") }
      for _ in 0..<2000 {
        let graph = inner
        inner = Wire.message {
          $0.message(1) {
            $0.text(4, "If")
            $0.message(5) { $0.bytes(6, graph) }
          }
        }
      }
      var file = ONNXFile()
      file.input("x", [1])
      file.node("If", ["x"], ["y"], ["then_branch": .graph(inner)])
      file.output("y")
      #expect(settleONNX(file.bytes) == .refused)
    }

    @Test func deeplyNestedBlocksAreRefused() {
      var blocks: [[UInt8]] = []
      for _ in 0..<2000 {
        var file = MILFile()
        file.operation("cond", [:], "y", [1], blocks: blocks)
        blocks = [file.block]
      }
      var file = MILFile()
      file.input("x", [1])
      file.operation("cond", [:], "y", [1], blocks: blocks)
      file.output("y", [1])
      let bytes = file.bytes
      #expect(settle("blocks") { try readCoreML(Bytes(bytes), path: "m", folder: ".", files: []) } == .refused)
    }

    @Test func deeplyNestedPipelinesAreRefused() {
      var model = MILFile().bytes
      for _ in 0..<2000 {
        let inner = model
        model = Wire.message { $0.message(202) { $0.bytes(1, inner) } }
      }
      let bytes = model
      #expect(settle("pipelines") { try readCoreML(Bytes(bytes), path: "m", folder: ".", files: []) } == .refused)
    }
  }
}

extension ONNXFile {
  fileprivate mutating func addNode(
    _ kind: String, _ inputs: [String], _ outputs: [String], integers: [(String, Int)], lists: [(String, [Int])]
  ) {
    raw(
      Wire.message {
        for input in inputs { $0.text(1, input) }
        for output in outputs { $0.text(2, output) }
        $0.text(4, kind)
        for (name, value) in integers {
          $0.message(5) {
            $0.text(1, name)
            $0.integer(3, value)
          }
        }
        for (name, values) in lists {
          $0.message(5) {
            $0.text(1, name)
            $0.packed(8, values)
          }
        }
      })
  }
}
