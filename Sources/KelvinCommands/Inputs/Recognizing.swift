import KelvinVision

/// Runs a closure and converts its `VisionError` to errors that name the command line options that help.
///
/// - Throws: `InputError`, `UsageError`; `ImageError`, `ModelError` and `PhotoIndexError` unchanged.
func recognizing<Value>(_ body: () throws(VisionError) -> Value) throws -> Value {
  do throws(VisionError) { return try body() } catch { throw recognized(error) }
}

/// Converts a `VisionError` to an error that names the command line options that help.
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
