import KelvinBasics
import KelvinDevices
import KelvinGraph
import TestSupport
import Testing

/// The plan knows graphs only by their values and who reads them; operators play no part.
struct LayoutPlanTests {
  private let blocks = ValueLayout.blocks(of: 4)

  @Test func valueIsConvertedOnceForAllReaders() {
    var net = Net([1, 6, 3, 3])
    let (a, b) = (net.node(net.x), net.node(net.x))
    net.graph.outputs = [a, b]
    let inBlocks = [implementation(reads: blocks, writes: .dense)]
    let plan = LayoutPlan(net.graph, [inBlocks, inBlocks])
    #expect(plan.conversions.map(\.to) == [blocks] && plan.conversions.map(\.node) == [0])
    #expect(plan.cost == LayoutPlan.startCost + 72)
  }

  @Test func agreeingLayoutsNeedNoConversion() {
    var net = Net([1, 6, 3, 3])
    let (a, b) = (net.node(net.x), net.node(net.x))
    let c = net.node(a, b)
    net.graph.outputs = [c]
    let either = [implementation(), implementation(reads: blocks, writes: blocks)]
    let plan = LayoutPlan(net.graph, [[implementation(writes: blocks)], [implementation(writes: blocks)], either])
    #expect(plan.choices == [0, 0, 1])
    // The output, after the node that makes it.
    #expect(plan.conversions.map(\.value) == [c] && plan.conversions.map(\.isAfter) == [true])
  }

  @Test func firstOfEqualImplementationsIsChosen() {
    var net = Net([1, 6, 3, 3])
    net.graph.outputs = [net.node(net.x)]
    #expect(LayoutPlan(net.graph, [[implementation(), implementation(), implementation(extraCost: 0)]]).choices == [0])
    #expect(LayoutPlan(net.graph, [[implementation(extraCost: 5), implementation(extraCost: 3)]]).choices == [1])
  }

  @Test func extraCostIsWeighedAgainstConversions() {
    var net = Net([1, 6, 3, 3])
    net.graph.outputs = [net.node(net.x)]
    let moving = 2 * (LayoutPlan.startCost + 72)
    func choice(_ extraCost: Double) -> [Int] {
      LayoutPlan(net.graph, [[implementation(reads: blocks, writes: blocks), implementation(extraCost: extraCost)]])
        .choices
    }
    #expect(choice(moving - 1) == [1])
    #expect(choice(moving + 1) == [0])
  }

  @Test(arguments: [[2, 8, 1, 1], [1, 8]]) func equalLayoutsCostNothing(_ shape: [Int]) {
    var net = Net(Shape(shape))
    net.graph.outputs = [net.node(net.x)]
    #expect(LayoutPlan(net.graph, [[implementation(reads: blocks, writes: .rows)]]).cost == 0)
  }

  @Test func constantsAreNotMoved() {
    var net = Net([1, 6, 3, 3])
    let weight = net.graph.addValue(
      Value(
        name: "w", type: net.graph[net.x].type,
        weight: Weight(Tensor(net.graph[net.x].type, rounding: [Double](repeating: 0, count: 54)))))
    net.graph.outputs = [net.node(net.x, weight)]
    let plan = LayoutPlan(net.graph, [[LayoutPlan.Implementation(KernelLayouts(reads: [.dense, blocks]))]])
    #expect(plan.cost == 0 && plan.conversions.isEmpty)
  }

  /// Tries every implementation of every node.
  @Test func planEqualsExhaustiveSearch() {
    for seed in UInt64(1)...400 {
      var random = SeededGenerator(seed: seed)
      let (graph, implementations) = Net.random(&random)
      let plan = LayoutPlan(graph, implementations)
      var best = Double.infinity
      var choices = implementations.map { _ in 0 }
      repeat {
        best = min(best, cost(graph, zip(implementations, choices).map { $0[$1] }))
      } while advance(&choices, implementations.map(\.count))
      #expect(abs(plan.cost - best) < 1e-6, "seed \(seed): \(plan.cost) instead of \(best)")
      let chosen = zip(implementations, plan.choices).map { $0[$1] }
      #expect(abs(cost(graph, chosen) - plan.cost) < 1e-6, "seed \(seed): the choices do not cost what the plan says")
      expectReadable(graph, chosen, plan, "seed \(seed)")
    }
  }

  @Test func graphWithTooManyOpenValuesIsPlanned() {
    var net = Net([1, 6, 3, 3])
    let values = (0..<40).map { _ in net.node(net.x) }
    let last = net.graph.addValue(Value(name: "last", type: net.graph[net.x].type))
    net.graph.nodes.append(Node(name: "join", op: Concat(axis: 1), inputs: values, outputs: [last], origins: []))
    net.graph.outputs = [last]
    let either = [implementation(), implementation(reads: blocks, writes: blocks)]
    let join = LayoutPlan.Implementation(KernelLayouts(reads: values.map { _ in blocks }, writes: [blocks]))
    let plan = LayoutPlan(net.graph, values.map { _ in either } + [[join]])
    expectReadable(net.graph, zip(values.map { _ in either } + [[join]], plan.choices).map { $0[$1] }, plan, "wide")
  }

