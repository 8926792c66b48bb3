import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinRuntime

extension BenchmarkRunner {
  /// Returns the estimated seconds of one inference on the reference device.
  func referenceSeconds(_ reference: any Device) -> Double {
    let graph = subject.context.graph
    let coefficients = reference.info.planningKind.guess
    return graph.nodes.reduce(0.0) { sum, node in
      let work = graph.work(of: node)
      return sum + coefficients.estimate(operator: node.op.name, operations: work.operations, bytes: work.bytes)
    }
  }

  /// Compares every configuration's outputs with the reference device's.
  ///
  /// - Returns: the reason for which outputs were not compared; empty when they were.
  func checkAgreement(_ candidates: [BenchmarkCandidate]) throws -> String {
    guard options.checksAgreement else { return "not asked for" }
    guard let reference = subject.context.inventory.reference else { return "this build has no reference device" }
    let graph = subject.context.graph
    let id = reference.info.id
    let estimate = referenceSeconds(reference)
    let affordable = min(subject.inputs.count, Int(min(1e6, options.referenceBudget / max(estimate, 1e-9))))
    guard affordable > 0 else {
      return "the reference device would take about \(HumanReadable.seconds(estimate)) for one input"
    }
    live.begin("comparison with the reference device", .agreement)
    try options.cancellation?.check()
    guard let first = candidates.first(where: \.isAble) else { return "no configuration was left" }
    var request = first.configuration.request
    request.goal = .latency
    request.units = .devices([id])
    request.pins = [:]
    request.exclusions = []
    let solution = try subject.context.planner.problem(graph, request).solve()
    let oracle = try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, inventory: subject.context.inventory,
      precision: request.precision, threads: request.threads, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) }
    ).makeSession()
    let inputs = subject.inputs.prefix(affordable)
    var expected: [[Tensor]] = []
    for tensors in inputs { expected.append(try oracle.run(tensors, options.cancellation)) }
    for candidate in candidates {
      try attempt(candidate) {
        let outputs = try inputs.map { try candidate.answer($0) }
        let agreement = Agreement.compare(outputs, to: expected, classes: subject.classes)
        journal.add(.agreement(configuration: candidate.index, agreement: agreement))
      }
    }
    if affordable < subject.inputs.count {
      journal.add(
        .note("agreement is from \(affordable) of \(subject.inputs.count) inputs: the reference device is slow"))
    }
    return ""
  }
}
