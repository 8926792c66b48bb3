import KelvinVision

/// Runs what may refuse a model or an option, and says in this command line's terms what would help.
///
/// - Throws: `InputError`, `UsageError`; `ImageError` and `ModelError` as they are.
func recognizing<Value>(_ body: () throws(VisionError) -> Value) throws -> Value {
  do throws(VisionError) { return try body() } catch {
    switch error {
    case .invalidModel(let reason):
      throw InputError("\(reason); 'kelvin predict' takes any inputs and writes any outputs")
    case .missingNormalization(let reason): throw InputError("\(reason), with --normalization")
    case .invalidRequest(let reason): throw UsageError("--normalization: \(reason)")
    case .image(let error): throw error
    case .prediction(let error): throw error
    }
  }
}
