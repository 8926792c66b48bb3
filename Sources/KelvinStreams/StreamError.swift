/// An invalid stream: plans, options or values that are out of range.
package struct StreamError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error, with the expected and the given value.
  package let description: String

  package init(_ description: String) { self.description = description }
}
