import Glibc
package import KelvinDevices
package import KelvinGraph

/// The definition that every other device is held to: obvious Swift that computes each node in float64 and rounds its
/// results once to the graph's type.
///
/// It supports every operator of the catalog for every element type (integers beyond 2^53 lose precision), so a graph
/// always has one device that runs it.
package final class ReferenceDevice: KernelDevice {
  package let info: DeviceInfo

  package init() {
    info = DeviceInfo(
      id: "reference", name: "Kelvin reference", kind: .reference, driver: "Swift, float64", version: "1",
      memory: Int(sysconf(Int32(_SC_PHYS_PAGES))) * Int(sysconf(Int32(_SC_PAGESIZE))), resource: "cpu")
  }

  /// Fused nodes are defined by their bodies.
  package func checkKernel(for node: Node, in graph: Graph) throws(DeviceError) {
    guard referenceKernels.contains(node.op), node.body == nil else {
      throw DeviceError(
        .unsupported, device: info.id, place: node.name, reason: "no \(node.op.name) kernel in the reference device")
    }
  }

  package func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    ReferenceExecutable(expanded(segment.graph))
  }

  package func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer { HostBuffer(byteCount: byteCount) }
}

/// What a kernel is given: the inputs as float64, and the types of inputs and outputs.
struct ReferenceInputs {
  let types: [TensorType]
  let outputs: [TensorType]
  let values: [[Double]]

  func shape(_ index: Int) -> Shape { types[index].shape }

  /// The epilogue's part of a fused operator: its bias and residual, found after the operator's own inputs.
  func bias(_ epilogue: Epilogue) -> [Double]? { epilogue.hasBias ? values[2] : nil }
}

/// Evaluates operators one at a time.
package struct ReferenceEvaluator: ConstantEvaluator {
  package init() {}

  package func evaluate(_ op: any Operator, _ inputs: [Tensor]) throws(GraphError) -> [Tensor] {
    let outputs: [TensorType]
    do { outputs = try op.infer(inputs.map(\.type)) } catch { throw GraphError(op.name, error.description) }
    let context = ReferenceInputs(types: inputs.map(\.type), outputs: outputs, values: inputs.map(\.doubles))
    do {
      guard let results = try referenceKernels.kernel(for: op, context) else {
        throw GraphError(op.name, "the reference device has no kernel for it")
      }
      return zip(outputs, results).map { Tensor($0, rounding: $1) }
    } catch let error as GraphError {
      throw error
    } catch {
      throw GraphError(op.name, "\(error)")
    }
  }
}
