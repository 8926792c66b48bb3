package import KelvinDevices
package import KelvinGraph

/// Exact sums of products of 8-bit integers less their zero points: each position of x by each column of weights.
///
/// Kernels read x as stored, dense. They read the weights as bytes `[image or one][group][tap][channel][stored
/// column]`. A table of 32-bit words has the zero point, bias and scale (its bits) of each column of each group, then
/// the result's zero point and bounds. The last operand is x's zero point. They write the result dense.
package struct IntegerProductPlan: Sendable {
  package let window: SpatialWindow
  /// The number of images. Each has its own positions and, with `hasOwnWeights`, its own weights.
  package let images: Int
  package let groups: Int
  /// Channels of one group.
  package let channels: Int
  package let columns: Int
  /// Columns that weights are stored with.
  package let storedColumns: Int
  /// Whether positions are rows of channels in x and rows of columns in the result; otherwise channels are planes of
  /// positions.
  package let areRows: Bool
  package let hasOwnWeights: Bool
  package let x: ScalarType
  package let weights: ScalarType
  /// The bounds and type of results. Without a requantization results are the int32 sums, which wrap.
  package let requantization: Requantization?

  package var result: ScalarType { requantization?.scalar ?? .int32 }
  package var positions: Int { window.outputCount }
  /// Words in the table before the result's zero point.
  package var tableTail: Int { 3 * groups * columns }
  var weightCount: Int { groups * window.taps * channels * storedColumns }
}

/// The order of an integer product's constant weights in the node's second input.
package struct IntegerWeights: Sendable {
  /// Identifies the order in keys.
  package let order: String
  /// Returns the index of the weight of a group's column, channel and tap.
  package let index: @Sendable (_ group: Int, _ column: Int, _ channel: Int, _ tap: Int) -> Int
}

extension KernelContext {
  /// Returns the implementations of a product with constant weights, best first.
  func offers(_ plan: IntegerProductPlan, _ weights: IntegerWeights) -> [GPUOffer<Target>] {
    let (own, x) = (target.offers(plan, weights, self), node.inputs[0])
    let products = Double(plan.images) * Double(plan.positions) * Double(plan.weightCount)
    let kernel = NodeLowering<Target> { lowering throws(DeviceError) in
      try lowering.multiply(plan, try lowering.read(x, .dense), try lowering.byteWeights(plan, weights))
    }
    return own + [KernelOffer(kernel, extraCost: own.isEmpty ? 0 : products)]
  }

  /// - Parameter first: the first input of a node's requantization.
  /// - Throws: `.unsupported` if a value that the table holds is not constant.
  func requireTable(_ requantization: Requantization?, first: Int) throws(DeviceError) {
    try requireConstants(first - 1..<first, "zero points of weights")
    if requantization != nil { try requireConstants(first..<first + 3, "biases and scales of results") }
  }
}

extension Lowering {
  /// Adds a product of the node's inputs: x, weights, x's zero point, the weights' zero points, then the inputs of the
  /// requantization.
  func multiply(_ plan: IntegerProductPlan, _ x: Storage, _ weights: Storage) throws(DeviceError) {
    let (table, zero) = (try table(plan), try read(node.inputs[2], .dense))
    run(target.integerProduct(plan), [x, weights, table, zero], write(node.outputs[0], .dense))
  }

  /// Returns the plan's table.
  package func table(_ plan: IntegerProductPlan) throws(DeviceError) -> Storage {
    let columns = plan.groups * plan.columns
    let zeros = try constantWeight(3)
    var names = [zeros.name]
    var (bias, scale, zero): (Weight?, Weight?, Weight?)
    if plan.requantization != nil {
      let own = (try constantWeight(4), try constantWeight(5), try constantWeight(6))
      names += [own.0.name, own.1.name, own.2.name]
      (bias, scale, zero) = (own.0.weight, own.1.weight, own.2.weight)
    }
    let (lower, upper) = (plan.requantization?.lower ?? 0, plan.requantization?.upper ?? 0)
    let key = "\(names.joined(separator: ","))/gpu-requantization-\(columns)-\(lower)-\(upper)"
    return weight(key, count: plan.tableTail + 3) { target in
      func word(_ value: Int) -> Float { Float(bitPattern: UInt32(truncatingIfNeeded: value)) }
      let (zeros, biases) = (zeros.weight.dense().integers, bias?.dense().integers)
      let (scales, ownZero) = (scale?.floats(), zero?.dense().integers)
      for column in 0..<columns {
        target[3 * column] = word(zeros[zeros.count == 1 ? 0 : column])
        target[3 * column + 1] = word(biases?[column] ?? 0)
        target[3 * column + 2] = scales.map { $0[$0.count == 1 ? 0 : column] } ?? 0
      }
      target[plan.tableTail] = word(ownZero?[0] ?? 0)
      target[plan.tableTail + 1] = word(lower)
      target[plan.tableTail + 2] = word(upper)
    }
  }

  /// Returns constant weights as bytes in the order of the plan.
  fileprivate func byteWeights(_ plan: IntegerProductPlan, _ source: IntegerWeights) throws(DeviceError) -> Storage {
    let weight = try constantWeight(1)
    let key = "\(weight.name)/gpu-bytes-\(source.order)-\(plan.groups)-\(plan.storedColumns)"
    return self.weight(key, count: (plan.weightCount + 3) / 4) { target in
      let bytes = UnsafeMutableRawBufferPointer(target)
      weight.weight.dense().bytes.withUnsafeBytes { own in
        var place = 0
        for group in 0..<plan.groups {
          for tap in 0..<plan.window.taps {
            for channel in 0..<plan.channels {
              for column in 0..<plan.columns {
                bytes[place + column] = own[source.index(group, column, channel, tap)]
              }
              place += plan.storedColumns
            }
          }
        }
      }
    }
  }
}
