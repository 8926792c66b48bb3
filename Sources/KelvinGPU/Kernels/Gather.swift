internal import KelvinDevices
internal import KelvinGraph

/// `y[o, j, i] = x[o, indices[j], i]` of a dense tensor `[outer, extent, inner]`.
private struct GatherPlan {
  let outer, extent, inner, count: Int
  let scalar, index: ScalarType

  init(_ op: Gather, _ x: TensorType, _ indices: TensorType) {
    let lines = ReductionRows(x.shape, axis: op.axis)
    (outer, extent, inner) = (lines.outer, lines.length, lines.inner)
    count = indices.count
    (scalar, index) = (x.scalar, indices.scalar)
  }

  var kernel: GPUKernel {
    GPUKernel(
      "gather", [.moved(scalar), .index(index)], reads: [.elements, .indices], Parameters(extent, count),
      rows: outer * count, of: inner)
  }

  /// The kernel that unpacks quantized slices.
  func kernel(of codes: QuantizedOperand) -> GPUKernel {
    GPUKernel(
      "gather_codes", [.index(index)], reads: [.words, .indices],
      Parameters(
        extent, codes.bits, codes.meaning, codes.rowStart, codes.rowWords, codes.rows, inner / codes.rows,
        codes.lastTable
      ).floats(codes.zero), rows: count, of: inner)
  }
}

extension KernelTable {
  mutating func addGather<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Gather.self) { op, context throws(DeviceError) in
      let plan = GatherPlan(op, context.inputs[0], context.inputs[1])
      if let place = context.onlySlice(of: plan) {
        let node = context.node
        let view = NodeLowering<Target>(takesAnySize: true) { lowering throws(DeviceError) in
          try lowering.view(node.inputs[0], from: place * plan.inner, as: node.outputs[0])
        }
        return [KernelOffer(view)]
      }
      let plain = context.dense(plan.kernel)
      // For float16, unpacked numbers are rounded as they are stored.
      guard op.axis == 0, context.inputs[0].shape.rank > 1, context.keepsQuantized(of: 0),
        plan.scalar == .float32 || context.target.isHalf(plan.scalar)
      else { return [KernelOffer(plain)] }
      let node = context.node
      let unpacking = NodeLowering<Target> { lowering throws(DeviceError) in
        guard let codes = try lowering.sliceQuantizedWeight() else { return try plain.lower(lowering) }
        let indices = try lowering.read(node.inputs[1], .dense)
        lowering.run(
          plan.kernel(of: codes), [codes.storage, indices], lowering.write(node.outputs[0], .dense))
      }
      return [
        KernelOffer(unpacking, "codes"), KernelOffer(plain, extraCost: Double(context.inputs[0].count)),
      ]
    }
  }
}

extension KernelContext {
  /// The index of the only slice that is gathered, if it is constant and the slice is contiguous; nil otherwise, and if
  /// the index is out of range.
  fileprivate func onlySlice(of plan: GatherPlan) -> Int? {
    guard plan.outer == 1, plan.count == 1, plan.inner > 0, !isConstant(0),
      let index = request.graph[node.inputs[1]].weight?.dense().integers.first
    else { return nil }
    let place = index < 0 ? index + plan.extent : index
    return (0..<plan.extent).contains(place) ? place : nil
  }
}
