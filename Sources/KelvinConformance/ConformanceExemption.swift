package import KelvinDevices
import KelvinGraph

/// Cases that a kind of device does not run, and the reason it gives. Whatever is not listed in `all` must agree with
/// the reference, and an entry that a device has outgrown is a fault as much as a gap that nobody wrote down.
///
/// A case that runs and gives wrong results is no exemption: that is a `withKnownIssue` in the test.
package struct ConformanceExemption: Hashable, Sendable {
  package enum Cases: Hashable, Sendable {
    /// The case of this name.
    case named(String)
    /// Every case with a node of the operator of this name.
    case ofOperator(String)
  }

  package let cases: Cases
  /// What the ids of such devices begin with, before the colon: `vulkan`.
  package let device: String
  /// Of which kind they are; nil for all.
  package let kind: DeviceInfo.Kind?
  /// The device's own answer, word for word.
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
  /// What is wrong with this outcome, in view of what is listed; nil where nothing is.
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
