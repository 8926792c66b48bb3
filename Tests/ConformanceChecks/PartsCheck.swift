import KelvinConformance
package import KelvinDevices
import KelvinGraph

/// Returns the faults of a device whose kernels support fewer elements of a tensor than cases have. These are results
/// that differ from the reference, unsupported cases without an exemption or the limit as reason, and divisible
/// operators that were never computed in parts.
package func partsFaults(of device: any KernelDevice, reference: any Device) throws(DeviceError) -> [String] {
  var faults: [String] = []
  var computed: Set<String> = []
  for testCase in ConformanceCase.manyElements {
    let outcome = try checkConformance(of: device, on: testCase, reference: reference)
    if case .unsupported(let reason) = outcome, reason.contains("is larger than") { continue }
    if let fault = outcome.fault(of: testCase, on: device.info) { faults.append(fault) }
    let names = device.kernelFamily.expanded(testCase.graph).graph.nodes.map(\.name)
    // The join itself may be computed in parts.
    for node in testCase.graph.nodes where names.contains(where: { $0.hasPrefix("\(node.name)/\(Node.joinedName)") }) {
      computed.insert(node.op.name)
    }
  }
  let missing = inParts.subtracting(computed).sorted()
  return faults + (missing.isEmpty ? [] : ["never computed in parts: \(missing.joined(separator: ", "))"])
}

private let inParts: Set = [
  "batch_normalization", "binary", "cast", "compare", "concat", "convolution", "convolution_transpose", "expand",
  "gather",
  "layer_normalization", "linear", "matmul", "pool", "reduce", "select", "slice", "softmax", "transpose", "unary",
]
