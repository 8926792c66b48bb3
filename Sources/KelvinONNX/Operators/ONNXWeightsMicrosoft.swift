import KelvinGraph
import KelvinImport

/// Products with low-bit weights, and gathers of rows from tables of such weights: ONNX Runtime's
/// `ContribOperators.md`. The weights stay in the file's encoding.
extension ONNXMapper {
  static let microsoftWeights: [ONNXMapper] = [matMulNBits, matMulBnb4, gatherBlockQuantized]

  private static let matMulNBits = ONNXMapper("com.microsoft.MatMulNBits") { c in
    guard !c.flag("weight_prepacked") else {
      throw c.unsupported("weights in the order of a device (weight_prepacked)")
    }
    let x = try c.input(0)
    let form = BlockLayout(
      bits: c.integer("bits", default: 4), rows: try c.count("N"), depth: try c.count("K"), block: try c.blockSize())
    guard [2, 4, 8].contains(form.bits) else { throw c.unsupported("weights of \(form.bits) bits") }
    guard c.emitter.shape(x).dimensions.last == form.depth else {
      throw c.emitter.invalid("\(c.emitter.type(x)) times weights of \(form.depth) rows")
    }
    if let groups = c.optional(4) { return [try c.regroupedProduct(x, form, groups)] }
    guard let scale = c.emitter.weight(try c.input(2)) else { throw c.unsupported("its scales are not constant") }
    let weight = try c.blockWeight(form, try c.knownBytes(1), scale: scale, zero: c.blockZeros(form, 3))
    // Elements after the last one fill up its block; zeros of the input cancel them.
    var after = c.emitter.shape(x).dimensions.map { _ in 0 }
    after[after.count - 1] = form.wholeDepth - form.depth
    let whole = try c.emitter.pad(
      x, before: after.map { _ in 0 }, after: after, mode: .constant(0), step: "whole_blocks")
    let bias = c.optional(5).map { [$0] } ?? []
    let operands = [whole, c.emitter.constant(weight, step: "weights")] + bias
    return [try c.emitter.add(Linear(epilogue: Epilogue(hasBias: !bias.isEmpty)), operands)]
  }

  /// A product with weights that are entries of a table of 16 numbers, times the largest magnitude of their block. The
  /// weights of all rows, concatenated, are divided into blocks.
  private static let matMulBnb4 = ONNXMapper("com.microsoft.MatMulBnb4") { c in
    let (x, rows, depth, block) = (try c.input(0), try c.count("N"), try c.count("K"), try c.blockSize())
    let entries: [Double]
    switch c.integer("quant_type", default: -1) {
    case 0: entries = floatingEntries
    case 1: entries = normalEntries
    case let other: throw c.emitter.invalid("quant_type \(other) is neither 0 nor 1")
    }
    let shape: Shape = [rows, depth]
    guard shape.isAddressable else { throw c.emitter.invalid("weights of \(rows) rows of \(depth)") }
    guard shape.count % block == 0 else { throw c.unsupported("a partial last block of weights") }
    guard let scales = c.emitter.weight(try c.input(2)), scales.type.count == shape.count / block else {
      throw c.emitter.invalid("its scales are not a constant of \(shape.count / block) elements")
    }
    // Rows of whole blocks, or all rows as one.
    let (outer, inner) = depth % block == 0 ? (rows, depth) : (1, shape.count)
    let table = Tensor(TensorType(scales.type.scalar, [1, 1, 16, 1]), rounding: entries)
    let codes = Weight(
      try PackedIntegers(try c.knownBytes(1), bits: 4, order: .mostSignificantFirst, shape: [outer, inner]))
    let weight = try Weight(
      affine: Weight(palettized: codes, table: Weight(table)), scale: scales.reshaped(to: [outer, inner / block]))
    let matrix = weight.reshaped(to: shape)
    let own = c.flag("transB", default: true) ? matrix : matrix.transposed([1, 0])
    return [try c.emitter.add(Linear(), x, c.emitter.constant(own, step: "weights"))]
  }

