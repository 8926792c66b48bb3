/// A tensor that outlives a prediction: each reads what the one before it with the same state left.
package struct GraphState: Sendable, Hashable {
  /// The source's name; unique among the states of a graph.
  package var name: String
  /// Defined when a prediction begins, as an input is: zeros in a new state.
  package var read: ValueID
  /// What the state holds afterwards; nil where the graph only reads it.
  package var written: ValueID?

  package init(name: String, read: ValueID, written: ValueID? = nil) {
    self.name = name
    self.read = read
    self.written = written
  }
}
