internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addReduce<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Reduce.self) { op, context throws(DeviceError) in
      let scalar = context.inputs[0].scalar
      guard scalar.isFloatingPoint || op.function.keepsIntegers else {
        throw context.unsupported("\(op.function.rawValue) of \(scalar.rawValue) values")
      }
      return try context.target.offers(op, context)
    }
  }
}

extension Reduce.Function {
  /// Whether it combines integers to an integer, as kernels of integers do.
  fileprivate var keepsIntegers: Bool {
    switch self {
    case .sum, .mean, .maximum, .minimum, .product, .l1, .sumOfSquares: true
    case .l2, .logSum, .logSumExp: false
    }
  }
}