  /// Gathers rows before they are widened, as far as the indices address rows.
  private static let gatherBlockQuantized = ONNXMapper("com.microsoft.GatherBlockQuantized") { c in
    let (data, indices, scales) = (try c.input(0), try c.input(1), try c.input(2))
    let bits = c.integer("bits", default: 4)
    if let narrow = c.lowPrecisionType(0), !narrow.isFloatingPoint {
      return [try c.gatherLowPrecision(data, indices, scales)]
    }
    guard c.emitter.scalar(data) == .uint8, c.lowPrecisionType(0) == nil, [2, 4, 8].contains(bits) else {
      throw c.unsupported("\(c.emitter.type(data)) of \(bits) bits, expected bytes of 2, 4 or 8")
    }
    let (axis, block) = (try c.emitter.axis(c.integer("quantize_axis", default: 1), of: data), try c.blockSize())
    guard try c.emitter.axis(c.integer("gather_axis", default: 0), of: data) == 0, axis > 0 else {
      throw c.unsupported("rows along axis \(c.integer("gather_axis", default: 0)), blocks along \(axis)")
    }
    func picked(_ table: ValueID, _ name: String) throws -> ValueID {
      try c.emitter.add(Gather(axis: 0), table, indices, step: "picked_\(name)")
    }
    let codes = try c.emitter.unpacked(picked(data, "codes"), bits: bits, step: "codes")
    let scale = try picked(scales, "scales")
    let zero: ValueID
    if let zeros = c.optional(3) {
      let all = try c.emitter.unpacked(picked(zeros, "zeros"), bits: bits, step: "all_zeros")
      guard zip(c.emitter.shape(all).dimensions, c.emitter.shape(scale).dimensions).allSatisfy({ $0 >= $1 }),
        c.emitter.shape(all).rank == c.emitter.shape(scale).rank
      else { throw c.emitter.invalid("zero points \(c.emitter.type(zeros)) for scales \(c.emitter.type(scales))") }
      zero = try c.emitter.slice(
        all, c.emitter.shape(scale).dimensions.map { SliceRange(start: 0, count: $0) }, step: "zeros")
    } else {
      let middle = c.emitter.constant(Double(1 << (bits - 1)), .uint8, step: "middle")
      zero = try c.emitter.add(Expand(c.emitter.shape(scale)), middle, step: "zeros")
    }
    let place = axis - 1 + c.emitter.shape(indices).rank
    let op = Dequantize(axis: place, blockSize: block, scalar: c.emitter.scalar(scale))
    return [try c.emitter.add(op, codes, scale, zero)]
  }

  /// The values of 4-bit floating-point numbers, with the sign before three bits.
  private static let floatingEntries: [Double] = {
    let magnitudes = [0, 1.0 / 192, 2.0 / 3, 1, 1.0 / 3, 1.0 / 2, 1.0 / 6, 1.0 / 4]
    return magnitudes + magnitudes.map { -$0 }
  }()

  /// Quantiles of a normal distribution from -1 to 1, from the QLoRA paper.
  private static let normalEntries: [Double] = [
    -1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1,
  ]
}

/// The layout of rows of low-bit integers, with a scale for each block of a row.
struct BlockLayout {
  var bits: Int
  var rows: Int
  var depth: Int
  var block: Int

  var blocks: Int { (depth - 1) / block + 1 }
  /// The depth rounded up to whole blocks.
  var wholeDepth: Int { blocks * block }
}

extension ONNXOperation {
  /// Gathers the dequantized values of integers of a low-precision type at indices of any axis.
  fileprivate func gatherLowPrecision(_ data: ValueID, _ indices: ValueID, _ scales: ValueID) throws -> ValueID {
    let (axis, block) = (try emitter.axis(integer("quantize_axis", default: 1), of: data), try blockSize())
    let place = try emitter.axis(integer("gather_axis", default: 0), of: data)
    let zero =
      try optional(3)
      ?? emitter.add(
        Expand(emitter.shape(scales)), emitter.constant(0, emitter.scalar(data), step: "zero"), step: "zeros")
    func picked(_ table: ValueID, _ name: String) throws -> ValueID {
      try emitter.add(Gather(axis: place), table, indices, step: "picked_\(name)")
    }
    guard place != axis else {
      let whole = try emitter.add(
        Dequantize(axis: axis, blockSize: block, scalar: emitter.scalar(scales)), data, scales, zero, step: "whole")
      return try emitter.add(Gather(axis: place), whole, indices)
    }
    let own = axis > place ? axis - 1 + emitter.shape(indices).rank : axis
    let op = Dequantize(axis: own, blockSize: block, scalar: emitter.scalar(scales))
    return try emitter.add(op, picked(data, "codes"), picked(scales, "scales"), picked(zero, "zeros"))
  }

  func blockSize() throws -> Int {
    let size = integer("block_size", default: 128)
    guard (16..<(1 << 31)).contains(size), size.nonzeroBitCount == 1 else {
      throw emitter.invalid("blocks of \(size), expected a power of two from 16 on")
    }
    return size
  }

  /// Returns the product with weights whose scale and zero point are those of the block that `groups`, `[K]`, assigns
  /// to each column.
  fileprivate func regroupedProduct(_ x: ValueID, _ form: BlockLayout, _ groups: ValueID) throws -> ValueID {
    let grid: Shape = [form.rows, form.blocks]
    guard emitter.shape(groups) == [form.depth], grid.isAddressable, emitter.shape(try input(2)).count == grid.count
    else {
      throw emitter.invalid("groups \(emitter.type(groups)) for \(form.rows) rows of \(form.blocks) blocks")
    }
    let scalar = emitter.scalar(try input(2))
    func own(_ table: ValueID, _ name: String) throws -> ValueID {
      let real = try emitter.cast(table, to: scalar, step: "\(name)_real")
      let rows = try emitter.reshape(real, grid, step: "\(name)_of_blocks")
      return try emitter.add(Gather(axis: 1), rows, groups, step: "\(name)_of_columns")
    }
    let packed = Weight(
      try PackedIntegers(try knownBytes(1), bits: form.bits, shape: [form.rows, form.wholeDepth]))
    let all = emitter.constant(packed, step: "codes")
    let columns = try emitter.slice(
      all, [SliceRange(start: 0, count: form.rows), SliceRange(start: 0, count: form.depth)], step: "codes_of_columns")
    var weights = try emitter.cast(columns, to: scalar, step: "codes_real")
    if let zero = try blockZeros(form, 3) {
      weights = try emitter.binary(
        .subtract, weights, own(emitter.constant(zero, step: "zeros"), "zeros"), step: "from_zero")
    } else {
      let middle = UnaryFunction(.affine, a: 1, b: -Float(1 << (form.bits - 1)))
      weights = try emitter.unary(middle, weights, step: "from_middle")
    }
    weights = try emitter.binary(.multiply, weights, own(try input(2), "scales"), step: "scaled")
    let bias = optional(5).map { [$0] } ?? []
    return try emitter.add(
      Linear(epilogue: Epilogue(hasBias: !bias.isEmpty)),
      [x, emitter.cast(weights, to: emitter.scalar(x), step: "weights")] + bias)
  }

