import Kelvin
import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPasses
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// Non-maximum suppression against an oracle that follows its definition step by step: ties, NaN, negative sizes, boxes
/// as centres and as corners. Coordinates are multiples of 1/4, so that every area is exact.
@Suite struct SuppressionTests {
  private struct Box {
    var low: [Double]
    var high: [Double]
    var area: Double

    /// Centre and size.
    init(centred c: [Double]) {
      low = [0, 1].map { c[$0] - c[$0 + 2] / 2 }
      high = [0, 1].map { c[$0] + c[$0 + 2] / 2 }
      area = c[2] * c[3]
    }

    /// Two opposite corners, in any order.
    init(corners c: [Double]) {
      let c = c.contains(where: \.isNaN) ? c.map { _ in .nan } : c
      low = [0, 1].map { Swift.min(c[$0], c[$0 + 2]) }
      high = [0, 1].map { Swift.max(c[$0], c[$0 + 2]) }
      area = (high[0] - low[0]) * (high[1] - low[1])
    }

    func overlaps(_ other: Box, by threshold: Double) -> Bool {
      guard !(low + high + other.low + other.high).contains(where: \.isNaN) else { return false }
      var shared = 1.0
      for axis in 0..<2 {
        let side = Swift.min(high[axis], other.high[axis]) - Swift.max(low[axis], other.low[axis])
        guard side > 0 else { return false }
        shared *= side
      }
      return shared > threshold * (area + other.area - shared)
    }
  }

  /// The boxes that are picked of one image, in their order.
  private func picked(
    _ boxes: [Box], _ scores: [Double], _ labels: [Int], most: Int, overlap: Double, accepts: (Double) -> Bool
  ) -> [Int] {
    var left = scores.indices.filter { !scores[$0].isNaN && accepts(scores[$0]) }
    var picked: [Int] = []
    while picked.count < most, let best = left.max(by: { (scores[$0], $1) < (scores[$1], $0) }) {
      picked.append(best)
      left.removeAll { $0 == best || labels[$0] == labels[best] && boxes[best].overlaps(boxes[$0], by: overlap) }
    }
    return picked
  }

  /// Numbers on a grid, so that many are equal; some are NaN.
  private func numbers(
    _ count: Int, _ range: ClosedRange<Int>, _ strange: Double, _ random: inout SeededGenerator
  ) -> [Float] {
    (0..<count).map { _ in
      random.unit() < strange ? .nan : Float(Int.random(in: range, using: &random)) / 4
    }
  }

  private func graph(_ op: NonMaximumSuppression, _ types: [TensorType]) throws -> Graph {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let inputs = try types.enumerated().map { try builder.input("x\($0)", $1) }
    let results = try builder.add(
      op, inputs, name: "node", outputNames: (0..<4).map { "y\($0)" }, origin: Origin(name: "node", kind: "", index: 0))
    results.forEach { builder.output($0) }
    return try builder.finish()
  }

  /// The numbers of one row of a matrix.
  private func row(_ index: Int, of width: Int, _ numbers: [Float]) -> [Double] {
    numbers[index * width..<(index + 1) * width].map { Double($0) }
  }

  /// Boxes as centre and size.
  private func centred(_ count: Int, sizes: ClosedRange<Int>, _ strange: Double, _ random: inout SeededGenerator)
    -> [Float]
  {
    var boxes: [Float] = []
    for _ in 0..<count {
      boxes += numbers(2, -8...8, strange, &random)
      boxes += numbers(2, sizes, strange, &random)
    }
    return boxes
  }

  /// Returns the expected result for one image: the boxes picked.
  private func expected(
    _ boxes: [Box], _ scores: [[Double]], _ op: NonMaximumSuppression, overlap: Float, least: Float
  ) -> [Int] {
    var (best, labels) = ([Double](), [Int]())
    for own in scores {
      let largest = own.filter { !$0.isNaN }.max() ?? Double.nan
      best.append(largest)
      labels.append(op.isPerClass ? own.firstIndex(of: largest) ?? 0 : 0)
    }
    let threshold = Double(least)
    return picked(boxes, best, labels, most: op.maximumBoxes, overlap: Double(overlap)) { $0 >= threshold }
  }

