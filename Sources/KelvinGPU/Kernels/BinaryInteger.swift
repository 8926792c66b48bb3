internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addBinaryInteger<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(BinaryInteger.self) { op, context throws(DeviceError) in
      try context.requireConstants(2..<8, "scales and zero points")
      let iteration = StridedIteration(context.outputs[0].shape, context.inputs[..<2].map(\.shape))
      try iteration.check(context)
      let (node, scalar) = (context.node, context.inputs[0].scalar)
      return NodeLowering { lowering throws(DeviceError) in
        let kernel = try lowering.kernel(op, iteration, scalar)
        let (x, y) = (try lowering.read(node.inputs[0], .dense), try lowering.read(node.inputs[1], .dense))
        lowering.run(kernel, [x, y], lowering.write(node.outputs[0], .dense))
      }
    }
  }
}

extension Lowering {
  /// Returns the kernel of `z = f((x - xZero) * xScale, (y - yZero) * yScale) + zero`, rounded and within the type's
  /// range. Scales are in steps of the result. For a product, the first scale alone is used.
  fileprivate func kernel(_ op: BinaryInteger, _ iteration: StridedIteration, _ scalar: ScalarType)
    throws(DeviceError) -> GPUKernel
  {
    var numbers: [Double] = []
    for input in 2..<8 { numbers.append(try constantWeight(input).weight.dense().doubles[0]) }
    let isProduct = op.function == .multiply
    let range = scalar.quantizedRange ?? 0...0
    let zeros = [numbers[1], numbers[3], numbers[5]].map { Int($0) }
    return GPUKernel(
      "binary_quantized", [.number(scalar)], reads: [.elements, .elements],
      Parameters([isProduct ? 1 : 0] + zeros + [range.lowerBound, range.upperBound]).floats(
        Float((isProduct ? numbers[0] * numbers[2] : numbers[0]) / numbers[4]), Float(numbers[2] / numbers[4])),
      over: iteration)
  }
}