  /// Returns the bytes of an input that is a constant of uint8.
  func knownBytes(_ index: Int) throws -> Bytes {
    guard case .dense(let tensor)? = emitter.weight(try input(index))?.encoding, tensor.type.scalar == .uint8 else {
      throw unsupported("its weights (input \(index)) are not constant bytes, but \(emitter.type(try input(index)))")
    }
    return tensor.bytes
  }

  /// `scale · (code - zero)`, with codes from the lowest bits of each byte on. Omitted zero points are the midpoint of
  /// the codes.
  func blockWeight(_ form: BlockLayout, _ bytes: Bytes, scale: Weight, zero: Weight?) throws -> Weight {
    let (grid, bits): (Shape, Int) = ([form.rows, form.blocks], form.bits)
    guard grid.isAddressable, scale.type.count == grid.count, zero.map({ $0.type.shape == grid }) ?? true else {
      throw emitter.invalid("scales \(scale.type) for \(form.rows) rows of \(form.blocks) blocks")
    }
    let codes = Weight(try PackedIntegers(bytes, bits: bits, shape: [form.rows, form.wholeDepth]))
    let type = TensorType(.uint8, grid)
    let middle = Weight(type, recipe: WeightRecipe("middle of \(bits) bits \(grid)", [])) {
      Tensor(type, Bytes([UInt8](repeating: 1 << (bits - 1), count: type.count)))
    }
    return try Weight(affine: codes, scale: scale.reshaped(to: grid), offset: zero ?? middle)
  }

  /// Returns the zero points of an input: packed like the codes, each row in separate bytes, or numbers; nil if they
  /// are omitted.
  fileprivate func blockZeros(_ form: BlockLayout, _ index: Int) throws -> Weight? {
    guard let id = optional(index) else { return nil }
    guard let zero = emitter.weight(id) else { throw unsupported("its zero points are not constant") }
    if zero.type.scalar == .uint8 {
      return try packedRows(try knownBytes(index), bits: form.bits, [form.rows, form.blocks])
    }
    guard zero.type.count == Shape([form.rows, form.blocks]).count else {
      throw emitter.invalid("zero points \(zero.type) for \(form.rows) rows of \(form.blocks) blocks")
    }
    return zero.reshaped(to: [form.rows, form.blocks])
  }

  /// Returns low-bit integers, each row in separate bytes.
  func packedRows(_ bytes: Bytes, bits: Int, _ shape: Shape) throws -> Weight {
    // The number of integers that fill the last byte of a row.
    let room = (shape[1] * bits + 7) / 8 * 8 / bits
    let all = Weight(try PackedIntegers(bytes, bits: bits, shape: [shape[0], room]))
    if room == shape[1] { return all }
    return Weight(
      TensorType(.uint8, shape), from: [all], recipe: WeightRecipe("first columns \(shape)", [all]), quantizedBits: bits
    ) { all.dense().part(Part.Operand(axis: 1, range: 0..<shape[1])) }
  }
}

extension Emitter {
  /// Unpacks low-bit integers from bytes, along the last axis, from the lowest bits on.
  func unpacked(_ x: ValueID, bits: Int, step: String) throws -> ValueID {
    guard bits < 8 else { return x }
    let sizes = shape(x)
    guard scalar(x) == .uint8, let width = sizes.dimensions.last else {
      throw invalid("\(type(x)) are not packed bytes")
    }
    let raised = try reshape(x, Shape(sizes.dimensions + [1]), step: "\(step)_bytes")
    let count = 8 / bits
    let shifts = try table(.uint8, [count], step: "\(step)_shifts") { (0..<count).map { Double($0 * bits) } }
    let moved = try binary(.shiftRight, raised, shifts, step: "\(step)_moved")
    let mask = constant(Double(1 << bits - 1), .uint8, step: "\(step)_mask")
    let parts = try binary(.logicalAnd, moved, mask, step: "\(step)_parts")
    return try reshape(parts, Shape(sizes.dimensions.dropLast() + [width * count]), step: step)
  }
}