  @Test func suppressionMatchesItsDefinition() throws {
    for seed in Tier.seeds(UInt64(40), of: 300) {
      var random = SeededGenerator(seed: seed)
      let images = Int.random(in: 1...3, using: &random)
      let count = Int.random(in: 0...24, using: &random)
      let classes = Int.random(in: 1...4, using: &random)
      let op = NonMaximumSuppression(
        maximumBoxes: Int.random(in: 0...26, using: &random), isPerClass: Bool.random(using: &random))
      let most = op.maximumBoxes
      let strange = seed % 3 == 0 ? 0.1 : 0
      // Sizes from negative ones on.
      let boxes = centred(images * count, sizes: seed % 4 == 0 ? -6...10 : 1...10, strange, &random)
      var scores = numbers(images * count * classes, -2...6, strange, &random)
      if seed % 2 == 0 { scores = scores.map { $0 == 0 ? -Float.zero : $0 } }
      let overlap: Float = [Float(0), 0.25, 0.3, 0.5, 0.9, 1].randomElement(using: &random) ?? 0
      let least: Float = [-Float.infinity, 0, 0.5, 2].randomElement(using: &random) ?? 0
      let inputs: [Tensor] = [
        Tensor(boxes, [images, count, 4]), Tensor(scores, [images, count, classes]), Tensor([overlap], []),
        Tensor([least], []),
      ]
      let graph = try graph(op, inputs.map { $0.type })
      var (indices, counts, rows) = ([Int](), [Int](), [Double]())
      for image in 0..<images {
        let own = (0..<count).map { row(image * count + $0, of: 4, boxes) }
        let ranked = (0..<count).map { row(image * count + $0, of: classes, scores) }
        let found = expected(own.map { Box(centred: $0) }, ranked, op, overlap: overlap, least: least)
        let missing = most - found.count
        indices += found + [Int](repeating: -1, count: missing)
        counts.append(found.count)
        rows += found.flatMap { own[$0] } + [Double](repeating: 0, count: missing * 4)
      }
      for device in ["reference", "cpu"] {
        let results = try graph.compiled(on: [device]).makeSession().run(inputs)
        #expect(results[3].integers == counts, "seed \(seed), \(device)")
        #expect(results[2].integers == indices, "seed \(seed), \(device)")
        let isSame = zip(results[0].doubles, rows).allSatisfy { $0.isNaN ? $1.isNaN : $0 == $1 }
        #expect(isSame && results[0].count == rows.count, "seed \(seed), \(device): boxes")
      }
    }
  }

