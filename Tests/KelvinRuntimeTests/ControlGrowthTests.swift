import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// From a graph with control flow to a session, work grows linearly: four times as many branches or loops take about
/// four times the processor's time. Visiting everything inside each, or beside it, would take sixteen times.
@Suite(.serialized) struct ControlGrowthTests {
  enum Family: String, CaseIterable, Codable, Sendable {
    /// Branches inside each other.
    case nested
    /// Branches beside each other, loops behind each other, and what one loop carries.
    case beside, loops, carried

    var few: Int { self == .nested ? 100 : 250 }

    func graph(_ count: Int) throws -> Graph {
      let type = TensorType(.float32, [2])
      let origin = Origin(name: "made", kind: "Made", index: 0)
      var builder = GraphBuilder(evaluator: ReferenceEvaluator())
      let x = try builder.input("x", type)
      let condition = try builder.input("c", TensorType(.bool, []))
      func unary(_ function: UnaryFunction.Kind, _ id: ValueID) throws -> ValueID {
        try builder.add(Unary(UnaryFunction(function)), id, name: "unary", origin: origin)
      }
      func branch(_ read: ValueID, of depth: Int, _ inner: () throws -> ValueID) throws -> ValueID {
        builder.beginRegion()
        let then = builder.endRegion(.then, outputs: [try inner()])
        builder.beginRegion()
        let other = builder.endRegion(.otherwise, outputs: [try unary(.cos, builder.value(read, of: depth))])
        return try builder.add(
          Branch(results: [type]), [builder.value(condition, of: 0)], regions: [then, other], name: "branch",
          outputNames: [], origin: origin)[0]
      }
      func loop(_ carried: [ValueID]) throws -> [ValueID] {
        let limit = builder.constant("limit", Tensor([2] as [Int64], []))
        builder.beginRegion()
        _ = try builder.input("trip", TensorType(.int64, []))
        let given = try carried.map { _ in try builder.input("given", type) }
        let body = builder.endRegion(.body, outputs: try given.map { try unary(.sin, $0) })
        return try builder.add(
          Loop(carriedCount: carried.count), [limit] + carried, regions: [body], name: "loop", outputNames: [],
          origin: origin)
      }
      switch self {
      case .nested:
        func level(_ depth: Int) throws -> ValueID {
          if depth == count { return try unary(.sin, builder.value(x, of: 0)) }
          return try branch(x, of: 0) { try level(depth + 1) }
        }
        builder.output(try level(0))
      case .beside:
        for _ in 0..<count { builder.output(try branch(x, of: 0) { try unary(.sin, builder.value(x, of: 0)) }) }
      case .loops:
        var last = x
        for _ in 0..<count { last = try loop([last])[0] }
        builder.output(last)
      case .carried:
        for output in try loop(Array(repeating: x, count: 2 * count)).dropLast() { builder.output(output) }
      }
      return try builder.finish()
    }
  }

  /// Whether a device is the host's is asked for each group of nodes that may go next.
  @Test(arguments: Family.allCases) func groupsAreQueriedAFewTimes(family: Family) throws {
    func questions(_ count: Int) throws -> Int {
      let flat = FlatGraph(try family.graph(count))
      let placement = Dictionary(uniqueKeysWithValues: flat.placedNames.map { ($0, "host") })
      var questions = 0
      _ = try Schedule(flat, placement: placement, transfers: [], host: "host") { _ in
        questions += 1
        return true
      }
      return questions
    }
    let (few, many) = (try questions(50), try questions(200))
    #expect(many <= 5 * few, "\(family): \(few) questions for 50, \(many) for 200")
  }

  @Test(.slow, arguments: Family.allCases) func compileTimeGrowsWithTheGraph(family: Family) async {
    await #expect(processExitsWith: .success) { [family] in
      let process = OwnProcess()
      let inventory = DeviceInventory([DeviceListing(ReferenceDevice())])
      func seconds(_ count: Int) throws -> Double {
        let raw = try family.graph(count)
        let before = process.processorSeconds
        let graph = try Pipeline.standard(ReferenceEvaluator()).run(raw).graph
        let request = PlanRequest(units: .devices(["reference"]))
        let plan = try Planner(inventory: inventory, costs: CostSheet()).problem(graph, request).solve()
        let model = try CompiledModel(
          graph, placement: plan.placement, transfers: plan.transfers, inventory: inventory, precision: .full,
          threads: 1,
          storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
        _ = try model.makeSession()
        return process.processorSeconds - before
      }
      _ = try seconds(family.few / 4)
      let (few, many) = (try seconds(family.few), try seconds(4 * family.few))
      #expect(many < 8 * few + 0.05, "\(family): \(few) s for \(family.few), \(many) s for \(4 * family.few)")
    }
  }
}