  @Test(.slow) func unrelatedValuesTakeNoTime() async {
    await #expect(processExitsWith: .success) {
      let process = OwnProcess()
      func seconds(_ count: Int) -> Double {
        var net = Net([1, 6, 3, 3])
        var values = (0..<count).map { _ in net.node(net.x) }
        // The first is read last.
        while values.count > 1 { values = zip(values, values.dropFirst(values.count / 2)).map { net.node($0, $1) } }
        net.graph.outputs = values
        let implementations = net.graph.nodes.map { _ in [LayoutPlan.Implementation()] }
        let before = process.processorSeconds
        #expect(LayoutPlan(net.graph, implementations).cost == 0)
        return process.processorSeconds - before
      }
      _ = seconds(500)
      // Four times as many: quadratic growth would be 16 times the work.
      let (few, many) = (seconds(2000), seconds(8000))
      #expect(many < 8 * few + 0.02, "\(few) s for 2000 values, \(many) s for 8000")
    }
  }

  private func implementation(
    reads: ValueLayout = .dense, writes: ValueLayout = .dense, extraCost: Double = 0
  ) -> LayoutPlan.Implementation {
    LayoutPlan.Implementation(KernelLayouts(reads: [reads, reads], writes: [writes]), extraCost: extraCost)
  }

  /// Returns the cost of given kernels, with every conversion done when it is first needed.
  private func cost(_ graph: Graph, _ implementations: [LayoutPlan.Implementation]) -> Double {
    var held: [ValueID: Set<ValueLayout>] = [:]
    for id in graph.inputs { held[id] = [.dense] }
    var cost = 0.0
    func need(_ id: ValueID, _ layout: ValueLayout) {
      guard let lies = held[id], !lies.contains(layout) else { return }
      let shape = graph[id].type.shape
      cost += lies.map { LayoutPlan.cost(shape, from: $0, to: layout) }.min() ?? .infinity
      held[id]?.insert(layout)
    }
    for (node, implementation) in zip(graph.nodes, implementations) {
      cost += implementation.extraCost
      for (position, id) in node.inputs.enumerated() { need(id, implementation.layouts.read(position)) }
      for (position, id) in node.outputs.enumerated() {
        held[id] = [implementation.layouts.write(position)]
        if graph.outputs.contains(id) { need(id, .dense) }
      }
    }
    return cost
  }

  /// Every kernel finds its operands where it looks for them, and every output is dense at the end.
  private func expectReadable(
    _ graph: Graph, _ implementations: [LayoutPlan.Implementation], _ plan: LayoutPlan, _ name: String
  ) {
    var held: [ValueID: Set<ValueLayout>] = [:]
    for id in graph.inputs { held[id] = [.dense] }
    func convert(_ node: Int, _ isAfter: Bool) {
      for conversion in plan.conversions where conversion.node == node && conversion.isAfter == isAfter {
        #expect(held[conversion.value]?.contains(conversion.from) == true, "\(name)")
        held[conversion.value]?.insert(conversion.to)
      }
    }
    for (index, node) in graph.nodes.enumerated() {
      convert(index, false)
      for (position, id) in node.inputs.enumerated() where graph[id].weight == nil {
        #expect(held[id]?.contains(implementations[index].layouts.read(position)) == true, "\(name)")
      }
      for (position, id) in node.outputs.enumerated() { held[id] = [implementations[index].layouts.write(position)] }
      convert(index, true)
    }
    #expect(graph.outputs.allSatisfy { held[$0]?.contains(.dense) == true }, "\(name)")
  }

  /// Counts up in mixed radix.
  ///
  /// - Returns: false where it starts over.
  private func advance(_ digits: inout [Int], _ radices: [Int]) -> Bool {
    for place in digits.indices {
      digits[place] += 1
      if digits[place] < radices[place] { return true }
      digits[place] = 0
    }
    return false
  }
}

private struct Net {
  var graph = Graph()
  let x: ValueID

  init(_ shape: Shape) {
    x = graph.addValue(Value(name: "x", type: TensorType(.float32, shape)))
    graph.inputs = [x]
  }

  mutating func node(_ inputs: ValueID...) -> ValueID { node(inputs) }

  mutating func node(_ inputs: [ValueID]) -> ValueID {
    let output = graph.addValue(Value(name: "v\(graph.values.count)", type: graph[x].type))
    let op: any Operator = inputs.count == 1 ? Unary(.relu) : Binary(.add)
    graph.nodes.append(
      Node(name: "n\(graph.nodes.count)", op: op, inputs: inputs, outputs: [output], origins: []))
    return output
  }

  /// Up to seven nodes of up to three implementations between up to three layouts.
  static func random(_ random: inout SeededGenerator) -> (Graph, [[LayoutPlan.Implementation]]) {
    let layouts: [ValueLayout] = [.dense, .blocks(of: 4), .rows]
    var net = Net([1, 3 + random.index(below: 6), 1 + random.index(below: 40), 7])
    var values = [net.x]
    var implementations: [[LayoutPlan.Implementation]] = []
    for _ in 0..<(2 + random.index(below: 6)) {
      let inputs = (0...random.index(below: 2)).map { _ in values[random.index(below: values.count)] }
      values.append(net.node(inputs))
      implementations.append(
        (0...random.index(below: 3)).map { _ in
          LayoutPlan.Implementation(
            KernelLayouts(
              reads: inputs.map { _ in layouts[random.index(below: 3)] }, writes: [layouts[random.index(below: 3)]]),
            extraCost: Double(random.index(below: 4)) * 3000)
        })
    }
    net.graph.outputs = values.filter { $0 != net.x && ($0 == values.last || random.index(below: 4) == 0) }
    return (net.graph, implementations)
  }
}
