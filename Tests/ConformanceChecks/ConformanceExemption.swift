package import KelvinConformance
package import KelvinDevices
import KelvinGraph

/// Cases that a kind of device does not run, and the reason it gives. Every case not listed in `all` must agree with
/// the reference. An entry for a case that a device does run is a fault too.
///
/// A case that runs with wrong results must not be listed here: use `withKnownIssue` in the test.
package struct ConformanceExemption: Hashable, Sendable {
  package enum Cases: Hashable, Sendable {
    /// The case of this name.
    case named(String)
    /// Every case with a node of the operator of this name.
    case ofOperator(String)
  }

  package let cases: Cases
  /// The prefix of the devices' ids, before the colon: `vulkan`.
  package let device: String
  /// The kind of the devices; nil for all.
  package let kind: DeviceInfo.Kind?
  /// The exact reason that the device gives.
  package let reason: String

  package init(_ cases: Cases, on device: String, of kind: DeviceInfo.Kind? = nil, _ reason: String) {
    self.cases = cases
    self.device = device
    self.kind = kind
    self.reason = reason
  }

  package func covers(_ testCase: ConformanceCase) -> Bool {
    switch cases {
    case .named(let name): testCase.name == name
    case .ofOperator(let name): testCase.graph.nodes.contains { $0.op.name == name }
    }
  }

  package func covers(_ testCase: ConformanceCase, on info: DeviceInfo) -> Bool {
    info.id.prefix { $0 != ":" } == device && kind ?? info.kind == info.kind && covers(testCase)
  }
}

extension ConformanceOutcome {
  /// Returns why this outcome is a fault, given the exemptions; nil if it is not.
  package func fault(
    of testCase: ConformanceCase, on device: DeviceInfo, exempt: [ConformanceExemption] = ConformanceExemption.all
  ) -> String? {
    let entry = exempt.first { $0.covers(testCase, on: device) }
    switch (self, entry) {
    case (.agrees, nil): return nil
    case (.agrees, let entry?):
      return "'\(testCase)' runs on \(device.id): remove the exemption '\(entry.reason)'"
    case (.differs(let difference), _): return difference
    case (.unsupported(let reason), nil):
      return "'\(testCase)' does not run on \(device.id): \(reason)"
    case (.unsupported(let reason), let entry?):
      return reason == entry.reason
        ? nil : "'\(testCase)' does not run on \(device.id): expected '\(entry.reason)', got '\(reason)'"
    }
  }
}
