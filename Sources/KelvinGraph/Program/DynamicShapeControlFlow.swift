/// A branch or loop that is no node of a graph for the sizes that the graph is built for: its sides give others than each
/// other, its trips change them, or nothing bounds what it accumulates. Walked it may run (`Function.runningOnHost(_:)`).
package struct DynamicShapeControlFlow: Error, CustomStringConvertible {
  /// By what the format knows it again, for people as well as can be.
  package let name: String
  /// What is wrong where it cannot be walked.
  package let error: any Error

  package init(_ name: String, _ error: any Error) {
    self.name = name
    self.error = error
  }

  package var description: String { "\(error)" }

  /// Stands among the names of what is walked for all control flow.
  package static let every = "*"
}

extension Function {
  /// The same function with a branch or loop walked, besides those that this one walks. Its features are this one's,
  /// whatever was made of them.
  ///
  /// - Throws: the flow's own error where the format does not walk it.
  package func runningOnHost(_ flow: DynamicShapeControlFlow) throws -> Function {
    guard !hostControlFlow.contains(flow.name), !hostControlFlow.contains(DynamicShapeControlFlow.every), let runningOnHost else { throw flow.error }
    let names = hostControlFlow.union([hostControlFlow.count < Self.hostControlFlowLimit ? flow.name : DynamicShapeControlFlow.every])
    var function = try runningOnHost(names)
    (function.hostControlFlow, function.inputs, function.outputs) = (names, inputs, outputs)
    return function
  }

  /// Each is found by building a graph in vain: a model with more of them has all of its control flow walked.
  private static let hostControlFlowLimit = 12

  /// Does something with the function that builds its graphs, and does it again with each branch or loop walked that
  /// turns out to be uneven.
  ///
  /// - Throws: what `body` throws besides; the error of a flow that cannot be walked.
  package func settled<Result>(_ body: (Function) throws -> Result) throws -> Result {
    var function = self
    while true {
      do { return try body(function) } catch let flow as DynamicShapeControlFlow { function = try function.runningOnHost(flow) }
    }
  }
}
