import ConformanceChecks
import KelvinBasics
import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

@Suite struct SpecialValueTests {
  /// Infinities, zeros, subnormal and huge numbers, and not-a-number.
  private static let values: [Double] = [
    .infinity, -.infinity, 0, -0.0, 1e-40, -1e-40, 1e-30, 1, -1, 0.5, 1.5, 2.5, -2.5, 88, 89, -88, -104, 1000, -1000,
    8_388_609, -8_388_609, 3e9, 3e38, -3e38, .nan,
  ]

  @Test(arguments: UnaryFunction.Kind.allCases.filter { $0 != .logicalNot })
  func unaryFunctionsKeepSpecialValues(kind: UnaryFunction.Kind) throws {
    let (a, b): (Float, Float) = kind == .clip ? (-1, 6) : (0.2, 0.3)
    let x = Tensor(TensorType(.float32, [Self.values.count]), rounding: Self.values)
    let (graph, inputs) = try oneNode(Unary(UnaryFunction(kind, a: a, b: b)), x)
    let expected = try ReferenceDevice().run(graph, inputs).outputs[0].floats
    let op = Unary(UnaryFunction(kind)).tolerance(.full, [x.type])
    for (variant, name) in CPUDevice.variantNames.enumerated() {
      let actual = try CPUDevice(variant: variant).run(graph, inputs).outputs[0].floats
      for (index, (got, wanted)) in zip(actual, expected).enumerated() {
        let allowed = Float(op.relative) * wanted.magnitude + 1e-37
        let agrees = got == wanted || (got.isNaN && wanted.isNaN) || (got - wanted).magnitude <= allowed
        #expect(agrees, "\(name): \(kind)(\(Self.values[index])) = \(wanted), got \(got)")
      }
    }
  }

  @Test(arguments: ConformanceCase.all)
  func specialValuesMatchTheReference(_ testCase: ConformanceCase) throws {
    let variants = Tier.seeds(1, of: CPUDevice.variantNames.count)
    let devices = [false, true].flatMap { blocks in variants.map { CPUDevice(variant: $0, prefersBlocks: blocks) } }
    let outcomes = try checkSpecialValues(of: devices, on: testCase, reference: ReferenceDevice())
    for (index, outcome) in outcomes.enumerated() {
      let name = CPUDevice.variantNames[index % variants.count]
      #expect(
        outcome.fault(of: testCase, on: devices[index].info) == nil,
        "\(name)\(index < variants.count ? "" : " on blocks")")
    }
  }

  @Test(.slow, arguments: ConformanceCase.all)
  func specialValuesMatchOnRoundedOperands(_ testCase: ConformanceCase) throws {
    let devices = (CPUDevice().rounds ? [false, true] : [true]).flatMap { emulates in
      [false, true].map { CPUDevice(prefersBlocks: $0, emulatesTiles: emulates) }
    }
    let outcomes = try checkSpecialValues(of: devices, on: testCase, reference: ReferenceDevice(), precision: .low)
    for (outcome, device) in zip(outcomes, devices) {
      #expect(outcome.fault(of: testCase, on: device.info) == nil)
    }
  }

  /// One such number would spoil a whole tile of Winograd's.
  @Test(arguments: [Float.infinity, -.infinity, .nan, 3e38], [Precision.full, .low])
  func winogradTilesKeepSpecialValuesLocal(number: Float, precision: Precision) throws {
    var random = SeededGenerator(seed: 41)
    let shape: Shape = [2, 17, 21, 18]
    var values = Tensor.random(.float32, shape, -1...1, &random).floats.map(Double.init)
    // In the middle of a tile, at its edge, and at the edge of an image.
    for index in [0, 18 * 7 + 8, 18 * 21 * 3 + 18 * 20 + 17] { values[index] = Double(number) }
    let x = Tensor(TensorType(.float32, shape), rounding: values)
    let window = Window(kernel: [3, 3], before: [1, 1], after: [1, 1])
    let weights = Tensor.random(.float32, [18, 17, 3, 3], -0.1...0.1, &random)
    let (graph, inputs) = try oneNode(Convolution(window: window), x, weights: [weights])
    let expected = try ReferenceDevice().run(graph, inputs).outputs[0].floats
    for (variant, name) in CPUDevice.variantNames.enumerated() {
      let device = CPUDevice(variant: variant, prefersBlocks: true)
      let actual = try device.run(graph, inputs, precision: precision).outputs[0].floats
      // Of rounded operands.
      let isExact = device.effectivePrecision(precision, of: graph.nodes[0], in: graph) == .full
      let allowed: Float = isExact ? 1e-5 : 2e-2
      let wrong = zip(actual, expected).filter { got, wanted in
        got.isFinite != wanted.isFinite || got.isNaN != wanted.isNaN
          || (wanted.isFinite
            ? (got - wanted).magnitude > allowed * max(1, wanted.magnitude) : got != wanted && !got.isNaN)
      }
      #expect(wrong.isEmpty, "\(name): \(wrong.count) of \(expected.count)")
    }
  }
}
