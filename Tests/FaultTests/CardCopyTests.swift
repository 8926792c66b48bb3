import CFaultyDrivers
import Glibc
import ConformanceChecks
import Kelvin
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPasses
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// Copies between the host and a card whose memory the host cannot address.
@Suite(.serialized) struct CardCopyTests {
  @Test func inferenceOnACardIsOneSubmissionAndOneWait() async {
    await #expect(processExitsWith: .success) {
      // Otherwise new memory is filled, by copies that would be counted.
      unsetenv("KELVIN_POISON_MEMORY")
      var order = FaultyOrder()
      order.card = FaultyCardDiscrete
      let machine = FaultyMachine(.vulkan, order)
      guard let device = machine.device else { leave() }
      let graph = try CardCopyTests.graph()
      let model = try CardCopyTests.compiled(graph, on: device, machine)
      var sessions: [Session] = []
      for _ in 0..<2 {
        faulty_order(order)
        sessions.append(try model.makeSession())
        // Each of two inputs and three outputs is copied once.
        #expect(faulty_calls("vkCmdCopyBuffer") == 5)
      }
      var random = SeededGenerator(seed: 5)
      for run in 0..<6 {
        let inputs = graph.types(graph.inputs).map { Tensor.random(.float32, $0.shape, -1...1, &random) }
        faulty_order(order)
        let outputs = try sessions[run % 2].run(inputs)
        #expect(faulty_calls("vkQueueSubmit") == 1, "run \(run)")
        #expect(faulty_calls("vkWaitForFences") == 1, "run \(run)")
        #expect(faulty_calls("vkCmdCopyBuffer") == 0, "run \(run)")
        for (wanted, got) in zip(try ReferenceDevice().run(graph, inputs).outputs, outputs) {
          #expect(graph.tolerance(.full).difference(of: got, from: wanted) == nil, "run \(run)")
        }
      }
      leave()
    }
  }

  /// The state is overwritten by a submission of its own, which ends after the one that computes the output.
  @Test func stateOnACardNeedsOneWait() async {
    await #expect(processExitsWith: .success) {
      var order = FaultyOrder()
      order.card = FaultyCardDiscrete
      let machine = FaultyMachine(.vulkan, order)
      guard let device = machine.device else { leave() }
      var builder = GraphBuilder(evaluator: ReferenceEvaluator())
      let type = TensorType(.float32, [7])
      let (x, memory) = (try builder.input("x", type), try builder.state("memory", type))
      let origin = Origin(name: "layer", kind: "Test", index: 0)
      let sum = try builder.add(Binary(.add), x, memory, name: "sum", origin: origin)
      builder.write(sum, to: "memory")
      builder.output(sum)
      let model = try CardCopyTests.compiled(try builder.finish(), on: device, machine)
      #expect(model.stateDevices == ["memory": device.info.id])
      let session = try model.makeSession()
      for run in 1...4 {
        faulty_order(order)
        let sum = try session.run([Tensor(type, rounding: (0..<7).map(Double.init))])[0]
        #expect(sum.doubles == (0..<7).map { Double(run * $0) })
        #expect(faulty_calls("vkQueueSubmit") == 2 && faulty_calls("vkWaitForFences") == 1, "run \(run)")
      }
      leave()
    }
  }

  /// The cache of each layer is an input and an output of the model. When the card is lost, the sequence continues on
  /// the host.
  @Test func cacheOfADecoderStaysOnTheCard() async {
    await #expect(processExitsWith: .success) {
      unsetenv("KELVIN_POISON_MEMORY")
      var order = FaultyOrder()
      order.card = FaultyCardDiscrete
      let machine = FaultyMachine(.vulkan, order)
      guard let device = machine.device else { leave() }
      let card = try CardCopyTests.sequence(machine, on: device.info.id)
      let host = try CardCopyTests.sequence(machine, on: "cpu")
      func compare(_ token: Int) throws {
        let expected = try host.read([token]).map(Double.init)
        #expect(distance(try card.read([token]).map(Double.init), expected) < 1e-3, "token \(token)")
      }
      try compare(3)
      for token in [1, 4, 1, 5] {
        faulty_order(order)
        try compare(token)
        #expect(faulty_calls("vkQueueSubmit") == 1 && faulty_calls("vkWaitForFences") == 1, "token \(token)")
        #expect(faulty_calls("vkCmdCopyBuffer") == 0, "token \(token)")
      }
      #expect(card.memory.contains("on \(device.info.id)"), "\(card.memory)")
      var loss = FaultyFault.answering("vkQueueSubmit", code: Interface.vulkan.codes.lost)
      loss.card = FaultyCardDiscrete
      faulty_order(loss)
      for token in [9, 2, 6] { try compare(token) }
      #expect(device.health.failure?.code == .lost && card.memory.contains("in host memory"))
      leave()
    }
  }

  /// Each layer takes six kernels, which write the new rows of keys and values over the states: nothing copies them. A
  /// decoder of twelve layers, with an embedding and scores, then takes fewer than 80.
  @Test func layerOfADecoderTakesSixKernels() async {
    await #expect(processExitsWith: .success) {
      unsetenv("KELVIN_POISON_MEMORY")
      var order = FaultyOrder()
      order.card = FaultyCardDiscrete
      let machine = FaultyMachine(.vulkan, order)
      guard let device = machine.device else { leave() }
      for (sharing, window) in [(1, 0), (2, 0), (4, 3)] {
        var net = DecoderLayers()
        (net.layers, net.room, net.hasStates) = (3, 70, true)
        (net.sharing, net.window) = (sharing, window)
        var random = SeededGenerator(seed: 9)
        let graph = try net.graph(ReferenceEvaluator(), &random)
        let passed = try Pipeline.standard(ReferenceEvaluator()).run(graph).graph
        let model = try CardCopyTests.compiled(passed, on: device, machine)
        #expect(model.schedule.segments.count == 1)
        faulty_order(order)
        let session = try model.makeSession()
        #expect(Int(faulty_calls("vkCmdDispatch")) == 6 * net.layers)
        // On the host, the nodes are those of the model.
        let host = try CardCopyTests.compiled(graph, on: machine.inventory.host, machine).makeSession()
        for token in 0..<6 {
          let x = Tensor.random(.float32, [1, 1, 32], -1...1, &random)
          let inputs = [x, Tensor(TensorType(.int32, [1]), rounding: [Double(token)])]
          faulty_order(order)
          let got = try session.run(inputs)[0]
          #expect(faulty_calls("vkQueueSubmit") == 1 && faulty_calls("vkWaitForFences") == 1, "token \(token)")
          #expect(faulty_calls("vkCmdCopyBuffer") == 0, "token \(token)")
          #expect(distance(got.doubles, try host.run(inputs)[0].doubles) < 1e-3, "token \(token)")
        }
      }
      leave()
    }
  }

  private static func sequence(_ machine: FaultyMachine, on device: String) throws -> TokenSequence {
    var options = LoadOptions()
    options.cacheDirectory = nil
    // Checks of results are submissions too.
    options.checksResults = false
    options.request = PlanRequest(units: .devices([device]), precision: .full, threads: 1)
    options.shapes = ["input_ids": [1, 1]]
    let path = "\(SharedFiles.projectRoot)/Tests/Vectors/Decoder/shared.onnx"
    let loaded = try LoadedModel(path: path, options: options, inventory: machine.inventory)
    return try TokenSequence(try PlannedModel(loaded).predictor(specializationLimit: 8), roles: [:])
  }

  /// Compiles a graph for one device alone.
  private static func compiled(
    _ graph: Graph, on device: any Device, _ machine: FaultyMachine
  ) throws -> CompiledModel {
    let request = PlanRequest(units: .devices([device.info.id]), isStrict: true, precision: .full, threads: 1)
    let solution = try Planner(inventory: machine.inventory, costs: CostSheet()).problem(graph, request).solve()
    return try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, inventory: machine.inventory,
      precision: .full, threads: 1, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
  }

  /// A graph of two inputs and three outputs, one of which the others are computed from.
  private static func graph() throws -> Graph {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "layer", kind: "Test", index: 0)
    let type = TensorType(.float32, [2, 3, 5, 7])
    let (x, y) = (try builder.input("x", type), try builder.input("y", type))
    let first = try builder.add(Unary(.relu), x, name: "first", origin: origin)
    let second = try builder.add(Binary(.add), first, y, name: "second", origin: origin)
    let third = try builder.add(Binary(.multiply), second, x, name: "third", origin: origin)
    for output in [first, second, third] { builder.output(output) }
    return try builder.finish()
  }
}
