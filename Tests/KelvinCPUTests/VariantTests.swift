import ConformanceChecks
import Glibc
import KelvinBasics
import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// Every instruction set on random shapes, against the reference.
@Suite struct VariantTests {
  private static let sizes = [1, 2, 3, 4, 5, 7, 8, 11, 13, 15, 16, 17, 23, 31, 33, 48, 49, 53]

  private func check(
    _ op: any Operator, _ x: Tensor, weights: [Tensor] = [], inputs: [Tensor] = [], threads: Int, _ place: String
  ) throws {
    let (graph, inputs) = try oneNode(op, x, weights: weights, inputs: inputs)
    let expected = try ReferenceDevice().run(graph, inputs).outputs[0]
    for (index, name) in (CPUDevice.variantNames + CPUDevice.variantNames).enumerated() {
      let variants = CPUDevice.variantNames.count
      let device = CPUDevice(variant: index % variants, prefersBlocks: index >= variants)
      guard device.support(for: graph.nodes[0], in: graph, precision: .full) == .supported else {
        Issue.record("\(name) \(place): \(device.support(for: graph.nodes[0], in: graph, precision: .full))")
        continue
      }
      let actual = try device.run(graph, inputs, threads: threads).outputs[0]
      if let difference = graph.tolerance(.full).difference(of: actual, from: expected) {
        Issue.record("\(name) \(place) \(graph): \(difference)")
      }
    }
    try checkRounded(op, x, weights, Array(inputs.dropFirst()), threads, place)
  }

  /// Operands that bfloat16 holds are multiplied exactly, unless sums of them are.
  private func checkRounded(
    _ op: any Operator, _ x: Tensor, _ weights: [Tensor], _ inputs: [Tensor], _ threads: Int, _ place: String
  ) throws {
    let (graph, inputs) = try oneNode(
      op, x.roundedToBFloat16(), weights: weights.map { $0.roundedToBFloat16() },
      inputs: inputs.map { $0.roundedToBFloat16() })
    let devices = CPUDevice.variantNames.indices.flatMap { variant in
      // The emulation computes the same for every instruction set, slowly.
      (variant == 0 ? [false, true] : [false]).flatMap { emulates in
        [false, true].map { CPUDevice(variant: variant, prefersBlocks: $0, emulatesTiles: emulates) }
      }
    }.filter { $0.effectivePrecision(.low, of: graph.nodes[0], in: graph) == .low }
    guard !devices.isEmpty else { return }
    let expected = try ReferenceDevice().run(graph, inputs).outputs[0]
    let window = (op as? Convolution)?.window
    let addsFirst = window?.kernel == [3, 3] && window?.strides == [1, 1] && window?.dilations == [1, 1]
    for device in devices {
      // Sums of float16 are rounded too.
      let tolerance = graph.tolerance(addsFirst || device.info.driver.contains("fp16") ? .low : .full)
      let actual = try device.run(graph, inputs, precision: .low, threads: threads).outputs[0]
      if let difference = tolerance.difference(of: actual, from: expected) {
        Issue.record("\(device.info.driver) rounded, \(place) \(graph): \(difference)")
      }
    }
  }

