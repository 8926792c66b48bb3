internal import KelvinDevices
internal import KelvinGraph

/// The floats that fit the local memory of every device, 16 KiB.
private let mostKept = 4096

extension KernelTable {
  mutating func addNormalizedLinear<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(NormalizedLinear.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let constants = 1..<(2 + op.parameters + (op.epilogue.hasBias ? 1 : 0))
      try context.requireConstants(constants, "weights or parameters")
      let shape = context.inputs[1].shape
      guard let group = context.target.lineGroup else { throw context.unsupported("groups that share rows") }
      guard shape[1] % 4 == 0, shape.count > 0 else { throw context.unsupported("rows of \(shape[1]) elements") }
      guard !context.keepsQuantized else { throw context.unsupported("quantized weights") }
      let product = RowProduct(linear: Array(context.inputs[..<2]))
      if let fault = context.fault(ofIterations: 3 * (product.depth / min(group, 16) + 16)) {
        throw context.unsupported(fault)
      }
      let columns = product.columns(ofGroup: group, rowTile: 1)
      let wide = product.invocations(columns: columns, atLeast: group, limit: context.target.widestGroup)
      let turns = product.depth <= mostKept - wide ? (product.depth + wide - 1) / wide : 0
      return NodeLowering { lowering throws(DeviceError) in
        try lowering.runNormalizedLinear(op, product, group: wide, columns: columns, turns: turns)
      }
    }
  }
}

extension Lowering {
  /// - Parameters:
  ///   - group: the invocations of a group.
  ///   - columns: the columns of a group.
  ///   - turns: the turns of a group over the row, to keep it in local memory; 0 if it does not fit.
  fileprivate func runNormalizedLinear(
    _ op: NormalizedLinear, _ product: RowProduct, group: Int, columns: Int, turns: Int
  ) throws(DeviceError) {
    let x = try read(node.inputs[0], .dense)
    let weights = try rowWeights(of: 1, depth: product.depth, columns: product.columns)
    let parameters = try normalizationParameters(op, product)
    let residual = op.epilogue.addsResidual ? try read(node.inputs[node.inputs.count - 1], .dense) : nil
    let fused = op.epilogue.activation.flatMap { target.fuses($0) ? $0 : nil }
    let kernel = GPUKernel(
      "normalized_linear",
      constants: [
        ("RESIDUAL", residual == nil ? 0 : 1), ("ACTIVATION", Int(fused?.code ?? UnaryFunction.noneCode)),
        ("CENTERED", op.isCentered ? 1 : 0), ("TURNS", turns),
      ], reads: [.floats, .packed, .floats, .floats],
      Parameters(product.rows, product.depth, product.columns, columns)
        .floats(op.epsilon, fused?.a ?? 0, fused?.b ?? 0),
      groups: (product.columns + columns - 1) / columns, by: product.rows, of: group)
    let result = run(kernel, [x, weights, parameters, residual ?? x], write(node.outputs[0], .dense))
    if fused == nil, let activation = op.epilogue.activation {
      run(.unary(activation, count: product.rows * product.columns), [result], result)
    }
  }

  /// Returns the weights `[columns, depth]` of an input as `[vector of depth][column][4 of depth]`.
  private func rowWeights(of input: Int, depth: Int, columns: Int) throws(DeviceError) -> Storage {
    let (name, weight) = try constantWeight(input)
    return packed(weight, "\(name)/gpu-normalized-rows", count: depth * columns) { target in
      weight.withFloats { source in
        for column in 0..<columns {
          for k in 0..<depth { target[(k / 4 * columns + column) * 4 + k % 4] = source[column * depth + k] }
        }
      }
    }
  }

  /// Returns the biases, then the scales and shifts of the normalization.
  private func normalizationParameters(_ op: NormalizedLinear, _ product: RowProduct) throws(DeviceError) -> Storage {
    var names: [String] = []
    var weights: [Weight?] = []
    for (input, exists) in [
      (2 + op.parameters, op.epilogue.hasBias), (2, op.parameters > 0), (3, op.parameters > 1),
    ] {
      guard exists else {
        names.append("none")
        weights.append(nil)
        continue
      }
      let (name, weight) = try constantWeight(input)
      names.append(name)
      weights.append(weight)
    }
    let (columns, depth) = (product.columns, product.depth)
    return weight(
      "\(names.joined(separator: "+"))/gpu-\(columns)-\(depth)", count: columns + 2 * depth,
      of: type(node.inputs[0]).scalar
    ) { target in
      for (index, part) in [0..<columns, columns..<(columns + depth), (columns + depth)..<(columns + 2 * depth)]
        .enumerated()
      {
        for place in part { target[place] = index == 1 ? 1 : 0 }
        weights[index]?.withFloats { source in
          for (place, element) in zip(part, source) { target[place] = element }
        }
      }
    }
  }
}
