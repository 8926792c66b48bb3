import KelvinRuntime

/// Whoever lends sessions of one compiled form.
protocol SessionProvider {
  var model: CompiledModel { get }

  /// Lends a session for as long as `body` runs.
  ///
  /// - Parameter outputs: where the caller would have outputs written.
  func withSession<Result>(
    _ outputs: OutputMemory, _ cancellation: Cancellation?, _ body: (Session) throws -> Result
  ) throws -> Result
}

extension SessionPool: SessionProvider {}

/// The sessions that compute on a caller's states, which the caller has borrowed.
struct StateSessions: SessionProvider {
  let model: CompiledModel
  let states: StateMemory

  func withSession<Result>(
    _ outputs: OutputMemory, _ cancellation: Cancellation?, _ body: (Session) throws -> Result
  ) throws -> Result {
    try states.using(model, body)
  }
}
