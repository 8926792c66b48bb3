import Kelvin
import KelvinBench
import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinPlanning
import KelvinRuntime

extension [Benchmark.Configuration] {
  /// Returns each configuration in the form that the benchmark runner takes.
  ///
  /// - Throws: `ModelError` with code `parameters` if there are no configurations, or if they differ in function or
  ///   sizes.
  func compared() throws(ModelError) -> [BenchmarkConfiguration] {
    guard let first = first?.configuration else {
      throw ModelError(.parameters, "a benchmark needs at least one configuration")
    }
    return try map { candidate throws(ModelError) in
      let configuration = candidate.configuration
      guard configuration.functionName == first.functionName, configuration.inputShapes == first.inputShapes else {
        throw ModelError(
          .parameters, "'\(candidate.label)' is for another function or other input sizes than '\(self[0].label)'")
      }
      let options = try configuration.options()
      return BenchmarkConfiguration(label: candidate.label, request: options.request, plan: options.plan)
    }
  }

  /// Returns the configuration that the model is loaded with for all of them: the first one's options and the devices
  /// of all. A plan's devices count even if its measurements are stale.
  func shared(_ compared: [BenchmarkConfiguration]) throws(ModelError) -> ModelConfiguration {
    guard var shared = first?.configuration else { return ModelConfiguration() }
    shared.plan = nil
    shared.pins = [:]
    let every = compared.map { $0.plan.map { .devices($0.usedDevices.sorted()) } ?? $0.request.units }
    if case .devices(let ids) = try ModelError.wrapping({ try UnitsSelection.union(every, in: deviceInventory) }) {
      shared.computeUnits = .devices(ids)
    }
    return shared
  }
}

extension LoadedModel {
  /// Replaces each plan of several graphs by its plan for the measured graph.
  func fitted(_ configurations: [BenchmarkConfiguration]) -> [BenchmarkConfiguration] {
    configurations.map { configuration in
      var configuration = configuration
      configuration.plan = configuration.plan.map { $0.part(named: shown.part.name) ?? $0 }
      return configuration
    }
  }
}
