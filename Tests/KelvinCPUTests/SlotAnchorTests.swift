import ConformanceChecks
import KelvinBasics
import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import Testing

/// Concatenated values are computed in place, and slices are read in place.
struct SlotAnchorTests {
  private var random = SeededGenerator(seed: 1)
  private var builder = GraphBuilder(evaluator: ReferenceEvaluator())
  private var count = 0

  private mutating func add(_ op: any Operator, _ operands: [ValueID], _ name: String? = nil) throws -> ValueID {
    count += 1
    let name = name ?? "\(type(of: op).name) \(count)"
    return try builder.add(op, operands, name: name, origin: Origin(name: name, kind: "Test", index: 0))[0]
  }

  /// A convolution, which uses blocks if the device has them.
  private mutating func convolution(_ x: ValueID, from inputs: Int, to outputs: Int) throws -> ValueID {
    let weight = Tensor.random(.float32, [outputs, inputs, 3, 3], -0.2...0.2, &random)
    let window = Window(kernel: [3, 3], before: [1, 1], after: [1, 1])
    return try add(Convolution(window: window), [x, builder.constant("w", weight)])
  }

  private func moved(_ timings: [NodeTiming], _ prefix: String) -> [String] {
    timings.filter { $0.node.hasPrefix(prefix) && $0.seconds > 0 }.map(\.node)
  }

  @Test("a dense block's concatenations copy nothing", arguments: CPUDevice.variantNames.indices)
  func denseBlock(variant: Int) throws {
    var test = self
    let input = Tensor.random(.float32, [1, 32, 6, 6], -1...1, &test.random)
    // Each layer reads all previous results, as in DenseNet: one form lists every operand again, the other uses the
    // last concatenation.
    for isNested in [false, true] {
      test.builder = GraphBuilder(evaluator: ReferenceEvaluator())
      var parts = [try test.convolution(try test.builder.input("x", input.type), from: 32, to: 64)]
      var last = parts[0]
      for layer in 0..<4 {
        let features = try test.add(Unary(.relu), [last])
        parts.append(try test.convolution(features, from: 64 + 32 * layer, to: 32))
        last = try test.add(Concat(axis: 1), isNested ? [last, parts[layer + 1]] : parts, "join \(layer)")
      }
      test.builder.output(try test.convolution(last, from: 192, to: 16))
      let graph = try test.builder.finish()
      for threads in [1, 3] {
        let result = try CPUDevice(variant: variant).run(graph, [input], threads: threads, measuresNodes: true)
        #expect(test.moved(result.timings, "join").isEmpty, "nested: \(isNested)")
        expectClose(result.outputs[0], try ReferenceDevice().run(graph, [input]).outputs[0], within: 1e-4)
      }
    }
  }

  @Test("a value that is an output and a part of another output is correct in both")
  func leavingParts() throws {
    var test = self
    let input = Tensor.random(.float32, [2, 16], -1...1, &test.random)
    let x = try test.builder.input("x", input.type)
    let part = try test.add(Unary(.relu), [x])
    let joined = try test.add(Concat(axis: 0), [part, x, part])
    let cut = try test.add(Slice(starts: [2, 0], counts: [2, 16], steps: [1, 1]), [joined])
    for output in [part, joined, cut] { test.builder.output(output) }
    let graph = try test.builder.finish()
    let expected = try ReferenceDevice().run(graph, [input]).outputs
    #expect(try CPUDevice().run(graph, [input]).outputs.map(\.floats) == expected.map(\.floats))
  }

  @Test("a float16 input that leaves as float32 is converted in the caller's memory, where other steps read it")
  func leavingInput() throws {
    for others in [false, true] {
      var test = self
      let input = Tensor.random(.float16, [2, 24], -1...1, &test.random)
      let x = try test.builder.input("x", input.type)
      let wide = try test.add(Cast(.float32), [x])
      test.builder.output(wide)
      if others {
        test.builder.output(try test.add(Unary(.relu), [wide]))
        test.builder.output(try test.add(Unary(.relu), [x]))
      }
      let graph = try test.builder.finish()
      let expected = try ReferenceDevice().run(graph, [input]).outputs
      #expect(try CPUDevice().run(graph, [input]).outputs.map(\.doubles) == expected.map(\.doubles))
      guard !others else { continue }
      let segment = Segment(
        graph: graph, precision: .full, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(),
        blobs: NoBlobCache())
      #expect(try CPUDevice().compile(segment).scratchByteCount == 0)
    }
  }

  @Test(
    "random graphs of concatenations and slices match the reference",
    arguments: 1...60 as ClosedRange<UInt64>)
  func randomGraphs(seed: UInt64) throws {
    var test = self
    test.random = SeededGenerator(seed: seed)
    let scalar: ScalarType = seed % 4 == 0 ? .float16 : .float32
    let batch = seed % 5 == 0 ? 2 : 1
    let width = seed % 3 == 0 ? 3 : 4
    func shape(_ channels: Int) -> Shape { Shape([batch, channels, width, 4]) }
    let input = Tensor.random(scalar, shape(32), -1...1, &test.random)
    var pool = [(id: try test.builder.input("x", input.type), channels: 32)]
    func pick() -> (id: ValueID, channels: Int) { pool[test.random.index(below: pool.count)] }
    for _ in 0..<14 {
      switch test.random.index(below: 5) {
      case 0:
        let x = pick()
        pool.append((try test.add(Unary(.relu), [x.id]), x.channels))
      case 1:
        let x = pick()
        let first = test.random.index(below: x.channels)
        let length = 1 + test.random.index(below: x.channels - first)
        pool.append(
          (
            try test.add(
              Slice(starts: [0, first, 0, 0], counts: [batch, length, width, 4], steps: [1, 1, 1, 1]), [x.id]), length
          ))
      case 2:
        let x = pick()
        guard x.channels % 2 == 0 else { continue }
        let flat = try test.add(Reshape([batch, x.channels * width * 4]), [x.id])
        let y = try test.add(Binary(.add), [flat, flat])
        pool.append((try test.add(Reshape(shape(x.channels)), [y]), x.channels))
      default:
        let operands = (0..<(1 + test.random.index(below: 3))).map { _ in pick() }
        let channels = operands.reduce(0) { $0 + $1.channels }
        guard channels < 400 else { continue }
        pool.append((try test.add(Concat(axis: 1), operands.map(\.id)), channels))
      }
    }
    for place in Set([pool.count - 1, test.random.index(below: pool.count)]).sorted() where place > 0 {
      test.builder.output(pool[place].id)
    }
    let graph = try test.builder.finish()
    let expected = try ReferenceDevice().run(graph, [input]).outputs
    for variant in CPUDevice.variantNames.indices {
      let outputs = try CPUDevice(variant: variant).run(graph, [input], threads: 2).outputs
      #expect(outputs.map(\.doubles) == expected.map(\.doubles), "seed \(seed), \(CPUDevice.variantNames[variant])")
    }
  }
}
