import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addUnary() {
    addOffers(Unary.self) { (op, context) throws(DeviceError) in
      let count = context.outputs[0].count
      if try context.usesIntegers() { return [KernelOffer(try integerUnary(op.function, context, count: count))] }
      let kernel = unary(op.function, context, count: count)
      var offers = [KernelOffer(kernel)]
      if let blocks = context.blocks {
        let kernel = unary(op.function, context, count: context.blockedCount(context.outputs[0].shape))
        offers.append(KernelOffer(kernel, "blocks", KernelLayouts(reads: [blocks], writes: [blocks])))
      }
      if context.hasRows {
        offers.append(KernelOffer(kernel, "rows", KernelLayouts(reads: [.rows], writes: [.rows])))
      }
      return offers
    }
  }
}

private func unary(_ function: UnaryFunction, _ context: CPUContext, count: Int) -> CPUKernel {
  let map = context.variant.map(function)
  let run = context.variant.kernels.unary
  var kernel = CPUKernel { operands, list in
    let arguments = ck_unary_args(
      x: operands.floats(0), y: operands.result(), count: count, map: map, a: function.a, b: function.b)
    list.addStrips(run, arguments, count, cost: Int(function.operations))
  }
  kernel.strips = ElementChains.Strips(count, [4, 4])
  return kernel
}

private func integerUnary(
  _ function: UnaryFunction, _ context: CPUContext, count: Int
) throws(DeviceError) -> CPUKernel {
  let scalar = context.inputs[0].scalar
  guard function.kind.keepsIntegers || function.kind == .affine else {
    throw context.unsupported("\(function) in \(scalar.rawValue) arithmetic")
  }
  var kernel = CPUKernel { operands, list in
    let arguments = ck_int_unary_args(
      x: operands.inputs[0], y: operands.outputs[0], type: scalar.innerCode, function: Int(function.code), count: count,
      lower: Int64(Int(saturating: Double(function.a))), upper: Int64(Int(saturating: Double(function.b))),
      a: Double(function.a), b: Double(function.b))
    list.addStrips(ck_int_unary_run, arguments, count, cost: 2)
  }
  kernel.strips = ElementChains.Strips(count, [scalar.byteCount, scalar.byteCount])
  return kernel
}

extension CPUVariant {
  /// Returns the kernel of an element-wise function.
  func map(_ function: UnaryFunction) -> ck_map? {
    var kernels = kernels
    return withUnsafeBytes(of: &kernels.maps) { $0.bindMemory(to: ck_map?.self)[Int(function.code)] }
  }
}
