import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// Profiles of models with branches and loops, on devices with scripted times: an iteration has two layers and starts a
/// device twice, a side has one layer and starts it once.
@Suite struct ControlProfileTests {
  private let clock = VirtualClock()
  private static let type = TensorType(.float32, [4])
  private static let iterations = 7.0

  private func context(
    cpu: Double = 1e-3, gpu: Double = 2e-3, start: Double = 5e-4, refusing refused: String = ""
  ) throws -> ModelContext {
    func seconds(_ each: Double) -> @Sendable (Node) -> Double { { $0.name.contains("#") ? 0 : each } }
    let devices: [any Device] = [
      TimedDevice("cpu", kind: .cpu, clock: clock, overhead: 2e-5, seconds: seconds(cpu)),
      TimedDevice(
        "gpu:0", kind: .integratedGPU, clock: clock, overhead: start, refuses: { $0.name == refused },
        seconds: seconds(gpu)),
    ]
    return ModelContext(
      name: "looping.onnx", key: ContentKey(["looping"]), function: "main", graph: try Self.graph(),
      inventory: DeviceInventory((devices + [ReferenceDevice()]).map { DeviceListing($0) }), cache: nil,
      costs: CostSheet())
  }

  /// A loop with as many iterations as its input says, then a branch.
  private static func graph() throws -> Graph {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    func origin(_ name: String) -> Origin { Origin(name: name, kind: "Test", index: 0) }
    let x = try builder.input("x", type)
    let flag = try builder.input("flag", TensorType(.bool, []))
    let limit = try builder.input("limit", TensorType(.int64, []))
    builder.beginRegion()
    _ = try builder.input("number", TensorType(.int64, []))
    let carried = try builder.input("carried", type)
    let once = try builder.add(Unary(UnaryFunction(.tanh)), [carried], name: "first", origin: origin("first"))
    let twice = try builder.add(Unary(UnaryFunction(.exp)), once, name: "second", origin: origin("second"))
    let body = builder.endRegion(.body, outputs: twice)
    let looped = try builder.add(
      Loop(carriedCount: 1, accumulated: [], isConditional: false), [limit, x], regions: [body], name: "loop",
      outputNames: ["looped", "trips"], origin: origin("loop"))
    var sides: [WrittenRegion] = []
    for role in [Region.Role.then, .otherwise] {
      builder.beginRegion()
      let inside = builder.value(looped[0], of: 0)
      let name = "side \(role.rawValue)"
      sides.append(
        builder.endRegion(
          role, outputs: try builder.add(Unary(UnaryFunction(.tanh)), [inside], name: name, origin: origin(name))))
    }
    let chosen = try builder.add(
      Branch(results: [type]), [flag], regions: sides, name: "branch", outputNames: ["chosen"],
      origin: origin("branch"))
    builder.output(chosen[0])
    return try builder.finish()
  }

  private func profile(_ context: ModelContext, iterations: Double = Self.iterations) throws -> ProfileResult {
    var options = ProfilerOptions()
    options.budget = 1
    let inputs = [
      Tensor(Self.type, rounding: [0.1, -0.2, 0.3, 0.4]), Tensor(TensorType(.bool, []), rounding: [1]),
      Tensor(TensorType(.int64, []), rounding: [iterations]),
    ]
    return try NodeProfiler(
      context, PlanRequest(units: .devices(["cpu", "gpu:0"])), inputs: inputs, options: options,
      kelvinVersion: "test", clock: clock, files: noFiles
    ).run()
  }