  @Test(arguments: Tier.seeds(15, of: 60))
  func convolutionsMatchTheReference(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    func pick(_ values: [Int]) -> Int { values.randomElement(using: &random) ?? 1 }
    let kernel = [pick([1, 2, 3, 5]), pick([1, 2, 3, 5])]
    let dilations = [pick([1, 1, 2]), pick([1, 1, 3])]
    let window = Window(
      kernel: kernel, strides: [pick([1, 2, 3]), pick([1, 2, 3])], dilations: dilations,
      before: [pick([0, 1, 2]), pick([0, 1, 3])], after: [pick([0, 1, 2]), pick([0, 1, 2])])
    let groups = pick([1, 1, 2, 3])
    let (channels, filters) = (groups * pick([1, 2, 5, 9, 17, 33]), groups * pick([1, 3, 8, 13, 19, 40]))
    let size = [0, 1].map { (kernel[$0] - 1) * dilations[$0] + pick([1, 4, 7, 13, 16, 29]) }
    let epilogue = Epilogue(hasBias: pick([0, 1]) == 1)
    let x = Tensor.random(.float32, Shape([pick([1, 2]), channels] + size), -1...1, &random)
    var weights = [Tensor.random(.float32, Shape([filters, channels / groups] + kernel), -1...1, &random)]
    if epilogue.hasBias { weights.append(.random(.float32, [filters], -1...1, &random)) }
    try check(
      Convolution(window: window, groups: groups, epilogue: epilogue), x, weights: weights, threads: pick([1, 2, 3]),
      "seed \(seed)")
  }

  /// Layers that Winograd's tiles may take over, with all that an epilogue may have.
  @Test(arguments: Tier.seeds(10, of: 40))
  func winogradConvolutionsMatchTheReference(seed: Int) throws {
    var random = SeededGenerator(seed: 3000 + UInt64(seed))
    func pick(_ values: [Int]) -> Int { values.randomElement(using: &random) ?? 1 }
    let (channels, filters) = (pick([16, 17, 24, 33, 48, 65]), pick([16, 17, 31, 48]))
    let size = [pick([1, 3, 4, 5, 7, 8, 11, 13]), pick([2, 4, 6, 7, 9, 15])]
    let before = [pick([0, 1, 1, 2]), pick([0, 1, 1])]
    // At least one output along each axis.
    let after = size.indices.map { max(pick([0, 1, 2]), 3 - size[$0] - before[$0]) }
    let window = Window(kernel: [3, 3], before: before, after: after)
    let epilogue = Epilogue(
      hasBias: pick([0, 1]) == 1, addsResidual: pick([0, 1]) == 1,
      activation: [nil, .relu, .silu, UnaryFunction(.clip, a: -0.5, b: 1)].randomElement(using: &random) ?? nil)
    let images = pick([1, 2])
    let x = Tensor.random(.float32, Shape([images, channels] + size), -1...1, &random)
    var weights = [Tensor.random(.float32, [filters, channels, 3, 3], -0.3...0.3, &random)]
    if epilogue.hasBias { weights.append(.random(.float32, [filters], -1...1, &random)) }
    var inputs: [Tensor] = []
    let op = Convolution(window: window, epilogue: epilogue)
    if epilogue.addsResidual {
      let types = [x.type, weights[0].type] + weights.dropFirst().map(\.type)
      let plain = Convolution(window: window, epilogue: Epilogue(hasBias: epilogue.hasBias))
      inputs = [.random(.float32, try plain.infer(types)[0].shape, -1...1, &random)]
    }
    try check(op, x, weights: weights, inputs: inputs, threads: pick([1, 2, 3]), "seed \(seed)")
  }

  /// Relative to the exact sums, on inputs as rectified layers leave them.
  @Test(arguments: [32, 64, 128])
  func winogradErrorIsAtMostTwiceTheDirectError(channels: Int) throws {
    var random = SeededGenerator(seed: 5000 + UInt64(channels))
    let shape: Shape = [1, channels, 24, 24]
    let values = Tensor.random(.float32, shape, -1...1, &random).floats.map { Double(max($0, 0)) }
    let x = Tensor(TensorType(.float32, shape), rounding: values)
    let weights = Tensor.random(.float32, [32, channels, 3, 3], -0.1...0.1, &random)
    let (graph, inputs) = try oneNode(
      Convolution(window: Window(kernel: [3, 3], before: [1, 1], after: [1, 1])), x, weights: [weights])
    let exact = try ReferenceDevice().run(graph, inputs).outputs[0]
    func error(_ device: CPUDevice) throws -> Double {
      try device.run(graph, inputs).outputs[0].error(from: exact)
    }
    let taps = try error(CPUDevice(variant: CPUDevice.variantNames.count - 1))
    for (variant, name) in CPUDevice.variantNames.enumerated() {
      let tiles = try error(CPUDevice(variant: variant, prefersBlocks: true))
      #expect(tiles <= 2 * taps, "\(name): \(tiles / taps) times")
    }
  }

