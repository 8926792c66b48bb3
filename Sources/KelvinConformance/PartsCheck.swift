package import KelvinDevices
import KelvinGraph

/// What is wrong with a device whose kernels see fewer elements of a tensor than cases have: where it disagrees with the
/// reference, where what it does not run is neither exempt nor told by the limit, and which of the operators that can be
/// computed in parts it never computed so.
package func partsFaults(of device: any KernelDevice, reference: any Device) throws(DeviceError) -> [String] {
  var faults: [String] = []
  var computed: Set<String> = []
  for testCase in ConformanceCase.manyElements {
    let outcome = try checkConformance(of: device, on: testCase, reference: reference)
    if case .unsupported(let reason) = outcome, reason.contains("is larger than") { continue }
    if let fault = outcome.fault(of: testCase, on: device.info) { faults.append(fault) }
    let names = device.kernelFamily.expanded(testCase.graph).graph.nodes.map(\.name)
    // The join may be in parts itself.
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
