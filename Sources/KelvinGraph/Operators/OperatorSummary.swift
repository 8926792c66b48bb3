/// The definition of an operator. `docs/operators.md` is written from it and from the operator's attributes.
package struct OperatorSummary: Sendable {
  /// A name, and its meaning in Markdown.
  package typealias Entry = (name: String, meaning: String)

  /// The result in plain text; a line for each case.
  package let formula: String
  /// Conventions and limits that the formula does not state, in Markdown.
  package let notes: String
  /// The inputs in order, with shapes and types. A name that ends in "…" stands for any number of inputs.
  package let inputs: [Entry]
  package let outputs: [Entry]
  /// The functions that an attribute selects from.
  package let functions: [Entry]

  package init(
    formula: String, notes: String = "", inputs: [Entry] = [], outputs: [Entry], functions: [Entry] = []
  ) {
    self.formula = formula
    self.notes = notes
    self.inputs = inputs
    self.outputs = outputs
    self.functions = functions
  }
}
