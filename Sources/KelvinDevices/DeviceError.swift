/// A device could not do what it was asked.
package struct DeviceError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    case unavailable, outOfMemory, lost, hung, compilation, unsupported, execution, cancelled
  }

  package let code: Code
  /// The device's id.
  package let device: String
  /// The node, buffer or call concerned.
  package let place: String
  /// What happened, expected against got, and the remedy where one is known.
  package let reason: String
  /// For `.outOfMemory`: what was asked for, where that is known.
  package let byteCount: Int?
  /// For `.compilation`: the nodes whose code the device's compiler does not take, where these are known. It may take
  /// others.
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

  /// Whether the device is out for all who use it.
  package var takesDeviceOut: Bool { code == .lost || code == .hung }

  /// Whether the same work may go well on another device.
  package var isOfDevice: Bool { takesDeviceOut || code == .outOfMemory }

  /// Whether other devices may do what this one failed at.
  package var canBeDoneElsewhere: Bool { isOfDevice || !nodes.isEmpty }

  /// The same where it is about code that these nodes need.
  package func compiling(_ nodes: some Sequence<String>) -> DeviceError {
    guard code == .compilation else { return self }
    return DeviceError(code, device: device, place: place, reason: reason, nodes: Set(nodes).sorted())
  }

  /// A node was given an index outside the axis that it counts along.
  package static func index(_ index: Int, outside length: Int, device: String, node: String) -> DeviceError {
    DeviceError(
      .execution, device: device, place: node,
      reason: "index \(index) lies outside an axis of \(length) elements, expected \(-length) to \(length - 1)")
  }

  package var description: String { "\(device): \(place): \(reason)" }
}
