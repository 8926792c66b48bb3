package import KelvinDevices
package import KelvinGraph

/// A product of a few rows and packed weights, with an epilogue. The invocations of a group share the depth of
/// neighbouring columns.
package struct RowProduct: Hashable, Sendable {
  /// The number of invocations that keep a GPU busy (two groups of 64 on each of 132 units), the least number of depth
  /// vectors of each invocation, and the least number of columns of a group, whose weights are read together.
  private static let (wanted, leastDepth, leastColumns) = (2 * 132 * 64, 8, 4)
  /// The most invocations of a group, which meet at barriers.
  private static let mostInvocations = 256

  package let rows, depth, columns: Int
  /// Strides from row to row, in elements. Columns up to the stride of the result are set to zero.
  package let inputStride, outputStride: Int
  /// Whether the depth is whole vectors of four, and so is each row that is read.
  package var readsVectors: Bool { depth % 4 == 0 && inputStride % 4 == 0 }

  package init(rows: Int, depth: Int, columns: Int, inputStride: Int, outputStride: Int) {
    (self.rows, self.depth, self.columns) = (rows, depth, columns)
    (self.inputStride, self.outputStride) = (inputStride, outputStride)
  }

  /// Creates the product of dense rows and the weights of a `Linear`.
  package init(linear inputs: [TensorType]) {
    let weights = inputs[1].shape
    self.init(
      rows: inputs[0].shape.dimensions.dropLast().reduce(1, *), depth: weights[1], columns: weights[0],
      inputStride: weights[1], outputStride: weights[0])
  }

  /// Creates the product of the channels of single positions, in blocks of `lanes`, and the weights of a convolution. A
  /// tensor in blocks is then a matrix of rows.
  package init(vectors count: Int, inputs: Int, outputs: Int, lanes: Int) {
    func filled(_ channels: Int) -> Int { (channels + lanes - 1) / lanes * lanes }
    self.init(
      rows: count, depth: inputs, columns: outputs, inputStride: filled(inputs), outputStride: filled(outputs))
  }

  /// Returns the columns of a group, a power of two. Fewer columns share their depth among more invocations, as long as
  /// each invocation has enough of it.
  ///
  /// - Parameters:
  ///   - group: the invocations of a group, a power of two.
  ///   - rowTile: the rows that an invocation computes.
  package func columns(ofGroup group: Int, rowTile: Int) -> Int {
    let tiles = (rows + rowTile - 1) / rowTile
    var columns = group
    while columns > Self.leastColumns, tiles * outputStride * (group / columns) < Self.wanted,
      depth / 4 / (2 * group / columns) >= Self.leastDepth
    { columns /= 2 }
    return columns
  }

  /// Returns the invocations of a group of so many columns. More than `group` share the depth as long as each has enough
  /// of it, because reads of one invocation wait for each other.
  ///
  /// - Parameter limit: the most invocations of a group.
  package func invocations(columns: Int, atLeast group: Int, limit: Int) -> Int {
    var wide = group
    while 2 * wide <= min(limit, Self.mostInvocations), depth / 4 / (2 * wide / columns) >= Self.leastDepth {
      wide *= 2
    }
    return wide
  }

  /// The parameters as the kernel declares them (`Shaders/shared/linear.kernel`).
  package func parameters(columns group: Int, _ activation: UnaryFunction?, _ codes: QuantizedOperand?) -> Parameters {
    Parameters(rows, depth, columns, group, inputStride, outputStride).floats(activation?.a ?? 0, activation?.b ?? 0)
      .followed(by: [codes?.rowStart ?? 0, codes?.rowWords ?? 0, codes?.rowChannels ?? 0, codes?.lastTable ?? 0])
      .floats(codes?.zero ?? 0)
  }

  /// - Parameter layout: the layout of the rows read and written; weights `[columns, depth]` are the node's second
  ///   input.
  package func lower<Target>(
    _ lowering: Lowering<Target>, _ epilogue: Epilogue, _ layout: ValueLayout
  ) throws(DeviceError) {
    let (target, node) = (lowering.target, lowering.node)
    let codes = try lowering.rowQuantizedWeight(columns: columns, depth: depth)
    let weights = if let codes { codes.storage } else { try lowering.rowWeights(self) }
    let x = try lowering.read(node.inputs[0], layout)
    let bias = try lowering.bias(epilogue, channels: columns)
    let residual = try lowering.residual(epilogue, layout)
    let fused = epilogue.activation.flatMap { target.fuses($0) ? $0 : nil }
    let call = target.linear(self, fused, addsResidual: residual != nil, codes)
    let result = lowering.run(call, [x, weights, bias, residual ?? x], lowering.write(node.outputs[0], layout))
    if fused == nil, let activation = epilogue.activation {
      lowering.run(.unary(activation, count: rows * outputStride), [result], result)
    }
  }
}

extension Lowering {
  /// Returns the node's weights `[columns, depth]` as `[vector of depth][column][4 of depth]`.
  fileprivate func rowWeights(_ product: RowProduct) throws(DeviceError) -> Storage {
    let (name, weight) = try constantWeight(1)
    let (depth, columns) = (product.depth, product.columns)
    return packed(weight, "\(name)/gpu-rows", count: (depth + 3) / 4 * columns * 4) { target in
      weight.withFloats { source in
        for column in 0..<columns {
          for k in 0..<depth { target[(k / 4 * columns + column) * 4 + k % 4] = source[column * depth + k] }
        }
      }
    }
  }

  /// Returns the node's bias in whole groups of four, or zeros if there is none.
  package func bias(_ epilogue: Epilogue, channels: Int) throws(DeviceError) -> Storage {
    if epilogue.hasBias { return try read(node.inputs[2], .dense) }
    let scalar = type(node.inputs[0]).scalar
    return weight("zeros/gpu-\((channels + 3) / 4 * 4)", count: channels, of: scalar) { _ in }
  }
}
