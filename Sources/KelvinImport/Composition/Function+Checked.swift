package import KelvinGraph

extension Function {
  /// Returns the function after checking that its parts fit together.
  ///
  /// - Throws: `FormatError` if a part reads a value that nothing before it computes, or if nothing computes an output.
  package func checked(file: String) throws(FormatError) -> Function {
    do { try verify() } catch { throw FormatError(.malformed, file: file, place: error.place, error.reason) }
    return self
  }
}
