package import KelvinGraph

extension Function {
  /// The function, where its parts fit together.
  ///
  /// - Throws: `FormatError` where a part reads what nothing before it computes, or nothing computes an output.
  package func checked(file: String) throws(FormatError) -> Function {
    do { try verify() } catch { throw FormatError(.malformed, file: file, place: error.place, error.reason) }
    return self
  }
}
