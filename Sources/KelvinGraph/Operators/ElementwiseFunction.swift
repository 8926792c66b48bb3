/// A family of functions, written from its table in `dev/elementwise`. The cases are in the order of their numbers.
package protocol ElementwiseFunction: RawRepresentable<String>, CaseIterable, Hashable, AttributeConvertible {
  /// Formulas in Markdown, or what the names do not say.
  static var meanings: [Self: String] { get }
}

extension ElementwiseFunction {
  package static var attributeType: String { "function" }

  /// The names and meanings of all functions.
  static var entries: [OperatorSummary.Entry] { allCases.map { ($0.rawValue, meanings[$0] ?? "") } }

  /// The function's number in kernels and shaders.
  package var code: UInt32 { UInt32(Self.allCases.prefix { $0 != self }.count) }
}
