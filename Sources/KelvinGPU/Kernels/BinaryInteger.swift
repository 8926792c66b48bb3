internal import KelvinDevices
package import KelvinGraph

/// `z = f((x - xZero) * xScale, (y - yZero) * yScale) + zero`, rounded and within the type's range.
package struct BinaryIntegerPlan: Sendable {
  package let iteration: StridedIteration
  package let isProduct: Bool
  package let scalar: ScalarType
  package let xZero, yZero, zero: Int
  /// The scales of x and y in steps of the result. For a product, `xScale` alone is used.
  package let xScale, yScale: Float

  fileprivate init<Target>(
    _ op: BinaryInteger, _ iteration: StridedIteration, _ scalar: ScalarType, _ lowering: Lowering<Target>
  )
    throws(DeviceError)
  {
    var numbers: [Double] = []
    for input in 2..<8 { numbers.append(try lowering.constantWeight(input).weight.dense().doubles[0]) }
    self.iteration = iteration
    self.scalar = scalar
    isProduct = op.function == .multiply
    (xZero, yZero, zero) = (Int(numbers[1]), Int(numbers[3]), Int(numbers[5]))
    xScale = Float((isProduct ? numbers[0] * numbers[2] : numbers[0]) / numbers[4])
    yScale = Float(numbers[2] / numbers[4])
  }

  package var range: ClosedRange<Int> { scalar.quantizedRange ?? 0...0 }
}

extension KernelTable {
  mutating func addBinaryInteger<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(BinaryInteger.self) { op, context throws(DeviceError) in
      try context.requireConstants(2..<8, "scales and zero points")
      let iteration = StridedIteration(context.outputs[0].shape, context.inputs[..<2].map(\.shape))
      try iteration.check(context)
      let (node, scalar) = (context.node, context.inputs[0].scalar)
      return NodeLowering { lowering throws(DeviceError) in
        let plan = try BinaryIntegerPlan(op, iteration, scalar, lowering)
        let (x, y) = (try lowering.read(node.inputs[0], .dense), try lowering.read(node.inputs[1], .dense))
        lowering.run(lowering.target.binaryInteger(plan), [x, y], lowering.write(node.outputs[0], .dense))
      }
    }
  }
}
