/// An error of planning: its subject, the reason, and the remedy if one is known.
package struct PlanningError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// The document is not JSON or does not have the documented structure.
    case malformed
    /// A name or a pair that must be unique occurs twice.
    case duplicate
    /// A device, node, value or goal that is not declared.
    case unknown
    /// The nodes form a dependency cycle.
    case cycle
    /// A number that is negative, not finite, or out of range.
    case invalidNumber
    /// The problem exceeds a limit of the planner.
    case limit
    /// No placement satisfies the problem; `node` names the node that cannot be placed.
    case infeasible
    /// A number that the goal requires is missing.
    case missing
    /// A goal that no policy in the catalog serves.
    case unsupported
    /// A saved plan of another model, graph or machine.
    case stale
  }

  package let code: Code
  /// The subject of the error as the user named it: `node 'conv_1'`, `transfers[3]`.
  package let subject: String
  package let reason: String
  package let remedy: String?
  /// The id of the node that causes the error, if there is one. Always present when `code` is `infeasible` and the
  /// problem has nodes.
  package let node: String?

  package init(
    _ code: Code, _ subject: String, _ reason: String, remedy: String? = nil, node: String? = nil
  ) {
    self.code = code
    self.subject = subject
    self.reason = reason
    self.remedy = remedy
    self.node = node
  }

  package var description: String {
    "\(subject): \(reason)" + (remedy.map { "; \($0)" } ?? "")
  }

  static func infeasible(node: String, _ reason: String, remedy: String? = nil) -> PlanningError {
    PlanningError(.infeasible, "node '\(node)'", reason, remedy: remedy, node: node)
  }
}
