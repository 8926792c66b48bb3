import KelvinVision

/// Runs what may refuse a model or an option, and says in this command line's terms what would help.
///
/// - Throws: `InputError`, `UsageError`; `ImageError`, `ModelError` and `PhotoIndexError` as they are.
func recognizing<Value>(_ body: () throws(VisionError) -> Value) throws -> Value {
  do throws(VisionError) { return try body() } catch { throw recognized(error) }
}

/// An error with images in this command line's terms.
func recognized(_ error: VisionError) -> any Error {
  switch error {
  case .invalidModel(let reason): InputError("\(reason); 'kelvin predict' takes any inputs and writes any outputs")
  case .missingNormalization(let reason): InputError("\(reason), with --normalization")
  case .invalidRequest(let reason): UsageError("--normalization: \(reason)")
  case .missingModel(let reason): InputError(reason)
  case .image(let error): error
  case .prediction(let error): error
  case .index(let error): error
  }
}
