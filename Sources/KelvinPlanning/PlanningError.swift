/// What planning reports: what is wrong, where, why, and the remedy when one is known.
package struct PlanningError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// The document is not JSON, or not of the documented shape.
    case malformed
    /// A name or a pair that must be unique occurs twice.
    case duplicate
    /// A device, node, value or goal that was never declared.
    case unknown
    /// The nodes depend on one another in a circle.
    case cycle
    /// A number that is negative, not finite, or out of range.
    case invalidNumber
    /// More than this planner can hold.
    case limit
    /// No placement satisfies the problem; `node` says where it fails.
    case infeasible
    /// A number that the goal needs and nobody gave.
    case missing
    /// A goal that no policy in the catalog serves.
    case unsupported
    /// A saved plan that belongs to another model, graph or machine.
    case stale
  }

  package let code: Code
  /// What the error is about, as the user named it: `node 'conv_1'`, `transfers[3]`.
  package let subject: String
  package let reason: String
  package let remedy: String?
  /// The id of the node to blame, when there is one. Always present when `code` is `infeasible`
  /// and the problem has nodes.
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
