import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addConvolution() {
    addOffers(Convolution.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      let (x, y) = (context.inputs[0].shape, context.outputs[0].shape)
      var window = try context.window(op.window, input: x, output: y)
      if x[1] * window.inputCount <= longestRow { window = window.alongColumns }
      if context.inputs[1].shape[1] == 1, op.groups > 1 { return try depthwiseOffers(op, context, window) }
      return try convolutionOffers(op, context, window)
    }
  }
}

/// The most elements of an image whose rows of one element are computed as one row. A band has no less than a row.
private let longestRow = 1 << 20

private func convolutionOffers(
  _ op: Convolution, _ context: CPUContext, _ window: ck_window
) throws(DeviceError) -> [KernelOffer<CPUKernel>] {
  var offers = [KernelOffer(product(op, context, window), "windows")]
  guard context.isConstant(1) else { return offers }
  if op.window.rank > 2 {
    if op.groups == 1, context.isPointwise(op.window), context.hasRows {
      offers.append(op.offerOnRows(context, context.variant.products, extraCost: 0))
    }
    return offers
  }
  if let tiled = try tiledOffers(op, context, window) { return tiled }
  let spreadsGroups = op.spreadsGroups(context, window)
  if !spreadsGroups, let blocks = context.blocks, let rounded = try roundedOffers(op, context, window, blocks) {
    return rounded
  }
  if op.groups > 1 {
    guard let blocks = context.blocks, op.fitBlocks(context) else { return offers }
    offers[0].extraCost = Double(context.outputs[0].count * op.window.count)
    if spreadsGroups {
      let layouts = KernelLayouts(reads: [blocks, .dense] + op.epilogue.layouts(in: blocks), writes: [blocks])
      return offers + [KernelOffer(try op.depthwiseOnBlocks(context, window), "groups", layouts)]
    }
    return offers + [try op.offerOnBlocks(blocks, context, window, context.variant.products)]
  }
  if let blocks = context.blocks {
    offers[0].extraCost = context.packing(op.window)
    offers.append(try op.offerOnBlocks(blocks, context, window, context.variant.products))
    if context.inputs[0].shape[1] < context.variant.kernels.lanes {
      offers.append(try op.offerOnPlanes(blocks, context, window, context.variant.products))
    }
  }
  if context.isPointwise(op.window), context.hasRows {
    offers.append(op.offerOnRows(context, context.variant.products, extraCost: offers[0].extraCost))
  }
  return offers
}

/// Returns all offers by products of tiles, if the precision allows and these are the fastest. Blocks have the channels
/// of half a tile. Nil if there are none, for few filters, or if a tensor is constant, because constants are dense.
private func tiledOffers(
  _ op: Convolution, _ context: CPUContext, _ window: ck_window
) throws(DeviceError) -> [KernelOffer<CPUKernel>]? {
  guard op.groups == 1, !context.hasConstantTensor(op.epilogue), context.outputs[0].shape[1] >= ck_tile_words / 4,
    let products = context.tileProducts(depth: context.inputs[0].shape[1])
  else { return nil }
  var offers: [KernelOffer<CPUKernel>] = []
  if let blocks = context.blocks, context.variant.kernels.lanes == ck_tile_words {
    let layouts = KernelLayouts(reads: [blocks, .dense] + op.epilogue.layouts(in: blocks), writes: [blocks])
    let kernel = try op.onBlocks(context, window, products)
    offers.append(KernelOffer(kernel, "blocks", layouts, precision: products.precision))
  }
  if context.isPointwise(op.window), context.hasRows { offers.append(op.offerOnRows(context, products, extraCost: 0)) }
  return offers.isEmpty ? nil : offers
}

/// Returns all offers with operands rounded to a type that the processor multiplies faster, if the precision allows.
/// They replace the exact offers, so that the precision does not depend on layouts.
///
/// Returns nil for few filters, whose blocks would be mostly padding, and if large tiles of exact operands are faster.
/// It also returns nil if a tensor is constant, because constants are dense.
private func roundedOffers(
  _ op: Convolution, _ context: CPUContext, _ window: ck_window, _ blocks: ValueLayout
) throws(DeviceError) -> [KernelOffer<CPUKernel>]? {
  let products = context.products
  guard products.precision != .full, op.groups == 1 || op.fitBlocks(context), !context.hasConstantTensor(op.epilogue),
    context.outputs[0].shape[1] >= context.variant.kernels.lanes / 4,
    op.implementation(context, window, products).cost
      < op.implementation(context, window, context.variant.products).cost
  else { return nil }
  let isPointwise = context.isPointwise(op.window)
  // A block of channels would be mostly padding. Planes are always copied.
  if context.inputs[0].shape[1] < context.variant.kernels.lanes {
    return op.groups > 1 || isPointwise ? nil : [try op.offerOnPlanes(blocks, context, window, products)]
  }
  var offers = [try op.offerOnBlocks(blocks, context, window, products)]
  if op.groups == 1, isPointwise, context.hasRows {
    offers.append(op.offerOnRows(context, products, extraCost: context.packing(op.window)))
  }
  return offers
}