  @Test func iterationAndBranchOverheadIsMeasured() throws {
    let result = try profile(try context())
    for check in result.checks { #expect(abs(check.error) < 0.01, "\(check)") }
    // Of fifteen starts: fourteen in seven iterations and one of a side, and on the CPU one more that copies into the
    // home.
    let host = try #require(result.starts["cpu"])
    #expect(abs(host.seconds - 16.0 / 15 * 2e-5) < 1e-7, "\(host)")
    let card = try #require(result.starts["gpu:0"])
    #expect(abs(card.seconds - 5e-4) < 5e-5, "\(card)")
  }

  @Test func iterationCostHoldsForOtherIterationCounts() throws {
    let context = try context()
    let (few, many) = (try profile(context), try profile(context, iterations: 40))
    for device in ["cpu", "gpu:0"] {
      var request = PlanRequest(units: .devices([device]))
      request.iterations.measuredShares = ["branch": 1]
      var costs = few.profile
      costs.models = [:]
      request.iterations.measured = ["loop": 40]
      let predicted = try context.with(costs: CostSheet(costs)).explain(request).solution.predicted
      let measured = try #require(many.checks.first { $0.label == device }?.measured)
      #expect(abs(predicted / measured - 1) < 0.02, "\(device): \(predicted) against \(measured)")
    }
  }

  /// The GPU computes an iteration's two layers in less time than the CPU, but has to be started twice for them.
  @Test func loopStaysOnTheDeviceWithCheapStarts() throws {
    let request = PlanRequest(units: .devices(["cpu", "gpu:0"]))
    func homes(start: Double) throws -> Set<String> {
      let context = try context(cpu: 1e-3, gpu: 8e-4, start: start)
      let plan = try context.with(costs: CostSheet(profile(context).profile)).explain(request).solution
      return Set(["loop#enter0", "first", "second", "loop#next0"].compactMap { plan.placement[$0] })
    }
    #expect(try homes(start: 1e-3) == ["cpu"])
    #expect(try homes(start: 1e-6) == ["gpu:0"])
  }

  @Test func controlFlowPrecedesItsBodyInThePlan() throws {
    let context = try context()
    let result = try profile(context)
    let request = PlanRequest(units: .devices(["gpu:0"]))
    let priced = context.with(costs: CostSheet(result.profile))
    let plan = try priced.plan(try priced.explain(request), request)
    #expect(
      plan.nodes.map(\.name) == [
        "loop", "loop#enter0", "first", "second", "loop#next0", "branch", "side then", "branch#then0", "side else",
        "branch#else0",
      ])
    let (loop, branch) = (plan.nodes[0], plan.nodes[5])
    #expect(loop.op == "loop" && loop.turns == 7 && loop.device == "cpu" && loop.inputs == ["limit"])
    #expect(branch.op == "branch" && branch.turns == 1)
    #expect(loop.reason == "control flow runs on the host")
    let starts = plan.nodes.flatMap(\.transfers).filter { $0.isSignal == true }
    #expect(starts.map(\.value) == ["loop#trip", "branch#side"] && starts.allSatisfy { $0.to == "gpu:0" })
    #expect(try Plan(json: plan.json()) == plan)
    // A plan can be adopted again, and control flow cannot be moved.
    #expect(try priced.explain(adopting: plan, request).solution.placement == plan.placement)
    var moved = plan
    moved.nodes[0].device = "gpu:0"
    #expect(throws: RuntimeError.self) { try priced.explain(adopting: moved, request) }
  }

  @Test func profileWithoutModelPlansControlFlow() throws {
    let context = try context()
    let result = try profile(context)
    let document = try MeasuredProfile(json: try result.profile.json(), document: "copy")
    #expect(document == result.profile)
    let planner = try ProfilePlanner(CostSheet(document), model: nil)
    for units in [["cpu"], ["gpu:0"], ["cpu", "gpu:0"]] {
      let request = PlanRequest(units: .devices(units))
      let alone = try planner.problem(request).explain()
      let priced = context.with(costs: CostSheet(result.profile))
      let here = try priced.explain(request)
      #expect(alone.solution.placement == here.solution.placement, "\(units)")
      #expect(abs(alone.solution.predicted - here.solution.predicted) < 1e-12, "\(units)")
      let (told, plan) = (planner.plan(alone, request), try priced.plan(here, request))
      #expect(told.nodes.map(\.name) == plan.nodes.map(\.name))
      #expect(told.nodes.map(\.region) == plan.nodes.map(\.region))
      #expect(told.nodes.map(\.iterations) == plan.nodes.map(\.iterations))
      #expect(told.nodes.map(\.turns) == plan.nodes.map(\.turns))
      #expect(told.nodes.map(\.op) == plan.nodes.map(\.op))
      #expect(told.nodes.map(\.inputs) == plan.nodes.map(\.inputs))
    }
    let loop = try #require(planner.expectations.first)
    #expect(loop.loop == "loop" && loop.iterations == 7 && loop.basis == .measured && planner.expectations.count == 1)
  }

  @Test func remarksCountNodesInRegionsOnly() throws {
    let context = try context(refusing: "second")
    let request = PlanRequest(units: .devices(["gpu:0"]))
    let remarks = try context.remarks(on: try context.explain(request), request)
    #expect(remarks.count == 1, "\(remarks)")
    // Two layers and two copies of the loop, two of each side of the branch.
    let expected = "1 of 8 nodes runs on cpu, not on gpu:0: 1 unary (it refuses second)"
    #expect(remarks.first?.hasPrefix(expected) == true, "\(remarks)")
    let whole = try self.context()
    #expect(try whole.remarks(on: try whole.explain(request), request) == [])
  }

  @Test func outputListsRegionsAndControlFlowCosts() throws {
    let lines = try profile(try context()).lines()
    #expect(lines.contains("  loop/body: 7 × in each inference"), "\(lines)")
    #expect(lines.contains("  branch/then: 1 × in each inference"))
    #expect(lines.contains { $0.hasPrefix("Control flow") && $0.contains("loop iteration") })
    #expect(lines.contains { $0.hasPrefix("starting gpu:0") })
    #expect(lines.allSatisfy { $0.count <= 100 })
  }
}
