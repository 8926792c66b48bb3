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

/// Products of rows of float16, by emulated instructions on every processor.
@Suite struct HalfProductTests {
  private static var device: CPUDevice { CPUDevice(emulatesHalves: true) }

  private func product(
    rows: Int, columns: Int, depth: Int, seed: UInt64, of range: ClosedRange<Float> = -1...1
  ) throws -> (graph: Graph, inputs: [Tensor]) {
    var random = SeededGenerator(seed: seed)
    let x = Tensor.random(.float32, [rows, depth], range, &random)
    return try oneNode(Linear(), x, weights: [Tensor.random(.float32, [columns, depth], range, &random)])
  }

  private func results(_ graph: Graph, _ inputs: [Tensor], threads: Int = 1) throws -> [Float] {
    try Self.device.run(graph, inputs, precision: .low, threads: threads).outputs[0].floats
  }

  @Test func everyKernelIsChecked() throws {
    let emulated = ck_emulated_halves().pointee
    #expect(TileCheck.fault(ofHalves: emulated) == nil)
    for (name, member) in [("pack_rows", \.pack_rows), ("gemm", \.gemm)]
      as [(String, WritableKeyPath<ck_product_kernels, ck_run?>)]
    {
      var changed = emulated
      changed[keyPath: member] = { _, _, _, _ in }
      #expect(TileCheck.fault(ofHalves: changed) != nil, "\(name)")
    }
    var changed = emulated
    changed.gemm = { arguments, begin, end, scratch in
      ck_emulated_halves().pointee.gemm?(arguments, begin, end, scratch)
      guard let product = arguments?.assumingMemoryBound(to: ck_gemm_args.self).pointee else { return }
      product.c[product.columns + 1] = product.c[product.columns + 1].nextUp
    }
    #expect(TileCheck.fault(ofHalves: changed)?.contains("element 42") == true)
  }

  /// A whole table with emulated kernels, whose vector product only the examples reach.
  @Test func aTableWithThemIsChecked() throws {
    var count = 0
    var table = try #require(ck_variants(&count)?.pointee).pointee
    table.products.2 = ck_emulated_halves()
    #expect(withUnsafePointer(to: table) { VariantCheck.fault(of: $0) } == nil)
    var idle = ck_emulated_halves().pointee
    idle.gemv = { _, _, _, _ in }
    let fault = withUnsafePointer(to: idle) { idle in
      table.products.2 = idle
      return withUnsafePointer(to: table) { VariantCheck.fault(of: $0) }
    }
    #expect(fault?.contains("rounded") == true, "\(fault ?? "no fault")")
  }

  @Test func onlyLowPrecisionRounds() throws {
    for rows in [1, 3] {
      let (graph, _) = try product(rows: rows, columns: 5, depth: 40, seed: 1)
      #expect(Self.device.effectivePrecision(.low, of: graph.nodes[0], in: graph) == .low)
      #expect(Self.device.effectivePrecision(.full, of: graph.nodes[0], in: graph) == .full)
    }
  }

  /// Compared with operands rounded to bfloat16 in exact sums. If terms do not cancel, partial sums are as large as
  /// results.
  @Test(arguments: [64, 256, 1024, 4608], [Float(-1), 0])
  func errorsStayBesideThoseOfBFloat16(depth: Int, least: Float) throws {
    let (graph, inputs) = try product(rows: 5, columns: 19, depth: depth, seed: UInt64(depth), of: least...1)
    let exact = try ReferenceDevice().run(graph, inputs).outputs[0]
    let weights = try #require(graph[graph.nodes[0].inputs[1]].weight).dense()
    let (rounded, roundedInputs) = try oneNode(
      Linear(), inputs[0].roundedToBFloat16(), weights: [weights.roundedToBFloat16()])
    let ofBFloat16 = try ReferenceDevice().run(rounded, roundedInputs).outputs[0].error(from: exact)
    let actual = try Self.device.run(graph, inputs, precision: .low).outputs[0]
    let error = actual.error(from: exact)
    #expect(error > 0 && error <= (least < 0 ? 0.5 : 1.5) * ofBFloat16, "\(error) against \(ofBFloat16)")
    #expect(graph.tolerance(.low).difference(of: actual, from: exact) == nil)
  }

  /// Scales are powers of two, so results of scaled operands have the same digits.
  @Test(arguments: [-60, -20, 20, 60])
  func operandsOfAnySizeKeepTheirDigits(exponent: Int) throws {
    let (graph, inputs) = try product(rows: 11, columns: 37, depth: 130, seed: 7)
    let scale = Float(sign: .plus, exponent: exponent, significand: 1)
    func scaled(_ tensor: Tensor) -> Tensor { Tensor(tensor.floats.map { $0 * scale }, tensor.type.shape) }
    let weights = try #require(graph[graph.nodes[0].inputs[1]].weight).dense()
    let (larger, largerInputs) = try oneNode(Linear(), scaled(inputs[0]), weights: [scaled(weights)])
    #expect(try results(larger, largerInputs) == results(graph, inputs).map { $0 * scale * scale })
  }

  /// Each row has its own scale, which infinities and NaN do not change.
  @Test(arguments: [Float.infinity, -.infinity, .nan, 3e38, 1e30])
  func otherRowsDoNotDependOnOneNumber(number: Float) throws {
    let (graph, inputs) = try product(rows: 9, columns: 21, depth: 50, seed: 11)
    let plain = try results(graph, inputs)
    var values = inputs[0].floats
    values[4 * 50 + 17] = number
    let changed = Tensor(values, inputs[0].type.shape)
    let wanted = try ReferenceDevice().run(graph, [changed]).outputs[0].floats
    let got = try results(graph, [changed])
    for (index, value) in got.enumerated() {
      if index / 21 != 4 {
        #expect(value == plain[index])
      } else if !wanted[index].isFinite {
        #expect(value == wanted[index] || value.isNaN && wanted[index].isNaN)
      } else {
        #expect((value - wanted[index]).magnitude <= 1e-3 * number)
      }
    }
  }

  @Test func resultsDoNotDependOnThreads() throws {
    let (graph, inputs) = try product(rows: 67, columns: 83, depth: 90, seed: 3)
    #expect(try results(graph, inputs) == results(graph, inputs, threads: 4))
  }

  @Test func conformsOnHalves() throws {
    for testCase in ConformanceCase.all {
      let outcome = try checkConformance(of: Self.device, on: testCase, reference: ReferenceDevice(), precision: .low)
      let fault = outcome.fault(of: testCase, on: Self.device.info)
      #expect(fault == nil)
    }
  }

  @Test(.slow, arguments: ConformanceCase.all)
  func specialValuesMatchOnHalves(_ testCase: ConformanceCase) throws {
    let outcomes = try checkSpecialValues(
      of: [Self.device], on: testCase, reference: ReferenceDevice(), precision: .low)
    #expect(outcomes[0].fault(of: testCase, on: Self.device.info) == nil)
  }
}