extension Convolution {
  /// Returns the offer on blocks, by Winograd's tiles if these are faster than the taps.
  fileprivate func offerOnBlocks(
    _ blocks: ValueLayout, _ context: CPUContext, _ window: ck_window, _ products: CPUProducts
  ) throws(DeviceError) -> KernelOffer<CPUKernel> {
    let layouts = KernelLayouts(reads: [blocks, .dense] + epilogue.layouts(in: blocks), writes: [blocks])
    guard let tile = implementation(context, window, products).tile else {
      return KernelOffer(
        try onBlocks(context, window, products), "blocks", layouts, precision: products.precision)
    }
    return KernelOffer(
      try byWinograd(context, window, products, tile: tile), "winograd-\(tile)", layouts,
      precision: products.precision)
  }

  /// Returns the offer that reads a dense tensor of few channels.
  fileprivate func offerOnPlanes(
    _ blocks: ValueLayout, _ context: CPUContext, _ window: ck_window, _ products: CPUProducts
  ) throws(DeviceError) -> KernelOffer<CPUKernel> {
    let layouts = KernelLayouts(reads: [.dense, .dense] + epilogue.layouts(in: blocks), writes: [blocks])
    let kernel = try onBlocks(context, window, products, isPlanar: true)
    return KernelOffer(kernel, "planes", layouts, precision: products.precision)
  }

  fileprivate func offerOnRows(
    _ context: CPUContext, _ products: CPUProducts, extraCost: Double
  ) -> KernelOffer<CPUKernel> {
    let rows = context.outputs[0].shape[0] * context.outputs[0].shape.pixels
    let layouts = KernelLayouts(reads: [.rows, .dense] + epilogue.layouts(in: .rows), writes: [.rows])
    return KernelOffer(
      .rowProduct(rows: rows, WeightRows(of: 1, context), epilogue, context, products), "rows", layouts,
      extraCost: extraCost, precision: products.precision)
  }
}

private func depthwiseOffers(
  _ op: Convolution, _ context: CPUContext, _ window: ck_window
) throws(DeviceError) -> [KernelOffer<CPUKernel>] {
  var offers = [KernelOffer(try depthwise(op, context, window), "depthwise")]
  let (inputs, lanes) = (context.inputs[0].shape[1], context.variant.kernels.lanes)
  let multiplier = context.outputs[0].shape[1] / inputs
  if let blocks = context.blocks, multiplier > 0, lanes % multiplier == 0, op.window.rank <= 2, context.isConstant(1) {
    // Vectors along short rows are rarely full.
    offers[0].extraCost = Double(context.outputs[0].count * op.window.count) / 9
    let layouts = KernelLayouts(reads: [blocks, .dense] + op.epilogue.layouts(in: blocks), writes: [blocks])
    offers.append(KernelOffer(try op.depthwiseOnBlocks(context, window), "depthwise-blocks", layouts))
    if context.hasRows, multiplier == 1, inputs % lanes == 0 {
      let layouts = KernelLayouts(reads: [.rows, .dense] + op.epilogue.layouts(in: .rows), writes: [.rows])
      offers.append(
        KernelOffer(
          try op.depthwiseOnBlocks(context, window, isRows: true), "depthwise-rows", layouts,
          extraCost: Double(context.inputs[0].count) / 4))
    }
  }
  return offers
}

extension CPUContext {
  /// Returns the number of elements moved to pack the input of the windows.
  fileprivate func packing(_ window: Window) -> Double {
    Double(outputs[0].shape[0] * outputs[0].shape.pixels * inputs[1].shape[1] * window.count)
  }

