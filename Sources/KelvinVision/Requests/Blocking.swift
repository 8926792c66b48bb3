import Kelvin
import KelvinEngine
import KelvinRuntime

/// Runs what blocks on a thread that may, and waits for it without blocking the calling task's; where the task is cancelled,
/// so is the work.
///
/// - Throws: what `body` throws; `VisionError.prediction` where it never began.
func unblocked<Value: Sendable>(
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
