/// A tensor that persists between predictions: each prediction reads the value that the previous one with the same
/// state wrote.
package struct GraphState: Sendable, Hashable {
  /// The source's name; unique among the states of a graph.
  package var name: String
  /// The value at the start of a prediction, defined like an input; zeros in a new state.
  package var read: ValueID
  /// The value at the end of a prediction; nil if the graph only reads the state.
  package var written: ValueID?

  package init(name: String, read: ValueID, written: ValueID? = nil) {
    self.name = name
    self.read = read
    self.written = written
  }
}