  /// Whether the image, or the residual that an epilogue adds, is a constant.
  fileprivate func hasConstantTensor(_ epilogue: Epilogue) -> Bool {
    isConstant(0) || epilogue.addsResidual && isConstant(epilogue.hasBias ? 3 : 2)
  }

  /// Whether each position of the first output reads only the first input at that position.
  func isPointwise(_ window: Window) -> Bool {
    window.count == 1 && window.strides.allSatisfy { $0 == 1 }
      && inputs[0].shape.dimensions[2...] == outputs[0].shape.dimensions[2...]
  }
}

extension Epilogue {
  /// Returns the layouts of the epilogue's inputs for a result in a layout.
  fileprivate func layouts(in layout: ValueLayout) -> [ValueLayout] {
    (hasBias ? [.dense] : []) + (addsResidual ? [layout] : [])
  }
}

/// Returns a convolution as a product of the weights with the windows of the image, which are packed while they are
/// read. Weights that are not constant are packed first.
private func product(_ op: Convolution, _ context: CPUContext, _ window: ck_window) -> CPUKernel {
  let (x, weights) = (context.inputs[0].shape, context.inputs[1].shape)
  let rows = weights[0] / op.groups
  let depth = weights[1] * op.window.count
  let products = context.variant.products
  let packing = RowPacking(rows: rows, depth: depth, groups: op.groups, products)
  let epilogue = CPUEpilogue(op.epilogue, from: 2, context.variant)

  var arguments = ck_gemm_args()
  arguments.rows = rows
  arguments.columns = window.outputCount
  arguments.depth = depth
  arguments.batches = x[0] * op.groups
  arguments.a_step = packing.count
  arguments.a_period = op.groups
  arguments.b_step = weights[1] * window.inputCount
  arguments.c_step = rows * arguments.columns
  arguments.c_row_stride = arguments.columns
  arguments.kind = context.isPointwise(op.window) ? ck_columns_strided : ck_columns_of_image
  arguments.b_row_stride = arguments.columns
  arguments.b_column_stride = 1
  arguments.window = window
  let sgemm = context.variant.sgemm
  if sgemm != nil {
    arguments.sgemm = sgemm
    arguments.a_row_stride = depth
    arguments.a_depth_stride = 1
    arguments.a_step = rows * depth
  }
  let schedule = ProductSchedule(
    rows: rows, columns: arguments.columns, depth: depth, batches: arguments.batches, threads: context.threads,
    width: context.variant.kernels.gemm_width, depthLimit: sgemm == nil ? ProductSchedule.depthLimit : depth)
  schedule.apply(to: &arguments)

  let run = sgemm == nil ? products.kernels.gemm : context.variant.kernels.gemm_blas
  let isConstant = context.isConstant(1)
  var kernel = CPUKernel { [arguments] operands, list in
    var arguments = arguments
    arguments.a =
      sgemm != nil ? operands.floats(1) : isConstant ? operands.packed(0) : packing.record(operands, list)
    arguments.b = operands.floats(0)
    arguments.c = operands.result()
    arguments.epilogue = epilogue.arguments(operands, biasAlongRows: true)
    list.add(run, arguments, items: schedule.items, cost: 1 << 20)
  }
  kernel.threadByteCount = schedule.threadByteCount
  guard sgemm == nil else { return kernel }
  if isConstant {
    kernel.packs = [packing.pack("gemm-f32-\(ck_gemm_rows)" + (op.groups == 1 ? "" : "-groups-\(op.groups)"))]
  } else {
    kernel.temporaries = [packing.byteCount]
  }
  return kernel
}

private func depthwise(
  _ op: Convolution, _ context: CPUContext, _ window: ck_window
) throws(DeviceError) -> CPUKernel {
  let (x, y) = (context.inputs[0].shape, context.outputs[0].shape)
  let epilogue = CPUEpilogue(op.epilogue, from: 2, context.variant)
  let run = context.variant.kernels.depthwise
  let area = window.outputCount
  var window = window
  var kernel = CPUKernel { [window] operands, list in
    let arguments = ck_depthwise_args(
      x: operands.floats(0), weights: operands.floats(1), y: operands.result(), in_channels: x[1], out_channels: y[1],
      window: window, epilogue: epilogue.arguments(operands, biasAlongRows: true))
    list.add(run, arguments, items: area == 0 ? 0 : x[0] * y[1], cost: area * op.window.count / 4)
  }
  kernel.threadByteCount = try context.scratch(for: &window)
  return kernel
}
