import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addLinear() {
    addOffers(Linear.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      let rows = context.outputs[0].shape.dimensions.dropLast().reduce(1, *)
      guard context.isConstant(1) else { return [KernelOffer(computedProduct(rows: rows, op.epilogue, context))] }
      if let columns = CodedColumns(of: 1, context) {
        // Few rows are not rounded, because the weights are not stored as operands. Operands of float16 need scales,
        // which codes do not have.
        let products = context.tileProducts(depth: columns.depth) ?? context.products
        let isShort = rows <= Int(ck_coded_rows)
        return [
          KernelOffer(
            .rowProduct(rows: rows, columns, op.epilogue, context, products), "codes",
            precision: isShort ? .full : products.precision)
        ]
      }
      let products = context.rowProducts(depth: context.inputs[1].shape[1])
      return [
        KernelOffer(
          .rowProduct(rows: rows, WeightRows(of: 1, context), op.epilogue, context, products),
          precision: products.precision)
      ]
    }
  }
}

/// Rows of a constant input `[rows, depth, …]`, which are the columns of a product.
struct WeightRows {
  let input: Int
  let rows: Range<Int>
  let depth: Int
  private let isAll: Bool
  /// The transposition of all rows, if that is what the model has.
  private let transposed: Tensor?

  /// - Parameter rows: the rows; nil for all.
  init(of input: Int, rows: Range<Int>? = nil, _ context: CPUContext) {
    let shape = context.inputs[input].shape
    self.input = input
    self.rows = rows ?? 0..<shape[0]
    depth = shape[1]
    isAll = self.rows == 0..<shape[0]
    let weight = context.request.graph[context.request.node.inputs[input]].weight
    transposed = isAll && weight?.type.scalar == .float32 ? weight?.transposedTensor : nil
  }

  /// Returns the rows packed as columns.
  func pack(_ products: CPUProducts) -> CPUPack {
    let part = isAll ? "" : "-rows-\(rows.lowerBound)-\(rows.upperBound)"
    return CPUPack(
      inputs: [input], layout: "gemm-\(products.name)-k\(ck_gemm_panel)\(part)",
      byteCount: 4 * ck_packed_columns_count(rows.count, depth, products.type), content: content(products))
  }

  private func content(_ products: CPUProducts) -> CPUPack.Content {
    guard let transposed else {
      return .floats { target, weights in
        ck_pack_columns(
          weights[0].baseAddress.map { $0 + rows.lowerBound * depth }, rows.count, depth, depth, 1, products.type,
          target.bindMemory(to: Float.self).baseAddress)
      }
    }
    return .encoded { target in
      transposed.bytes.aligned(to: Float.self).withUnsafeBytes { source in
        ck_pack_columns(
          source.bindMemory(to: Float.self).baseAddress, rows.count, depth, 1, rows.count, products.type,
          target.bindMemory(to: Float.self).baseAddress)
      }
    }
  }
}

extension CPUKernel {
  /// Returns the product of rows, the node's first input, and constant weights, with an epilogue.
  static func rowProduct(
    rows: Int, _ weights: WeightRows, _ epilogue: Epilogue, _ context: CPUContext, _ products: CPUProducts
  ) -> CPUKernel {
    let (columns, depth) = (weights.rows.count, weights.depth)
    let epilogue = CPUEpilogue(epilogue, from: 2, context.variant)
    if let sgemm = context.variant.sgemm {
      return product(rows: rows, columns: columns, depth: depth, epilogue, context, by: sgemm)
    }
    var kernel =
      rows == 1
      ? vectorProduct(columns: columns, depth: depth, epilogue, products)
      : product(rows: rows, columns: columns, depth: depth, epilogue, context, products)
    kernel.packs = [weights.pack(products)]
    return kernel
  }
}

extension CPUKernel {
  /// Returns the product of rows, the node's first input, and constant weights that stay codes, with an epilogue.
  fileprivate static func rowProduct(
    rows: Int, _ weights: CodedColumns, _ epilogue: Epilogue, _ context: CPUContext, _ products: CPUProducts
  ) -> CPUKernel {
    let epilogue = CPUEpilogue(epilogue, from: 2, context.variant)
    var kernel =
      rows <= Int(ck_coded_rows)
      ? shortProduct(rows: rows, weights, epilogue, context)
      : product(
        rows: rows, columns: weights.columns, depth: weights.depth, epilogue, context, products, .coded(weights))
    kernel.packs = [weights.pack()]
    return kernel
  }
}

/// Returns a product of so few rows that codes are unpacked in registers.
private func shortProduct(
  rows: Int, _ weights: CodedColumns, _ epilogue: CPUEpilogue, _ context: CPUContext
) -> CPUKernel {
  let run = context.variant.kernels.coded
  return CPUKernel { operands, list in
    let arguments = ck_coded_args(
      x: operands.floats(0), b: weights.at(operands.packs[0]), y: operands.result(), rows: rows,
      epilogue: epilogue.arguments(operands, biasAlongRows: false))
    list.add(
      run, arguments, items: rows == 0 ? 0 : parts(weights.columns, of: Int(ck_gemm_panel)),
      cost: 4 * weights.depth)
  }
}

