package import KelvinPlanning

/// Makes complete starts of a configuration, each in a process of its own.
package protocol BenchmarkStarter {
  /// Starts a fresh process, has it load the model, adopt the plan, compile and answer once.
  ///
  /// - Parameters:
  ///   - isCold: whether nothing may be cached: neither by Kelvin, nor by drivers, nor the model's files by the system.
  ///     Otherwise the caches are those that earlier starts of the same configuration have left.
  /// - Throws: `BenchmarkError.startFailed`, or `RuntimeError.cancelled` where the user gave up meanwhile.
  func start(_ configuration: BenchmarkConfiguration, plan: Plan, threads: Int, isCold: Bool) throws
    -> ConfigurationResult.Start
}