  /// Relative to the exact sums, as matrix products are that add up a part at a time.
  @Test(arguments: [(2048, 1, 7), (384, 3, 14), (48, 7, 14)])
  func longSumErrorIsAtMostTwiceTheMatMulError(channels: Int, side: Int, size: Int) throws {
    var random = SeededGenerator(seed: 5700 + UInt64(channels))
    let shape: Shape = [1, channels, size, size]
    let values = Tensor.random(.float32, shape, -1...1, &random).floats.map { Double(max($0, 0)) }
    let x = Tensor(TensorType(.float32, shape), rounding: values)
    let weights = Tensor.random(.float32, [32, channels, side, side], -0.1...0.1, &random)
    let window = Window(kernel: [side, side], strides: [2, 2], before: [side / 2, side / 2])
    let (graph, inputs) = try oneNode(Convolution(window: window), x, weights: [weights])
    let exact = try ReferenceDevice().run(graph, inputs).outputs[0]
    func error(_ device: CPUDevice) throws -> Double {
      try device.run(graph, inputs).outputs[0].error(from: exact)
    }
    let products = try error(CPUDevice(variant: CPUDevice.variantNames.count - 1))
    // OpenBLAS sums in any order.
    for (variant, name) in CPUDevice.variantNames.enumerated() where !name.hasPrefix("openblas") {
      let taps = try error(CPUDevice(variant: variant, prefersBlocks: true))
      #expect(taps <= 2 * products, "\(name): \(taps / products) times")
    }
  }

  /// A constant is dense, a layout that no kernel on rounded operands reads.
  @Test func constantInputIsConvolvedAtEachPrecision() throws {
    var random = SeededGenerator(seed: 5800)
    var graph = Graph()
    let operands = [
      Tensor.random(.float32, [1, 32, 6, 5], -1...1, &random), .random(.float32, [32, 32, 3, 3], -0.1...0.1, &random),
    ]
    let ids = operands.enumerated().map { graph.addValue(Value(name: "\($0)", type: $1.type, weight: Weight($1))) }
    let op = Convolution(window: Window(kernel: [3, 3], before: [1, 1], after: [1, 1]))
    let result = graph.addValue(Value(name: "y", type: try op.infer(graph.types(ids))[0]))
    graph.nodes = [Node(name: "node", op: op, inputs: ids, outputs: [result], origins: [])]
    graph.outputs = [result]
    let expected = try ReferenceDevice().run(graph, []).outputs[0]
    for precision in Precision.allCases {
      let actual = try CPUDevice().run(graph, [], precision: precision).outputs[0]
      #expect(graph.tolerance(precision).difference(of: actual, from: expected) == nil, "\(precision)")
    }
  }

  /// Relative to the exact sums, as the products of rounded operands are.
  @Test(
    .enabled(if: CPUDevice().rounds, "no instruction set of this processor multiplies bfloat16"), arguments: [64, 256])
  func roundedWinogradErrorIsAtMostTwiceTheDirectError(channels: Int) throws {
    var random = SeededGenerator(seed: 5500 + UInt64(channels))
    let shape: Shape = [1, channels, 24, 24]
    let values = Tensor.random(.float32, shape, -1...1, &random).floats.map { Double(max($0, 0)) }
    let x = Tensor(TensorType(.float32, shape), rounding: values)
    let weights = Tensor.random(.float32, [32, channels, 3, 3], -0.1...0.1, &random)
    // A stride takes the same windows by their taps.
    func error(stride: Int) throws -> Double {
      let window = Window(kernel: [3, 3], strides: [stride, stride], before: [1, 1], after: [1, 1])
      let (graph, inputs) = try oneNode(Convolution(window: window), x, weights: [weights])
      let exact = try ReferenceDevice().run(graph, inputs).outputs[0]
      return try CPUDevice().run(graph, inputs, precision: .low).outputs[0].error(from: exact)
    }
    let (tiles, taps) = (try error(stride: 1), try error(stride: 2))
    #expect(taps > 1e-4 && tiles <= 2 * taps, "\(tiles) against \(taps)")
  }

