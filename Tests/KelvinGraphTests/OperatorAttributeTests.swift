import GraphParsing
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import Testing

@Suite struct OperatorAttributeTests {
  /// Every operator of every conformance case, once.
  private static let operators: [any Operator] = {
    var seen = Set<String>()
    return ConformanceCase.all.flatMap { $0.graph.nodes.map(\.op) }.filter {
      seen.insert("\($0.name) \($0.attributes)").inserted
    }
  }()

  private func expectRoundTrip<Op: Operator>(_ op: Op, _ note: Comment? = nil) throws {
    let made = try Op(attributes: op.attributes)
    #expect(made == op, note)
    #expect(made.attributes == op.attributes, note)
  }

  @Test func operatorsRoundTripThroughTheirAttributes() throws {
    for op in Self.operators {
      try expectRoundTrip(op)
      #expect(try makeOperator(op.name, op.attributes).attributes == op.attributes)
    }
    #expect(Set(Self.operators.map(\.name)) == Set(operatorCatalog.map { $0.name }))
  }

  @Test(arguments: 0..<UInt64(8))
  func operatorsRoundTripThroughRandomAttributes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    // Texts are names of cases: any that some operator has under the same name.
    var texts: [String: [AttributeValue]] = [:]
    for op in Self.operators {
      for attribute in op.attributes { texts["\(op.name) \(attribute.name)", default: []].append(attribute.value) }
    }
    for op in Self.operators {
      let attributes = op.attributes.map { attribute in
        let known = texts["\(op.name) \(attribute.name)"] ?? []
        let base = known.randomElement(using: &random) ?? attribute.value
        return Attribute(attribute.name, base.varied(using: &random))
      }
      let made = try makeOperator(op.name, attributes.shuffled(using: &random))
      try expectRoundTrip(made, "seed \(seed), \(op.name) \(attributes)")
      let written = Dictionary(uniqueKeysWithValues: made.attributes.map { ($0.name, $0.value) })
      for attribute in attributes {
        let value = written[attribute.name]
        #expect(value == nil || value == attribute.value, "seed \(seed), \(op.name)")
      }
    }
  }

  @Test func defaultAttributesAreOmitted() throws {
    #expect(
      CumulativeReduce(.sum, axis: 2).attributes == [
        Attribute("function", .text("sum")), Attribute("axis", .integer(2)),
      ])
    #expect(
      Convolution(window: Window(kernel: [3, 3], before: [1, 1])).attributes.map(\.name) == [
        "kernel", "strides", "before",
      ])
    #expect(
      try Convolution(attributes: [
        Attribute("strides", [2, 2].attributeValue), Attribute("kernel", [3, 3].attributeValue),
      ]) == Convolution(window: Window(kernel: [3, 3], strides: [2, 2])))
  }

  @Test func invalidAttributesAreRefused() {
    func message(_ name: String, _ attributes: [Attribute]) -> String {
      do {
        return "\(try makeOperator(name, attributes))"
      } catch { return error.description }
    }
    let (function, axis) = (Attribute("function", .text("sum")), Attribute("axis", .integer(1)))
    #expect(message("cumulative_reduce", [function]) == "the attribute 'axis' is missing")
    #expect(message("cumulative_reduce", [function, axis, axis]) == "the attribute 'axis' is given twice")
    #expect(
      message("cumulative_reduce", [function, axis, Attribute("exclude", .boolean(true))])
        == "cumulative_reduce has no attribute 'exclude': it has function, axis, exclusive, reversed")
    #expect(
      message("cumulative_reduce", [function, Attribute("axis", .float(1))])
        == "attribute 'axis': expected an integer, got a float32: 1.0")
    #expect(
      message("pool", [Attribute("function", .text("minimum"))])
        == "attribute 'function': expected one of maximum, average, average_including_padding, got 'minimum'")
    #expect(message("unary", [Attribute("function", .text("clip"))]).hasSuffix("clip takes 2 parameters, got 0"))
    #expect(message("select", [axis]) == "select has no attribute 'axis': it has none")
    #expect(message("wave", []) == "there is no operator 'wave'")
  }

  /// Measurements are found by these keys, so a change of the encoding invalidates all of them.
  @Test func keysUseBitPatterns() throws {
    var graph = Graph()
    let x = graph.addValue(Value(name: "x", type: TensorType(.float32, [1, 8])))
    let y = graph.addValue(Value(name: "y", type: TensorType(.float32, [1, 8])))
    func key(_ op: any Operator) -> String {
      Node(name: "n", op: op, inputs: [x], outputs: [y], origins: []).fingerprint(in: graph)
    }
    #expect(key(Unary(.clip(0, 6))) == "unary function=clip(f32:00000000,f32:40c00000)(float32[1x8])")
    #expect(key(Unary(.clip(-0.0, 6))) != key(Unary(.clip(0, 6))))
    #expect(key(Reshape([])) == "reshape shape=[](float32[1x8])")
    #expect(AttributeValue.text("true") != .boolean(true))
    #expect(AttributeValue.text("a,b") != .list([.text("a"), .text("b")]))
    #expect(AttributeValue.integer(1) != .float(1))
  }
}

extension AttributeValue {
  /// Another value of the same kind: other numbers, of which some are extreme, and lists of another length.
  fileprivate func varied(using random: inout SeededGenerator) -> AttributeValue {
    switch self {
    case .boolean: return .boolean(Bool.random(using: &random))
    case .integer:
      let small = Int.random(in: -3...9, using: &random)
      return .integer([small, small, .max, .min].randomElement(using: &random) ?? small)
    case .float:
      let some = random.signedUnit() * 1e3
      return .float([some, some, -0.0, .infinity, .leastNonzeroMagnitude].randomElement(using: &random) ?? some)
    case .double:
      let some = Double(random.signedUnit()) / 3
      return .double([some, some, -0.0, -.infinity, .pi].randomElement(using: &random) ?? some)
    case .text: return self
    case .list(let values):
      guard let first = values.first else { return self }
      return .list((0..<Int.random(in: 0...4, using: &random)).map { _ in first.varied(using: &random) })
    case .call(let name, let values): return .call(name, values.map { $0.varied(using: &random) })
    }
  }
}
