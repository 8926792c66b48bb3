import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// The kernels of one instruction set.
struct CPUKernels: KernelFamily {
  let variant: CPUVariant
  let prefersBlocks: Bool

  func offers(for request: KernelRequest) throws(DeviceError) -> [KernelOffer<CPUKernel>] {
    let context = CPUContext(request, variant)
    guard let offers = try cpuKernels.offers(for: request.node.op, context) else {
      throw context.unsupported("operator \(request.node.op.name)")
    }
    let laidOut = offers.filter { $0.findsConstants(context) }
    guard !laidOut.isEmpty else { throw context.unsupported("constant operands in this place") }
    guard prefersBlocks else { return laidOut }
    let blocked = laidOut.filter { $0.layouts.write(0) == .blocks(of: variant.kernels.lanes) }
    return blocked.isEmpty ? laidOut : blocked
  }
}

extension KernelOffer<CPUKernel> {
  /// Whether constant inputs have the layout that the kernel reads: dense, or packed by the kernel.
  fileprivate func findsConstants(_ context: CPUContext) -> Bool {
    context.inputs.indices.allSatisfy { input in
      layouts.read(input) == .dense || !context.isConstant(input)
        || kernel.packs.contains { $0.inputs.contains(input) }
    }
  }
}