  /// The distance between bands of different images equals that between rows; bands must not be confused.
  @Test func paddedBandsOfSmallImagesStaySeparate() throws {
    var random = SeededGenerator(seed: 6000)
    let window = Window(kernel: [5, 5], before: [600, 2], after: [600, 2])
    let x = Tensor.random(.float32, [3, 16, 1, 1], -1...1, &random)
    let weights = Tensor.random(.float32, [2, 16, 5, 5], -0.5...0.5, &random)
    for threads in [1, 4] {
      try check(Convolution(window: window), x, weights: [weights], threads: threads, "\(threads)")
    }
  }

  /// Groups in one block of channels, or in several.
  @Test(arguments: Tier.seeds(10, of: 40))
  func groupedConvolutionsMatchTheReference(seed: Int) throws {
    var random = SeededGenerator(seed: 4000 + UInt64(seed))
    func pick(_ values: [Int]) -> Int { values.randomElement(using: &random) ?? 1 }
    let (width, groups) = (pick([2, 4, 8, 8, 16, 32, 48]), pick([2, 3, 5, 7, 13]))
    let side = pick([1, 3, 5])
    let window = Window(
      kernel: [side, side], strides: [pick([1, 2]), pick([1, 2])], before: [side / 2, side / 2],
      after: [side / 2, side / 2])
    let x = Tensor.random(
      .float32, Shape([pick([1, 2]), groups * width, pick([5, 8, 14]), pick([7, 9])]), -1...1, &random)
    let weights = Tensor.random(.float32, [groups * width, width, side, side], -0.5...0.5, &random)
    let bias = Tensor.random(.float32, [groups * width], -1...1, &random)
    try check(
      Convolution(window: window, groups: groups, epilogue: .bias), x, weights: [weights, bias],
      threads: pick([1, 2, 3]), "seed \(seed)")
  }

  @Test(arguments: Tier.seeds(10, of: 40))
  func depthwiseConvolutionsMatchTheReference(seed: Int) throws {
    var random = SeededGenerator(seed: 1000 + UInt64(seed))
    func pick(_ values: [Int]) -> Int { values.randomElement(using: &random) ?? 1 }
    let side = pick([3, 3, 5, 5, 2, 7])
    let stride = pick([1, 2, 2, 3])
    let window = Window(
      kernel: [side, side], strides: [stride, stride], before: [pick([0, side / 2]), pick([0, side / 2, side - 1])],
      after: [pick([0, side / 2]), pick([0, side / 2])])
    let channels = pick([2, 3, 5, 17, 32])
    let multiplier = pick([1, 1, 2, 3, 4])
    let size = [side + pick(Self.sizes), side + pick(Self.sizes)]
    try check(
      Convolution(window: window, groups: channels, epilogue: .bias),
      .random(.float32, Shape([1, channels] + size), -1...1, &random),
      weights: [
        .random(.float32, [channels * multiplier, 1, side, side], -1...1, &random),
        .random(.float32, [channels * multiplier], -1...1, &random),
      ], threads: 2, "seed \(seed)")
  }

