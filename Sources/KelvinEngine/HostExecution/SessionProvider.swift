import KelvinRuntime

/// A provider of sessions of one specialization.
protocol SessionProvider {
  var model: CompiledModel { get }

  /// Calls `body` with a session.
  ///
  /// - Parameter outputs: the caller's memory for outputs.
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
