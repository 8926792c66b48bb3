package import KelvinDevices
package import KelvinReport

extension ReportDevice {
  /// Describes a device as reports show it.
  package init(_ info: DeviceInfo) {
    self.init(
      id: info.id, name: info.name, kind: info.kind == .software ? "software driver on the CPU" : info.kind.rawValue,
      driver: [info.driver, info.version].filter { !$0.isEmpty }.joined(separator: " "))
  }
}