  /// A window along rows of one element, with sums of more products than are added at once.
  @Test(arguments: Tier.seeds(6, of: 30))
  func convolutionsOfColumnsMatchTheReference(seed: Int) throws {
    var random = SeededGenerator(seed: 7000 + UInt64(seed))
    func pick(_ values: [Int]) -> Int { values.randomElement(using: &random) ?? 1 }
    let (taps, channels) = (pick([1, 3, 8, 64]), pick([2, 3, 16, 40]))
    let isDepthwise = seed % 3 == 0
    let outputs = isDepthwise ? channels * pick([1, 2]) : pick([5, 32, 70])
    let window = Window(
      kernel: [taps, 1], strides: [pick([1, 1, 2, 4]), pick([1, 2])], before: [pick([0, taps / 2]), 0],
      after: [pick([0, taps / 2]), 0])
    try check(
      Convolution(window: window, groups: isDepthwise ? channels : 1, epilogue: .bias),
      .random(.float32, [2, channels, taps + pick(Self.sizes), 1], -1...1, &random),
      weights: [
        .random(.float32, [outputs, isDepthwise ? 1 : channels, taps, 1], -0.3...0.3, &random),
        .random(.float32, [outputs], -1...1, &random),
      ], threads: pick([1, 3]), "seed \(seed)")
  }

  @Test(arguments: Tier.seeds(10, of: 40))
  func matrixProductsMatchTheReference(seed: Int) throws {
    var random = SeededGenerator(seed: 2000 + UInt64(seed))
    func pick(_ values: [Int]) -> Int { values.randomElement(using: &random) ?? 1 }
    let (rows, columns, depth) = (pick(Self.sizes), pick(Self.sizes + [97, 130]), pick(Self.sizes + [600]))
    if seed % 2 == 0 {
      try check(
        Linear(epilogue: .bias), .random(.float32, [rows, depth], -1...1, &random),
        weights: [
          .random(.float32, [columns, depth], -1...1, &random), .random(.float32, [columns], -1...1, &random),
        ],
        threads: pick([1, 2]), "seed \(seed)")
    } else {
      let (flipsX, flipsY) = (pick([0, 1]) == 1, pick([0, 1]) == 1)
      try check(
        MatMul(transposesX: flipsX, transposesY: flipsY),
        .random(.float32, Shape([2, 1] + (flipsX ? [depth, rows] : [rows, depth])), -1...1, &random),
        inputs: [.random(.float32, Shape([3] + (flipsY ? [columns, depth] : [depth, columns])), -1...1, &random)],
        threads: pick([1, 2]), "seed \(seed)")
    }
  }

  @Test(arguments: [(1, 5, 7), (6, 1, 7), (6, 5, 1), (1, 1, 7), (1, 5, 1), (6, 1, 1), (1, 1, 1)])
  func matrixProductsWithUnitAxesMatchTheReference(rows: Int, columns: Int, depth: Int) throws {
    var random = SeededGenerator(seed: 2100)
    let place = "\(rows) x \(columns) x \(depth)"
    try check(
      Linear(epilogue: .bias), .random(.float32, [rows, depth], -1...1, &random),
      weights: [.random(.float32, [columns, depth], -1...1, &random), .random(.float32, [columns], -1...1, &random)],
      threads: 2, place)
    for (flipsX, flipsY) in [(false, false), (false, true), (true, false), (true, true)] {
      try check(
        MatMul(transposesX: flipsX, transposesY: flipsY),
        .random(.float32, Shape(flipsX ? [depth, rows] : [rows, depth]), -1...1, &random),
        inputs: [.random(.float32, Shape(flipsY ? [columns, depth] : [depth, columns]), -1...1, &random)],
        threads: 2, "\(place), transposed: \(flipsX), \(flipsY)")
    }
    try check(
      Convolution(window: Window(kernel: [1, 1])),
      .random(.float32, [1, depth, 1, columns], -1...1, &random),
      weights: [.random(.float32, [rows, depth, 1, 1], -1...1, &random)], threads: 2, "pointwise \(place)")
  }

