package import KelvinBasics
package import KelvinDevices

/// An error in planning, preparing or running a model.
package enum RuntimeError: Error, Sendable, CustomStringConvertible {
  /// A named device does not exist.
  case unknownDevice(String, available: [String])
  /// A named device is known but absent.
  case deviceAbsent(String, reason: String)
  /// Nodes that none of the allowed devices supports, and advice; empty if there is none.
  case unplaceable([UnplaceableNode], remedy: String)
  /// A pin, an exclusion or another choice does not fit the model or the machine.
  case invalidChoice(String)
  /// A plan does not fit the model or the machine.
  case invalidPlan(String)
  /// An input is missing, unknown, or not of the model's type.
  case invalidInput(name: String, reason: String)
  case cancelled
  case device(DeviceError)
  /// A file of the model has changed since it was opened.
  case file(FileError)

  package struct UnplaceableNode: Hashable, Sendable {
    package let name: String
    package let op: String
    /// The reason by device, in the order of the devices.
    package let reasons: [String]
  }

  package var description: String {
    switch self {
    case .unknownDevice(let id, let available):
      "no device is called '\(id)'; there are \(available.joined(separator: ", ")) ('kelvin devices' shows them)"
    case .deviceAbsent(let id, let reason): "device '\(id)' is absent: \(reason)"
    case .unplaceable(let nodes, let remedy): Self.describe(nodes) + (remedy.isEmpty ? "" : "; \(remedy)")
    case .invalidChoice(let reason), .invalidPlan(let reason): reason
    case .invalidInput(let name, let reason): "input '\(name)': \(reason)"
    case .cancelled: "cancelled"
    case .device(let error): error.description
    case .file(let error): error.description
    }
  }

  private static func describe(_ nodes: [UnplaceableNode]) -> String {
    let shown = nodes.prefix(5).map { "\($0.op) '\($0.name)' (\($0.reasons.joined(separator: "; ")))" }
    let rest = nodes.count > 5 ? ", and \(nodes.count - 5) more" : ""
    return "\(nodes.count == 1 ? "1 node has" : "\(nodes.count) nodes have") no device: "
      + shown.joined(separator: ", ") + rest
  }
}
