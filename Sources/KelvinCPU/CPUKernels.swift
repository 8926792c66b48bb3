import KelvinDevices
import KelvinGraph

/// The kernels of one instruction set.
struct CPUKernels: KernelFamily {
  let variant: CPUVariant

  func offers(for request: KernelRequest) throws(DeviceError) -> [KernelOffer<CPUKernel>] {
    let context = CPUContext(request, variant)
    guard let offers = try cpuKernels.offers(for: request.node.op, context) else {
      throw context.unsupported("operator \(request.node.op.name)")
    }
    return offers
  }
}
