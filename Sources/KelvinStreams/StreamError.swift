/// A stream that cannot be: plans, options or numbers that mean nothing.
package struct StreamError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, what was expected and what was given.
  package let description: String

  package init(_ description: String) { self.description = description }
}
