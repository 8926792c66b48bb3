package import KelvinPlanning

/// Makes complete starts of a configuration, each in its own process.
package protocol BenchmarkStarter {
  /// Starts a process that loads the model, adopts the plan, compiles and answers once.
  ///
  /// - Parameters:
  ///   - isCold: whether the caches of Kelvin, the drivers and, for the model's files, the system are empty. Otherwise
  ///     they hold what earlier starts of the same configuration stored.
  /// - Throws: `BenchmarkError.startFailed`, or `RuntimeError.cancelled` when the user cancels meanwhile.
  func start(_ configuration: BenchmarkConfiguration, plan: Plan, threads: Int, isCold: Bool) throws
    -> ConfigurationResult.Start
}
