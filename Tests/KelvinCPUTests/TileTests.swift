import CKelvinKernels
import ConformanceChecks
import KelvinBasics
import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// Products of tiles, by the emulated unit on every processor.
@Suite struct TileTests {
  private static let emulated: ck_tile_kernels? = ck_tiles(true)?.pointee

  private func node(_ op: any Operator, _ x: Shape, weights: Shape) throws -> (graph: Graph, inputs: [Tensor]) {
    var random = SeededGenerator(seed: 61)
    let (x, weights) = (
      Tensor.random(.float32, x, -1...1, &random), Tensor.random(.float32, weights, -1...1, &random)
    )
    return try oneNode(op, x.roundedToBFloat16(), weights: [weights.roundedToBFloat16()])
  }

  @Test func everyTiledKernelIsChecked() throws {
    let emulated = try #require(Self.emulated)
    #expect(TileCheck.fault(of: emulated) == nil)
    let members: [(String, WritableKeyPath<ck_product_kernels, ck_run?>)] = [
      ("pack_rows", \.pack_rows), ("gemm", \.gemm), ("blocked_convolution", \.blocked_convolution),
    ]
    for (name, member) in members {
      var changed = emulated
      changed.products[keyPath: member] = { _, _, _, _ in }
      #expect(TileCheck.fault(of: changed) != nil, "\(name)")
    }
    let integerMembers: [(String, WritableKeyPath<ck_integer_kernels, ck_run?>)] = [
      ("pack_rows", \.pack_rows), ("pack_columns", \.pack_columns), ("gemm", \.gemm), ("range", \.range),
      ("quantize_rows", \.quantize_rows), ("blocked_convolution", \.blocked_convolution),
    ]
    for (name, member) in integerMembers {
      var changed = emulated
      changed.integers[keyPath: member] = { _, _, _, _ in }
      #expect(TileCheck.fault(of: changed) != nil, "integer \(name)")
    }
  }

  @Test func oneOtherBitIsDetected() throws {
    var changed = try #require(Self.emulated)
    changed.products.gemm = { arguments, begin, end, scratch in
      ck_tiles(true)?.pointee.products.gemm?(arguments, begin, end, scratch)
      guard let product = arguments?.assumingMemoryBound(to: ck_gemm_args.self).pointee else { return }
      product.c[product.columns + 1] = product.c[product.columns + 1].nextUp
    }
    #expect(TileCheck.fault(of: changed)?.contains("element 42") == true)
  }

  /// The processor's own unit, where the process may use it.
  @Test func unitComputesTheBitsOfTheEmulation() throws {
    let support = ck_request_tiles()
    let device = CPUDevice()
    #expect((device.productFault == nil) == (support != ck_tiles_refused))
    #expect(device.productRates.contains { $0.operands == "bfloat16 tiles" } == (support == ck_tiles_usable))
    guard support == ck_tiles_usable else { return }
    #expect(TileCheck.fault(of: try #require(ck_tiles(false)).pointee) == nil)
  }

  @Test func oneOtherIntegerIsDetected() throws {
    var changed = try #require(Self.emulated)
    changed.integers.gemm = { arguments, begin, end, scratch in
      ck_tiles(true)?.pointee.integers.gemm?(arguments, begin, end, scratch)
      guard let product = arguments?.assumingMemoryBound(to: ck_integer_gemm_args.self).pointee else { return }
      product.c?.assumingMemoryBound(to: UInt32.self)[product.columns + 1] ^= 1
    }
    #expect(TileCheck.fault(of: changed)?.contains("integer product: element 42") == true)
  }

  @Test(arguments: CPUDevice.variantNames.indices)
  func productsOfConstantWeightsAreTiledAtLowPrecision(variant: Int) throws {
    guard !CPUDevice.variantNames[variant].hasPrefix("openblas") else { return }
    let device = CPUDevice(variant: variant, emulatesTiles: true)
    for (op, x, weights) in [
      (Linear(), [3, 40], [5, 40]), (Linear(), [1, 40], [5, 40]),
      (Convolution(window: Window(kernel: [1, 1])), [1, 40, 3, 5], [7, 40, 1, 1]),
    ] as [(any Operator, Shape, Shape)] {
      let (graph, _) = try node(op, x, weights: weights)
      #expect(device.effectivePrecision(.low, of: graph.nodes[0], in: graph) == .low, "\(op.name) of \(x)")
      #expect(device.effectivePrecision(.full, of: graph.nodes[0], in: graph) == .full, "\(op.name) of \(x)")
    }
  }

  /// Rows beyond a piece that fits the cache, and sums in two parts.
  @Test(arguments: [1, 3])
  func longProductsMatchTheReference(threads: Int) throws {
    let (graph, inputs) = try node(Linear(), [530, 1100], weights: [35, 1100])
    let expected = try ReferenceDevice().run(graph, inputs).outputs[0]
    let actual = try CPUDevice(emulatesTiles: true).run(graph, inputs, precision: .low, threads: threads).outputs[0]
    let difference = graph.tolerance(.full).difference(of: actual, from: expected)
    #expect(difference == nil, "\(difference ?? "")")
  }

  /// Threads share bands and blocks of outputs, never a sum.
  @Test func resultsDoNotDependOnThreads() throws {
    let window = Window(kernel: [3, 3], strides: [2, 1], before: [1, 1], after: [1, 1])
    for (op, x, weights) in [
      (Linear(), [67, 90], [83, 90]), (Convolution(window: window), [2, 37, 19, 23], [50, 37, 3, 3]),
    ] as [(any Operator, Shape, Shape)] {
      let (graph, inputs) = try node(op, x, weights: weights)
      let device = CPUDevice(prefersBlocks: true, emulatesTiles: true)
      let results = try [1, 4].map { try device.run(graph, inputs, precision: .low, threads: $0).outputs[0].floats }
      #expect(results[0] == results[1], "\(op.name)")
    }
  }

  @Test(arguments: [false, true])
  func conformsOnTiles(prefersBlocks: Bool) throws {
    let device = CPUDevice(prefersBlocks: prefersBlocks, emulatesTiles: true)
    for testCase in ConformanceCase.all {
      let outcome = try checkConformance(of: device, on: testCase, reference: ReferenceDevice(), precision: .low)
      let fault = outcome.fault(of: testCase, on: device.info)
      #expect(fault == nil)
    }
  }
}
