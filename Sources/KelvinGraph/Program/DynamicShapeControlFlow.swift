/// A branch or loop that cannot be a node of a graph for the given sizes: its sides have results of different sizes,
/// its iterations change sizes, or the number of accumulated rows is unbounded. The host may be able to execute it
/// (`Function.runningOnHost(_:)`).
package struct DynamicShapeControlFlow: Error, CustomStringConvertible {
  /// The name by which the format identifies the control flow, readable if possible.
  package let name: String
  /// The error to report if the host cannot execute it.
  package let error: any Error

  package init(_ name: String, _ error: any Error) {
    self.name = name
    self.error = error
  }

  package var description: String { "\(error)" }

  /// A name that stands for all control flow.
  package static let every = "*"
}

extension Function {
  /// Returns the function in which the host executes the given branch or loop, in addition to the present ones. It
  /// keeps the current features.
  ///
  /// - Throws: The error of the control flow if the format cannot execute it on the host.
  package func runningOnHost(_ flow: DynamicShapeControlFlow) throws -> Function {
    guard !hostControlFlow.contains(flow.name), !hostControlFlow.contains(DynamicShapeControlFlow.every),
      let runningOnHost
    else { throw flow.error }
    let names = hostControlFlow.union([
      hostControlFlow.count < Self.hostControlFlowLimit ? flow.name : DynamicShapeControlFlow.every
    ])
    var function = try runningOnHost(names)
    (function.hostControlFlow, function.inputs, function.outputs) = (names, inputs, outputs)
    return function
  }

  /// The greatest number of separately named control flow. Each costs a failed attempt to build a graph; beyond the
  /// limit, the host executes all control flow.
  private static let hostControlFlowLimit = 12

  /// Calls a closure with the function. If it throws `DynamicShapeControlFlow`, calls it again with the function in
  /// which the host executes that branch or loop.
  ///
  /// - Throws: Other errors of `body`, and the error of control flow that the host cannot execute.
  package func settled<Result>(_ body: (Function) throws -> Result) throws -> Result {
    var function = self
    while true {
      do { return try body(function) } catch let flow as DynamicShapeControlFlow {
        function = try function.runningOnHost(flow)
      }
    }
  }
}
