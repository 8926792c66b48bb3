import KelvinBasics
package import KelvinGraph
import KelvinReference

/// Random graphs of integers with branches, loops, captured values, nesting and states. All arithmetic is exact.
package struct RandomControlGraph {
  private var random: SeededGenerator
  private var builder = GraphBuilder(evaluator: ReferenceEvaluator())
  private var count = 0
  private static let type = TensorType(.float32, [4])
  private static let scalar = TensorType(.int64, [])
  private var origin: Origin { Origin(name: "layer", kind: "Test", index: count) }

  /// A value and the nesting depth of its graph.
  private struct Known {
    var id: ValueID
    var depth: Int
  }

  private init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// - Returns: the graph, and inputs for it.
  package static func make(seed: UInt64, depth: Int = 2) throws -> (graph: Graph, inputs: [Tensor]) {
    var maker = RandomControlGraph(seed: seed)
    let x = try maker.builder.input("x", type)
    let flag = try maker.builder.input("flag", TensorType(.bool, []))
    let limit = try maker.builder.input("limit", scalar)
    var known = [Known(id: x, depth: 0)]
    let hasState = maker.chance(40)
    if hasState { known.append(Known(id: try maker.builder.state("memory", type), depth: 0)) }
    let controls = [Known(id: flag, depth: 0), Known(id: limit, depth: 0)]
    try maker.block(&known, controls, levels: depth, items: 3)
    if hasState, maker.chance(80) { maker.builder.write(maker.pick(known).id, to: "memory") }
    for result in known.suffix(2) { maker.builder.output(result.id) }
    if maker.chance(30) { maker.builder.output(known[0].id) }
    let graph = try maker.builder.finish()
    let inputs = [
      Tensor(type, rounding: (0..<4).map { _ in Double(Int.random(in: -3...3, using: &maker.random)) }),
      Tensor(TensorType(.bool, []), rounding: [maker.chance(50) ? 1 : 0]),
      Tensor(scalar, rounding: [Double(Int.random(in: 0...3, using: &maker.random))]),
    ]
    return (graph, inputs)
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  private mutating func pick(_ known: [Known]) -> Known { known[Int.random(in: 0..<known.count, using: &random)] }

  private mutating func here(_ value: Known) -> ValueID { builder.value(value.id, of: value.depth) }

  private mutating func name(_ kind: String) -> String {
    count += 1
    return "\(kind)\(count)"
  }

  private mutating func block(_ known: inout [Known], _ controls: [Known], levels: Int, items: Int) throws {
    for _ in 0..<Int.random(in: 1...items, using: &random) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<3 where levels > 0: try branch(&known, controls, levels)
      case 3..<7 where levels > 0: try loop(&known, controls, levels)
      default: known.append(Known(id: try arithmetic(known), depth: builder.depth))
      }
    }
  }

  /// Values stay small: differences, and larger ones of two.
  private mutating func arithmetic(_ known: [Known]) throws -> ValueID {
    let function: Binary.Function = chance(50) ? .subtract : .maximum
    let (x, y) = (here(pick(known)), here(pick(known)))
    return try builder.add(Binary(function), x, y, name: name("node"), origin: origin)
  }

  private mutating func branch(_ known: inout [Known], _ controls: [Known], _ levels: Int) throws {
    let name = name("branch")
    let results = Int.random(in: 1...2, using: &random)
    var regions: [WrittenRegion] = []
    for role in [Region.Role.then, .otherwise] {
      builder.beginRegion()
      var inside = known
      if chance(80) { try block(&inside, controls, levels: levels - 1, items: 2) }
      var outputs: [ValueID] = []
      for _ in 0..<results { outputs.append(here(pick(inside.suffix(4)))) }
      regions.append(builder.endRegion(role, outputs: outputs))
    }
    let ids = try builder.add(
      Branch(results: Array(repeating: Self.type, count: results)), [here(controls[0])], regions: regions, name: name,
      outputNames: (0..<results).map { "\(name).\($0)" }, origin: origin)
    known += ids.map { Known(id: $0, depth: builder.depth) }
  }

  private mutating func loop(_ known: inout [Known], _ controls: [Known], _ levels: Int) throws {
    let name = name("loop")
    let carried = Int.random(in: 1...3, using: &random)
    let isConditional = chance(40)
    let rows = chance(40) ? 1 : 0
    var first: [ValueID] = []
    for _ in 0..<carried { first.append(here(pick(known))) }
    let limit: ValueID
    if chance(50) {
      limit = builder.constant(
        "\(name).limit", Tensor(Self.scalar, rounding: [Double(Int.random(in: 0...3, using: &random))]))
    } else {
      limit = here(controls[1])
    }
    builder.beginRegion()
    let number = try builder.input("\(name).number", Self.scalar)
    var inside = known
    var variables: [ValueID] = []
    for index in 0..<carried {
      let id = try builder.input("\(name).in\(index)", Self.type)
      variables.append(id)
      inside.append(Known(id: id, depth: builder.depth))
    }
    try block(&inside, controls, levels: levels - 1, items: 3)
    var outputs: [ValueID] = []
    if isConditional {
      let two = builder.constant("\(name).two", Tensor(Self.scalar, rounding: [1]))
      outputs.append(
        try builder.add(Compare(.less), number, two, name: "\(name).goes_on", origin: origin))
    }
    // Often another carried value, unchanged, so that carried values are swapped.
    for index in 0..<carried {
      outputs.append(chance(30) ? variables[(index + 1) % carried] : here(pick(inside.suffix(4))))
    }
    for _ in 0..<rows { outputs.append(here(pick(inside))) }
    let body = builder.endRegion(.body, outputs: outputs)
    let op = Loop(
      carriedCount: carried, accumulated: Array(repeating: TensorType(.float32, [4, 4]), count: rows),
      isConditional: isConditional)
    let condition = isConditional ? [here(controls[0])] : []
    let ids = try builder.add(
      op, [limit] + condition + first, regions: [body], name: name,
      outputNames: (0..<(carried + rows + 1)).map { "\(name).\($0)" }, origin: origin)
    known += ids.prefix(carried).map { Known(id: $0, depth: builder.depth) }
    if rows > 0 {
      let sum = try builder.add(
        Reduce(.sum, axes: [0], keepsDimensions: false), ids[carried], name: "\(name).rows", origin: origin)
      known.append(Known(id: sum, depth: builder.depth))
    }
  }
}
