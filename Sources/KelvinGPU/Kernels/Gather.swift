internal import KelvinDevices
package import KelvinGraph

/// `y[o, j, i] = x[o, indices[j], i]` of a dense tensor `[outer, extent, inner]`.
package struct GatherPlan: Sendable {
  package let outer: Int
  package let extent: Int
  package let inner: Int
  package let count: Int
  package let scalar: ScalarType
  package let index: ScalarType

  fileprivate init(_ op: Gather, _ x: TensorType, _ indices: TensorType) {
    let lines = ReductionRows(x.shape, axis: op.axis)
    (outer, extent, inner) = (lines.outer, lines.length, lines.inner)
    count = indices.count
    (scalar, index) = (x.scalar, indices.scalar)
  }

  /// The parameters as the kernel that unpacks quantized slices declares them (`Shaders/shared/gather_codes.kernel`).
  package func parameters(of codes: QuantizedOperand) -> Parameters {
    let rowWidth = inner / codes.rows
    return Parameters(
      count * inner, extent, inner, codes.bits, codes.meaning, codes.rowStart, codes.rowWords, codes.rows, rowWidth
    ).inverses(inner, rowWidth).floats(codes.zero)
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
      let plain = context.dense(context.target.gather(plan))
      // For float16, unpacked numbers are rounded as they are stored.
      guard op.axis == 0, context.inputs[0].shape.rank > 1, context.keepsQuantized(of: 0),
        plan.scalar == .float32 || context.target.isHalf(plan.scalar)
      else { return [KernelOffer(plain)] }
      let node = context.node
      let unpacking = NodeLowering<Target> { lowering throws(DeviceError) in
        guard let codes = try lowering.sliceQuantizedWeight() else { return try plain.lower(lowering) }
        let indices = try lowering.read(node.inputs[1], .dense)
        lowering.run(
          lowering.target.gather(plan, of: codes), [codes.storage, indices], lowering.write(node.outputs[0], .dense))
      }
      return [
        KernelOffer(unpacking, "codes"), KernelOffer(plain, handicap: Double(context.inputs[0].count)),
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