  /// The two models of the vectors, on random boxes: exact sizes, on each device and with every node placed at random.
  @Test(arguments: ["suppressed", "images"]) func suppressedSizesAreExactUnderAnyPlacement(name: String) throws {
    let path = "\(SharedFiles.projectRoot)/Tests/Vectors/DataSizes/\(name).onnx"
    let function = try readModel(at: path).function(nil)
    let part = try #require(function.graphParts.first)
    let isCentred = name == "images"
    let (images, classes, count) = isCentred ? (2, 4, 16) : (1, 3, 24)
    let (most, overlap, least) = isCentred ? (3, Float(0.5), -Double.infinity) : (5, Float(0.4), Double(Float(0.3)))
    let graph = try Pipeline.standard(ReferenceEvaluator()).run(
      part.source.graph(shapes: [:], evaluator: ReferenceEvaluator())
    ).graph
    let compiled = try (["reference"] + ModelFixture.fastDevices).map {
      (what: $0, session: try graph.compiled(on: [$0]).makeSession())
    }
    let placed = try Tier.seeds(UInt64(2), of: 6).map { seed in
      let pins = try graph.randomPins(seed: seed)
      return (what: "\(pins)", session: try graph.compiled(on: ModelFixture.fastDevices, pins: pins).makeSession())
    }
    for seed in Tier.seeds(UInt64(10), of: 40) {
      var random = SeededGenerator(seed: seed)
      let strange = seed % 4 == 3 ? 0.1 : 0
      let centres = centred(images * count, sizes: 1...12, strange, &random)
      var boxes = centres
      // Corners, in any order.
      for place in stride(from: 0, to: isCentred ? 0 : boxes.count, by: 4) {
        let (ends, starts) = place % 8 == 0 ? (2, 0) : (0, 2)
        for axis in 0..<2 {
          boxes[place + starts + axis] = centres[place + axis]
          boxes[place + ends + axis] = centres[place + axis] + centres[place + 2 + axis]
        }
      }
      let scores = numbers(images * classes * count, seed % 5 == 0 ? -4 ... -1 : -2...4, strange, &random)
      var rows: [Int] = []
      for image in 0..<images {
        let own = (0..<count).map { box -> Box in
          let numbers = row(image * count + box, of: 4, boxes)
          return isCentred ? Box(centred: numbers) : Box(corners: numbers)
        }
        for label in 0..<classes {
          let scores = row(image * classes + label, of: count, scores)
          let found = picked(
            own, scores, [Int](repeating: 0, count: count), most: most, overlap: Double(overlap)
          ) { $0 > least }
          rows += found.flatMap { [image, label, $0] }
        }
      }
      let given = ["boxes": Tensor(boxes, [images, count, 4]), "scores": Tensor(scores, [images, classes, count])]
      let inputs = try graph.inputs.map { try #require(given[graph[$0].name]) }
      let position = try #require(part.outputs.firstIndex(of: "rows"))
      for (what, session) in compiled + placed {
        let room = try session.run(inputs)
        let exact = try graph.exactOutput(position) { $1.map(room[$0].part) ?? room[$0] }
        #expect(exact.shape == [rows.count / 3, 3] && exact.integers == rows, "seed \(seed), \(what)")
      }
    }
  }

  /// The indices of elements that are not zero, of every element type and rank, on each device and with the node placed
  /// at random.
  @Test func nonZeroIndicesAreExactOnEachDevice() throws {
    for seed in Tier.seeds(UInt64(10), of: 60) {
      var random = SeededGenerator(seed: seed)
      let shape = Shape((0..<Int.random(in: 1...4, using: &random)).map { _ in Int.random(in: 1...5, using: &random) })
      let scalar = [ScalarType.float32, .float16, .int32, .int64, .bool, .uint8].randomElement(using: &random) ?? .bool
      let share = random.unit()
      let values = (0..<shape.count).map { _ in
        random.unit() < share ? 0 : scalar.isFloatingPoint && random.unit() < 0.1 ? Double.nan : 1
      }
      let x = Tensor(TensorType(scalar, shape), rounding: values)
      var builder = GraphBuilder(evaluator: ReferenceEvaluator())
      let input = try builder.input("x", x.type)
      let results = try builder.add(
        NonZero(), [input], name: "node", outputNames: ["places", "count"],
        origin: Origin(name: "node", kind: "", index: 0))
      results.forEach { builder.output($0) }
      builder.extent(of: 0, axis: 1, countedBy: 1)
      let graph = try builder.finish()
      let found = values.indices.filter { values[$0] != 0 }
      let places = shape.strides.enumerated().flatMap { axis, stride in found.map { $0 / stride % shape[axis] } }
      for devices in [["reference"]] + ModelFixture.fastDevices.map({ [$0] }) + [ModelFixture.fastDevices] {
        let pins = devices.count > 1 ? try graph.randomPins(seed: seed) : [:]
        let room = try graph.compiled(on: devices, pins: pins).makeSession().run([x])
        let exact = try graph.exactOutput(0) { $1.map(room[$0].part) ?? room[$0] }
        #expect(exact.shape == [shape.rank, found.count] && exact.integers == places, "seed \(seed), \(devices)")
      }
    }
  }
}
