import Glibc
package import KelvinDevices
package import KelvinGraph

/// The device that defines correct results: simple Swift code that computes each node in float64 and rounds its
/// results once to the graph's type.
///
/// Integers are computed in wrapping 64-bit arithmetic (`IntegerOperator`), except in a few operators that sort or
/// scale them. The device supports every operator of the catalog for every element type, so every graph can run on at
/// least one device.
package final class ReferenceDevice: KernelDevice {
  package let info: DeviceInfo
  package let health = DeviceHealth()

  package init() {
    info = DeviceInfo(
      id: "reference", name: "Kelvin reference", kind: .reference, driver: "Swift, float64", version: "1",
      memory: Int(sysconf(Int32(_SC_PHYS_PAGES))) * Int(sysconf(Int32(_SC_PAGESIZE))), resource: "cpu")
  }

  package var kernelFamily: any KernelFamily { ReferenceKernels() }

  package func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    ReferenceExecutable(ReferenceKernels().expanded(segment.graph))
  }

  package func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer {
    try HostBuffer(byteCount: byteCount, for: info.id)
  }
}

/// The kernels of every operator of the catalog; fused nodes are defined by their bodies.
private struct ReferenceKernels: KernelFamily {
  func offers(for request: KernelRequest) throws(DeviceError) -> [KernelOffer<Void>] {
    let node = request.node
    guard referenceKernels.contains(node.op), node.body == nil else {
      throw DeviceError(
        .unsupported, device: "reference", place: node.name, reason: "no \(node.op.name) kernel in the reference device"
      )
    }
    return [KernelOffer(())]
  }
}

/// Evaluates operators one at a time.
package struct ReferenceEvaluator: ConstantEvaluator {
  package init() {}

  package func evaluate(_ op: any Operator, _ inputs: [Tensor]) throws(GraphError) -> [Tensor] {
    let outputs: [TensorType]
    do { outputs = try op.infer(inputs.map(\.type)) } catch { throw GraphError(op.name, error.description) }
    let operands = inputs.map { ReferenceOperand($0) }
    do {
      return try referenceResults(of: op, operands, outputs, node: op.name)
    } catch {
      throw GraphError(op.name, error.reason)
    }
  }
}

/// A tensor with its elements converted to float64 once, for all kernels that read it.
struct ReferenceOperand {
  let tensor: Tensor
  let doubles: [Double]

  init(_ tensor: Tensor) {
    self.tensor = tensor
    doubles = tensor.doubles
  }
}

/// Computes one node.
///
/// - Parameter run: the number of earlier runs.
/// - Throws: `DeviceError` naming the node if an index is outside its axis, or if the operator has no kernel.
func referenceResults(
  of op: any Operator, _ inputs: [ReferenceOperand], _ outputs: [TensorType], node: String, run: Int = 0
) throws(DeviceError) -> [Tensor] {
  if let op = op as? any IntegerOperator, let output = outputs.first,
    let result = try op.integers(inputs.map(\.tensor), output, node: node)
  {
    return [result]
  }
  if let op = op as? Cast { return [inputs[0].tensor.converted(to: op.scalar)] }
  let context = ReferenceInputs(
    node: node, types: inputs.map(\.tensor.type), outputs: outputs, values: inputs.map(\.doubles), run: run)
  guard let results = try referenceKernels.kernel(for: op, context) else {
    throw DeviceError(.unsupported, device: "reference", place: node, reason: "no \(op.name) kernel")
  }
  return zip(outputs, results).map { Tensor($0, rounding: $1) }
}
