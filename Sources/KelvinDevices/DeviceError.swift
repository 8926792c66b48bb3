/// An error of a device.
package struct DeviceError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    case unavailable, outOfMemory, lost, hung, compilation, unsupported, execution, cancelled
    /// The device computes wrong results.
    case wrong
  }

  package let code: Code
  /// The device's id.
  package let device: String
  /// The node, buffer or call concerned.
  package let place: String
  /// The problem, with expected and actual values, and the remedy if one is known.
  package let reason: String
  /// For `.outOfMemory`, the requested bytes, if known.
  package let byteCount: Int?
  /// For `.compilation`, the nodes that the device's compiler rejects, if known. It may accept others.
  package let nodes: [String]

  package init(
    _ code: Code, device: String, place: String, reason: String, byteCount: Int? = nil,
    nodes: [String] = []
  ) {
    self.nodes = nodes
    self.byteCount = byteCount
    self.code = code
    self.device = device
    self.place = place
    self.reason = reason
  }

  /// Whether the device has failed for all its users.
  package var takesDeviceOut: Bool { code == .lost || code == .hung || code == .wrong }

  /// Whether the failure concerns the device, so that the same work may succeed on another one.
  package var isOfDevice: Bool { takesDeviceOut || code == .outOfMemory }

  /// Whether other devices may repeat the failed work.
  package var canBeDoneElsewhere: Bool { isOfDevice || !nodes.isEmpty }

  /// Returns the same error, attributed to these nodes if it is a compilation error.
  package func compiling(_ nodes: some Sequence<String>) -> DeviceError {
    guard code == .compilation else { return self }
    return DeviceError(code, device: device, place: place, reason: reason, nodes: Set(nodes).sorted())
  }

  /// Returns the error for an index outside the axis that it selects from.
  package static func index(_ index: Int, outside length: Int, device: String, node: String) -> DeviceError {
    DeviceError(
      .execution, device: device, place: node,
      reason: "index \(index) is outside an axis of \(length) elements, expected \(-length) to \(length - 1)")
  }

  package var description: String { "\(device): \(place): \(reason)" }
}
