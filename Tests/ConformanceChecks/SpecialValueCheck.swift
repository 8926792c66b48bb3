package import KelvinConformance
package import KelvinDevices
package import KelvinGraph

/// The requirements for results computed from special values, as described in `docs/differences.md`.
struct SpecialValueRule {
  /// Whether the device may treat float32 denormals as zeros, in operands and results.
  let flushesDenormals: Bool

  /// Whether results are copies of operand elements, whose zeros keep their signs. Arithmetic may return a zero of
  /// either sign.
  let keepsSigns: Bool

  /// Whether float32 is stored as float16 between nodes.
  let storesHalves: Bool

  init(_ device: DeviceInfo, _ graph: Graph, _ precision: Precision = .full, storesHalves: Bool = false) {
    self.storesHalves = storesHalves
    // Units that multiply operands rounded to lower precision flush denormals.
    flushesDenormals = device.kind.isGraphics || precision == .low
    keepsSigns = graph.nodes.allSatisfy(\.op.movesElements)
  }

  /// The absolute error allowed for results that are, or come from, denormals, which have few digits or are flushed
  /// to zero.
  private var floor: Double {
    storesHalves ? 0x1p-24 : flushesDenormals ? Double(Float.leastNormalMagnitude) : 0x1p-143
  }

  /// Returns the operands for which a result may be correct: unchanged, and with denormals flushed.
  func operands(_ tensors: [Tensor]) -> [[Tensor]] {
    flushesDenormals ? [tensors, tensors.map { $0.flushingDenormals() }] : [tensors]
  }

  /// Describes the first element that does not match any expectation, or returns nil.
  ///
  /// - Parameters:
  ///   - expected: the reference's results for each of `operands`.
  ///   - terms: the magnitude of summed terms; 0 if results are not sums.
  func difference(
    of actual: Tensor, from expected: [Tensor], _ tolerance: Tolerance, terms: Double = 0
  ) -> String? {
    let got = actual.doubles
    let wanted = expected.map(\.doubles)
    let scales = wanted.map { $0.lazy.filter(\.isFinite).map(\.magnitude).max() ?? 0 }
    let floor = actual.type.scalar.isFloatingPoint ? floor : 0
    for index in got.indices {
      let isRight = wanted.indices.contains { implementation in
        agrees(
          got[index], wanted[implementation][index],
          within: tolerance.relative * wanted[implementation][index].magnitude
            + tolerance.absolute * max(scales[implementation], terms) + floor)
      }
      if !isRight { return "element \(index): expected \(wanted[0][index]), got \(got[index])" }
    }
    return nil
  }

  private func agrees(_ got: Double, _ wanted: Double, within allowed: Double) -> Bool {
    if wanted.isNaN || got.isNaN { return wanted.isNaN && got.isNaN }
    if keepsSigns, wanted == 0, got.sign != wanted.sign { return false }
    guard wanted.isFinite else { return got == wanted }
    return got == wanted || (got - wanted).magnitude <= allowed
  }
}

extension DeviceInfo.Kind {
  /// Whether the device is used through a graphics interface, including software drivers.
  fileprivate var isGraphics: Bool { ![.cpu, .reference].contains(self) }
}

extension Operator {
  /// Whether the operator copies elements unchanged.
  fileprivate var movesElements: Bool {
    switch self {
    case is Concat, is Expand, is Gather, is GatherElements, is GatherND, is Pad, is Reshape, is Select, is Slice,
      is TopK, is Transpose:
      true
    case let op as ScatterElements: op.reduction == .replace
    case let op as ScatterND: op.reduction == .replace
    default: false
    }
  }
}

/// Runs a case with special values among its inputs, one family at a time, and compares devices with the reference
/// device.
///
/// - Parameter storesHalves: whether the devices store float32 as float16 between nodes at this precision.
/// - Returns: an outcome for each of `devices`.
package func checkSpecialValues(
  of devices: [any Device], on testCase: ConformanceCase, reference: any Device, precision: Precision = .full,
  storesHalves: Bool = false
) throws(DeviceError) -> [ConformanceOutcome] {
  let families = SpecialValues.allCases.compactMap { special in
    testCase.sprinkledInputs(special, storesHalves: storesHalves).map { inputs in
      let sprinkled = ConformanceCase(name: testCase.name, graph: testCase.graph, inputs: inputs)
      return (special, testCase: storesHalves ? sprinkled.inHalves : sprinkled)
    }
  }
  let graph = families.first?.testCase.graph ?? testCase.graph
  let (tolerance, inputs) = (graph.tolerance(precision), families.map(\.testCase.inputs))
  func expected(_ inputs: [[Tensor]]) throws(DeviceError) -> [[Tensor]] {
    let exact = try reference.runEach(graph, inputs)
    return storesHalves ? exact.map { $0.map(\.inHalves) } : exact
  }
  let wanted = try expected(inputs)
  let flushed = try expected(inputs.map { $0.map { $0.flushingDenormals() } })
  var outcomes: [ConformanceOutcome] = []
  for device in devices {
    if let reason = device.refusal(of: graph, precision) {
      outcomes.append(.unsupported(reason))
      continue
    }
    var differences: [String] = []
    let rule = SpecialValueRule(device.info, graph, precision, storesHalves: storesHalves)
    for (example, outputs) in try device.runEach(graph, inputs, precision: precision).enumerated() {
      // Rounded operands make an error relative to the terms of a sum, which an activation may hide in the result.
      let terms = precision == .low && graph.sumsTerms ? inputs[example].largestMagnitude : 0
      for (index, output) in outputs.enumerated() {
        let implementations = [wanted[example][index]] + (rule.flushesDenormals ? [flushed[example][index]] : [])
        guard let difference = rule.difference(of: output, from: implementations, tolerance, terms: terms) else {
          continue
        }
        let family = families[example].0.rawValue
        differences.append("output \(index) of '\(testCase)' with \(family) on \(device.info.id): \(difference)")
      }
    }
    outcomes.append(differences.isEmpty ? .agrees : .differs(differences.joined(separator: "; ")))
  }
  return outcomes
}

extension Graph {
  /// Whether results are sums of products of operands.
  fileprivate var sumsTerms: Bool { nodes.contains { $0.op.reach == .sums } }
}

extension [Tensor] {
  /// The largest finite magnitude among the elements of floating-point tensors; 0 if there is none.
  fileprivate var largestMagnitude: Double {
    lazy.filter(\.type.scalar.isFloatingPoint)
      .compactMap { $0.doubles.lazy.filter(\.isFinite).map(\.magnitude).max() }.max() ?? 0
  }
}

extension Device {
  /// Returns why the device does not support a graph, or nil.
  fileprivate func refusal(of graph: Graph, _ precision: Precision) -> String? {
    for node in graph.nodes {
      if case .unsupported(let reason) = support(for: node, in: graph, precision: precision) { return reason }
    }
    return nil
  }
}
