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
    guard prefersBlocks else { return offers }
    let blocked = offers.filter { $0.layouts.write(0) == .blocks(of: variant.kernels.lanes) }
    return blocked.isEmpty ? offers : blocked
  }
}