/// Returns the product of rows and weights that the graph computes.
private func computedProduct(rows: Int, _ epilogue: Epilogue, _ context: CPUContext) -> CPUKernel {
  let weights = context.inputs[1].shape
  let (columns, depth) = (weights[0], weights[1])
  let epilogue = CPUEpilogue(epilogue, from: 2, context.variant)
  if let sgemm = context.variant.sgemm {
    return product(rows: rows, columns: columns, depth: depth, epilogue, context, by: sgemm)
  }
  return product(
    rows: rows, columns: columns, depth: depth, epilogue, context, context.variant.products, .strided)
}

private func vectorProduct(
  columns: Int, depth: Int, _ epilogue: CPUEpilogue, _ products: CPUProducts
) -> CPUKernel {
  let run = products.kernels.gemv
  return CPUKernel { operands, list in
    let arguments = ck_gemv_args(
      x: operands.floats(0), b: operands.packed(0), y: operands.result(), columns: columns, depth: depth,
      epilogue: epilogue.arguments(operands, biasAlongRows: false))
    list.add(run, arguments, items: parts(columns, of: Int(ck_gemm_panel)), cost: 4 * depth)
  }
}

/// The columns of a product: the second input's rows, or the node's first pack.
private enum Columns {
  case strided
  case packed
  case coded(CodedColumns)

  var kind: ck_columns {
    switch self {
    case .strided: ck_columns_strided
    case .packed: ck_columns_packed
    case .coded: ck_columns_coded
    }
  }
}

/// Returns a product that packs the rows of x first.
private func product(
  rows: Int, columns: Int, depth: Int, _ epilogue: CPUEpilogue, _ context: CPUContext, _ products: CPUProducts,
  _ source: Columns = .packed
) -> CPUKernel {
  let (kernels, words) = (products.kernels, products.words(depth))
  var packing = ck_pack_rows_args()
  packing.rows = rows
  packing.depth = depth
  packing.row_stride = depth
  packing.depth_stride = 1
  var arguments = ck_gemm_args()
  arguments.rows = rows
  arguments.columns = columns
  arguments.depth = words
  arguments.batches = 1
  arguments.a_period = 1
  arguments.c_row_stride = columns
  arguments.kind = source.kind
  arguments.b_row_stride = 1
  arguments.b_column_stride = depth
  let schedule = ProductSchedule(
    rows: rows, columns: columns, depth: words, batches: 1, threads: context.threads,
    width: source.kind == ck_columns_strided ? context.variant.kernels.gemm_width : products.tile.columns,
    height: products.tile.rows)
  schedule.apply(to: &arguments)
  var kernel = CPUKernel { [packing, arguments] operands, list in
    var (packing, arguments) = (packing, arguments)
    packing.x = operands.floats(0)
    packing.y = operands.temporary(0)
    list.add(
      kernels.pack_rows, packing, items: parts(rows, of: products.panel), cost: depth * products.panel)
    arguments.a = UnsafePointer(operands.temporary(0))
    switch source {
    case .strided: arguments.b = operands.floats(1)
    case .packed: arguments.b = operands.packed(0)
    case .coded(let columns): arguments.coded = columns.at(operands.packs[0])
    }
    arguments.c = operands.result()
    arguments.epilogue = epilogue.arguments(operands, biasAlongRows: false)
    list.add(kernels.gemm, arguments, items: schedule.items, cost: 1 << 20)
  }
  if source.kind != ck_columns_packed { kernel.threadByteCount = schedule.threadByteCount }
  kernel.temporaries = [4 * ck_packed_rows_count(rows, depth, products.type)]
  return kernel
}

private func product(
  rows: Int, columns: Int, depth: Int, _ epilogue: CPUEpilogue, _ context: CPUContext, by sgemm: ck_sgemm
) -> CPUKernel {
  var arguments = ck_gemm_args()
  arguments.sgemm = sgemm
  arguments.rows = rows
  arguments.columns = columns
  arguments.depth = depth
  arguments.batches = 1
  arguments.a_period = 1
  arguments.a_row_stride = depth
  arguments.a_depth_stride = 1
  arguments.c_row_stride = columns
  arguments.kind = ck_columns_strided
  arguments.b_row_stride = 1
  arguments.b_column_stride = depth
  arguments.transposes_b = true
  let schedule = ProductSchedule(
    rows: rows, columns: columns, depth: depth, batches: 1, threads: context.threads,
    width: context.variant.kernels.gemm_width, depthLimit: depth)
  schedule.apply(to: &arguments)
  let run = context.variant.kernels.gemm_blas
  return CPUKernel { [arguments] operands, list in
    var arguments = arguments
    arguments.a = operands.floats(0)
    arguments.b = operands.floats(1)
    arguments.c = operands.result()
    arguments.epilogue = epilogue.arguments(operands, biasAlongRows: false)
    list.add(run, arguments, items: schedule.items, cost: 1 << 20)
  }
}
