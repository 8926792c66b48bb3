import KelvinBasics
package import KelvinDevices
import KelvinGraph

/// The answers of each device for each operator's conformance cases.
package struct OperatorCoverage {
  package struct Row: Encodable {
    package var `operator`: String
    /// The answers by device id.
    package var devices: [String: Answer]
  }

  package struct Answer: Encodable {
    package enum Status: String, Encodable { case supported, partly, unsupported }

    package var status: Status
    package var supported: Int
    package var cases: Int
    /// The distinct reasons for unsupported cases.
    package var reasons: [String]
  }

  private let devices: [DeviceInfo]
  package let rows: [Row]

  package init(_ devices: [any Device]) {
    self.devices = devices.map(\.info)
    let cases = Dictionary(grouping: ConformanceCase.all) { $0.graph.nodes.first?.op.name ?? "" }
    rows = operatorCatalog.map { type in
      let own = cases[type.name] ?? []
      let answers = devices.map { ($0.info.id, Self.answer($0, own)) }
      return Row(operator: type.name, devices: Dictionary(uniqueKeysWithValues: answers))
    }
  }

  private static func answer(_ device: any Device, _ cases: [ConformanceCase]) -> Answer {
    var reasons: [String] = []
    var supported = 0
    for testCase in cases {
      let answers = testCase.graph.nodes.map { device.support(for: $0, in: testCase.graph, precision: .full) }
      if answers.allSatisfy(\.isSupported) { supported += 1 }
      for case .unsupported(let reason) in answers where !reasons.contains(reason) { reasons.append(reason) }
    }
    let status: Answer.Status = supported == 0 ? .unsupported : supported == cases.count ? .supported : .partly
    return Answer(status: status, supported: supported, cases: cases.count, reasons: reasons)
  }

  package func text(width: Int, isVerbose: Bool) -> String {
    var table = TextTable([TextTable.Column("OPERATOR")] + devices.map { TextTable.Column($0.id, shrinksTo: 6) })
    for row in rows {
      var remarks: [String] = []
      for device in devices {
        guard let answer = row.devices[device.id], !answer.reasons.isEmpty else { continue }
        remarks.append("\(device.id): \(answer.reasons.joined(separator: "; "))")
      }
      table.add([row.operator] + devices.map { Self.cell(row.devices[$0.id]) }, remarks: isVerbose ? remarks : [])
    }
    let hasGaps = rows.contains { $0.devices.values.contains { !$0.reasons.isEmpty } }
    return table.text(width: width)
      + (hasGaps && !isVerbose ? "\n\n--verbose lists unsupported cases with the reason." : "")
  }

  /// Returns the documentation page. It has one column for each kind of device, so that it does not depend on the
  /// number of devices.
  package func markdown() -> String {
    let columns = [("reference", "Reference"), ("cpu", "CPU"), ("vulkan", "Vulkan"), ("opencl", "OpenCL")].compactMap {
      (family, name) in devices.first { $0.id.prefix { $0 != ":" } == family }.map { (name: name, id: $0.id) }
    }
    var lines = [
      "# Operators", "",
      "This page states what each operator computes, and which devices run it, by the devices' answers about every",
      "conformance case. It is written by `kelvin operators --markdown`; a test compares it with the devices' answers",
      "(llvmpipe for Vulkan, PoCL for OpenCL).", "",
    ]
    lines += Self.table(
      ["operator"] + columns.map(\.name),
      rows.map { row in ["[`\(row.operator)`](#\(row.operator))"] + columns.map { Self.cell(row.devices[$0.id]) } })
    for (type, row) in zip(operatorCatalog, rows) {
      lines += type.section
      let gaps = columns.flatMap { column -> [String] in
        guard let answer = row.devices[column.id] else { return [] }
        return answer.reasons.sorted().map { "- not on \(column.name): \($0)" }
      }
      if !gaps.isEmpty { lines += [""] + gaps }
    }
    lines += ["", "## Control flow", "", "The host executes these operators; devices run the nodes of their regions."]
    for type in controlOperatorCatalog { lines += type.section.map { $0.hasPrefix("## ") ? "#\($0)" : $0 } }
    return (lines + ["", "## Host times", "", Self.hostTimes]).joined(separator: "\n")
  }

  private static let hostTimes = """
    The host runs some operators for the GPU devices by design. Their times on two cores of an AMD EPYC (`kelvin
    profile --units cpu`, random inputs): suppression of 1,917 boxes of 90 classes 2.3 ms, `non_zero` of 172,530
    elements 1.1 ms, `unique` of as many elements 31 ms, `recurrence` of an LSTM of 256 units over 128 steps 1.7 ms
    or 14 µs per step. One submission of a small kernel took 93 µs on llvmpipe and 67 µs on PoCL. The times of these
    operators on these devices were not measured.
    """

  private static func cell(_ answer: Answer?) -> String {
    switch answer?.status {
    case .supported: "yes"
    case .partly: "\(answer?.supported ?? 0) of \(answer?.cases ?? 0)"
    case .unsupported, nil: "no"
    }
  }

  /// Returns the lines of a Markdown table.
  fileprivate static func table(_ head: [String], _ rows: [[String]]) -> [String] {
    func line(_ cells: [String]) -> String {
      "| \(cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |"
    }
    return [line(head), line(head.map { _ in "---" })] + rows.map(line)
  }
}

extension Operator {
  /// The lines of the operator's section: formula, inputs, outputs, attributes and functions.
  fileprivate static var section: [String] {
    var lines = ["", "## `\(name)`", "", "```text", summary.formula, "```", ""]
    if !summary.notes.isEmpty { lines += [summary.notes, ""] }
    lines += summary.inputs.map { "- input \($0.name): \($0.meaning)" }
    lines += summary.outputs.map { "- output \($0.name): \($0.meaning)" }
    let attributes = schema.rows
    if !attributes.isEmpty {
      lines.append("")
      lines += OperatorCoverage.table(
        ["attribute", "type", "default", "meaning"],
        attributes.map { ["`\($0.name)`", $0.type, $0.default ?? "required", $0.meaning] })
    }
    if !summary.functions.isEmpty {
      lines.append("")
      lines += OperatorCoverage.table(
        ["function", "meaning"], summary.functions.map { ["`\($0.name)`", $0.meaning] })
    }
    return lines
  }
}
