import Kelvin
import KelvinEngine
package import KelvinRuntime

/// Runs blocking work on a separate thread and waits for it without blocking the calling task's thread. Cancelling the
/// task cancels the work.
///
/// - Throws: Errors of `body`; `VisionError.prediction` where the work did not start.
package func unblocked<Value: Sendable>(
  _ body: @escaping @Sendable (Cancellation) throws(VisionError) -> Value
) async throws(VisionError) -> Value {
  let result: Result<Value, VisionError>
  do throws(ModelError) {
    result = try await BlockingWork.run { (cancellation) throws(ModelError) in
      Result { () throws(VisionError) in try body(cancellation) }
    }
  } catch { throw .prediction(error) }
  return try result.get()
}