  @Test(arguments: UnaryFunction.Kind.allCases.filter { $0 != .logicalNot })
  func unaryFunctionsMatchOverTheirWholeRange(kind: UnaryFunction.Kind) throws {
    var random = SeededGenerator(seed: 3000)
    let (a, b): (Float, Float) = kind == .clip ? (-1, 6) : kind == .selu ? (1.6732632, 1.050701) : (0.2, 0.5)
    let isPositive = [.log, .sqrt, .rsqrt, .acosh].contains(kind)
    for reach: Float in [0.01, 1, 10, 80] {
      let range = isPositive ? reach * 1e-6...reach : -reach...reach
      try check(
        Unary(UnaryFunction(kind, a: a, b: b)), .random(.float32, [1013], range, &random), threads: 2,
        "\(kind) to \(reach)")
    }
  }

  @Test(arguments: Reduce.Function.allCases)
  func reductionsMatchAlongAnyAxes(function: Reduce.Function) throws {
    var random = SeededGenerator(seed: 4000)
    for shape: Shape in [[3, 5, 7, 11], [1, 2, 131, 1], [4, 300, 3, 17]] {
      for axes in [[0], [3], [1, 2], [0, 2], [0, 1, 2, 3], [1, 3], []] {
        try check(
          Reduce(function, axes: axes, keepsDimensions: false), .random(.float32, shape, 0.5...1.5, &random),
          threads: 2, "\(shape) along \(axes)")
      }
    }
  }

  @Test(arguments: [ArgReduce.Function.maximum, .minimum], [ScalarType.int32, .int64, .uint16, .int8])
  func argReductionsMatchAlongAnyAxis(function: ArgReduce.Function, scalar: ScalarType) throws {
    var random = SeededGenerator(seed: 4500)
    for shape: Shape in [[3, 5, 7], [2, 11, 300], [1, 101], [4, 1]] {
      // Few different values, so that many are equal.
      let values = (0..<shape.count).map { _ in Double(Int.random(in: -2...2, using: &random)) }
      let x = Tensor(TensorType(.float32, shape), rounding: values)
      for axis in shape.dimensions.indices where scalar != .int8 || shape[axis] <= 127 {
        for takesLast in [false, true] {
          try check(
            ArgReduce(function, axis: axis, keepsDimensions: takesLast, takesLast: takesLast, scalar: scalar), x,
            threads: 2, "\(shape) along \(axis)")
        }
      }
    }
  }

  @Test func poolingMatchesTheReference() throws {
    for seed in 0..<40 {
      var random = SeededGenerator(seed: 5000 + UInt64(seed))
      func pick(_ values: [Int]) -> Int { values.randomElement(using: &random) ?? 1 }
      let kernel = [pick([1, 2, 3, 5]), pick([2, 3, 4])]
      let window = Window(
        kernel: kernel, strides: [pick([1, 2, 3]), pick([1, 2, 4])], before: kernel.map { min($0 - 1, pick([0, 1])) },
        roundsUp: pick([0, 1]) == 1)
      let function: Pool.Function = [.maximum, .average, .averageIncludingPadding][seed % 3]
      try check(
        Pool(function, window: window),
        .random(.float32, Shape([2, 3, 5 + pick(Self.sizes), 5 + pick(Self.sizes)]), -1...1, &random), threads: 2,
        "seed \(seed)")
    }
  }

  @Test func broadcastingMatchesTheReference() throws {
    for seed in 0..<60 {
      var random = SeededGenerator(seed: 6000 + UInt64(seed))
      let full = (0..<4).map { _ in Self.sizes[..<12].randomElement(using: &random) ?? 1 }
      func part() -> Shape {
        let sizes = full.map { Bool.random(using: &random) ? $0 : 1 }
        return Shape(Array(sizes.suffix(Int.random(in: 0...4, using: &random))))
      }
      let functions = Binary.Function.allCases.filter { $0.takes(.float32) }
      let function = functions[seed % functions.count]
      try check(
        Binary(function), .random(.float32, part(), 0.5...2, &random),
        inputs: [.random(.float32, part(), 0.5...2, &random)], threads: 2, "seed \(seed)")
    }
  }
}
