/// A palettized weight: elements, or vectors of elements, that indices select from tables.
///
/// `w[…] = table[block of …][indices[…]]`: the tables are in a grid that divides the indices into blocks, with one
/// table per block. If entries are vectors, each index stands for several elements along `vectorAxis`.
package struct PalettizedWeight: Sendable {
  /// The indices, of type uint8.
  package let indices: Weight
  /// `[blocks along each axis of the indices …, table length, vector size]`
  package let table: Weight
  package let vectorAxis: Int
  private let grid: BlockGrid
  private var tableLength: Int { table.type.shape[table.type.shape.rank - 2] }
  private var vectorSize: Int { table.type.shape[table.type.shape.rank - 1] }

  fileprivate init(_ indices: Weight, _ table: Weight, _ vectorAxis: Int, _ grid: BlockGrid) {
    self.indices = indices
    self.table = table
    self.vectorAxis = vectorAxis
    self.grid = grid
  }

  func dense() -> Tensor {
    var shape = indices.type.shape
    if vectorSize > 1 { shape[vectorAxis] *= vectorSize }
    let type = TensorType(table.type.scalar, shape)
    let table = table.dense()
    return Tensor(
      type,
      Bytes(count: type.byteCount) { target in
        switch type.scalar.byteCount {
        case 1: look(up: UInt8.self, in: table, target)
        case 2: look(up: UInt16.self, in: table, target)
        case 4: look(up: UInt32.self, in: table, target)
        default: look(up: UInt64.self, in: table, target)
        }
      })
  }

  private func look<T: BitwiseCopyable>(up: T.Type, in table: Tensor, _ target: UnsafeMutableRawBufferPointer) {
    let output = target.bindMemory(to: T.self)
    let (length, size) = (tableLength, vectorSize)
    let entries = table.bytes.aligned(to: T.self)
    let inner = indices.type.shape.dimensions[min(vectorAxis + 1, indices.type.shape.rank)...].reduce(1, *)
    withExtendedLifetime(entries) {
      guard let output = output.baseAddress else { return }
      let entries = entries.baseAddress.assumingMemoryBound(to: T.self)
      indices.forEachCode(grid) { start, codes, count, block in
        let own = entries + block * length * size
        if size == 1 {
          for index in 0..<count { output[start + index] = own[Int(codes[index])] }
        } else {
          for index in 0..<count {
            let vector = own + Int(codes[index]) * size
            let place = (start + index) / inner * size * inner + (start + index) % inner
            for part in 0..<size { output[place + part * inner] = vector[part] }
          }
        }
      }
    }
  }
}

extension Weight {
  /// Creates the weight.
  ///
  /// - Parameters:
  ///   - indices: uint8 elements, usually packed ones.
  ///   - table: The entries, `[blocks along each axis of the indices …, at least 2^bits, vector size]`.
  ///   - vectorAxis: The axis of the vectors, whose size is multiplied by theirs.
  /// - Throws: `GraphError` if the arguments do not match each other.
  package init(palettized indices: Weight, table: Weight, vectorAxis: Int? = nil) throws(GraphError) {
    let (shape, tables) = (indices.type.shape, table.type.shape)
    func invalid(_ reason: String) -> GraphError { GraphError("palettized weight", reason) }
    guard indices.type.scalar == .uint8 else {
      throw invalid("indices are \(indices.type), expected integers of 1 to 8 bits")
    }
    guard tables.rank == shape.rank + 2,
      let grid = BlockGrid(shape, blocks: Shape(Array(tables.dimensions.dropLast(2))))
    else { throw invalid("tables \(tables) do not divide indices \(shape) into blocks") }
    let (length, size) = (tables[shape.rank], tables[shape.rank + 1])
    guard length >= 1 << indices.quantizedBits else {
      throw invalid(
        "tables have \(length) entries, indices of \(indices.quantizedBits) bits need \(1 << indices.quantizedBits)")
    }
    guard size >= 1 else { throw invalid("tables \(tables) have empty entries") }
    let axis = shape.normalized(axis: vectorAxis ?? shape.rank - 1)
    guard size == 1 || (axis != nil && vectorAxis != nil) else {
      throw invalid(
        vectorAxis.map { "vector axis \($0) is not an axis of \(shape)" } ?? "vectors of \(size) elements need an axis")
    }
    var result = shape
    if let axis, size > 1 {
      let (grown, overflow) = shape[axis].multipliedReportingOverflow(by: size)
      guard !overflow else { throw invalid("vectors of \(size) elements are too large") }
      result[axis] = grown
    }
    try self.init(
      .palettized(PalettizedWeight(indices, table, axis ?? 0, grid)), TensorType(table.type.scalar, result),
      of: [indices, table])
  }

  /// The number of bits that suffice for every element of a weight of 8-bit integers.
  package var quantizedBits: Int {
    switch encoding {
    case .packed(let integers): integers.bits
    case .sparse(let sparse): sparse.values.quantizedBits
    case .selected(let selected): selected.source.quantizedBits
    case .deferred(let deferred): deferred.quantizedBits
    default: 8
    }
  }

  /// Calls `body` with the 8-bit elements of every run of a grid, or part of a run: the index of the first element, the
  /// elements, their number, and the block.
  @inline(__always)
  func forEachCode(
    _ grid: BlockGrid, _ body: (_ start: Int, _ codes: UnsafePointer<UInt8>, _ count: Int, _ block: Int) -> Void
  ) {
    guard case .packed(let integers) = encoding, integers.bits < 8, grid.runLength >= 64 else {
      let tensor = dense()
      tensor.bytes.withUnsafeBytes { raw in
        guard let codes = raw.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        grid.forEachRun { start, count, block in body(start, codes + start, count, block) }
      }
      return
    }
    let window = 8192
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: window) { buffer in
      guard let codes = buffer.baseAddress else { return }
      grid.forEachRun(within: window) { start, count, block in
        integers.unpack(start..<start + count, to: codes)
        body(start, codes, count, block)
      }
    }
  }
}
