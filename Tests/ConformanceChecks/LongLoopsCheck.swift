package import KelvinConformance
package import KelvinDevices
import KelvinGraph

extension ConformanceCase {
  /// Results computed from more elements than some drivers allow a loop to have iterations.
  package static let longLoops: [ConformanceCase] = [
    node("of many elements", Reduce(.sum, axes: [1], keepsDimensions: true), .input([2, 70_001])),
    node("of large planes", Reduce(.mean, axes: [2, 3], keepsDimensions: true), .input([1, 2, 300, 300])),
    node("of many elements", Reduce(.logSumExp, axes: [1], keepsDimensions: true), .input([2, 40_000])),
    node("of many elements", ArgReduce(.maximum, axis: 1, keepsDimensions: true), .input([2, 90_000])),
    node("of many elements", Softmax(axis: 1), .input([2, 30_000])),
    node("of many elements", CumulativeReduce(.sum, axis: 1), .input([2, 70_000])),
    node("of a large window", Pool(.maximum, window: Window(kernel: [260, 260])), .input([1, 2, 260, 261])),
    node("of great depth", MatMul(), .input([1, 300_000]), .weight([300_000, 1])),
    node(
      "of great depth", Linear(epilogue: Epilogue(activation: UnaryFunction(.leakyRelu, a: 0.5))),
      .input([8, 262_124]), .weight([16, 262_124])),
    node("of many elements", LayerNormalization(axis: 1, epsilon: 1e-5), .input([1, 80_000])),
    node(
      "of many keys",
      Attention(
        batch: 1, heads: 1, queries: 2, keys: 40_000, width: 64, valueWidth: 64, scale: 0.1, query: [0, 0, 0, 64, 1],
        key: [0, 0, 0, 64, 1], value: [0, 0, 0, 64, 1], shape: [2, 64], result: [0, 0, 64]), .input([2, 64]),
      .input([40_000, 64]), .input([40_000, 64])),
  ]
}

/// Returns the faults of a device with limited loop iterations. Each case must either agree with the reference, or be
/// rejected because of the limit.
package func longLoopFaults(of device: any Device, reference: any Device) throws(DeviceError) -> [String] {
  var faults: [String] = []
  for testCase in ConformanceCase.longLoops {
    let outcome = try checkConformance(of: device, on: testCase, reference: reference)
    let limits = ["iterations of a kernel's loops", "maxTexelBufferElements"]
    if case .unsupported(let reason) = outcome, limits.contains(where: { reason.contains($0) }) { continue }
    if let fault = outcome.fault(of: testCase, on: device.info) { faults.append(fault) }
  }
  return faults
}
