import CKelvinKernels

/// The items of a matrix product: pieces of columns that fit the second-level cache once packed, and pieces of rows if
/// there are too few pieces of columns for the threads.
struct ProductSchedule {
  private(set) var rowChunk: Int
  private(set) var columnChunk: Int
  let depthChunk: Int
  let items: Int
  /// Bytes of scratch that a thread needs for packed columns.
  let threadByteCount: Int

  /// - Parameters:
  ///   - width: columns that are computed together.
  ///   - height: rows that are computed together.
  init(
    rows: Int, columns: Int, depth: Int, batches: Int, threads: Int, width: Int, height: Int = Int(ck_gemm_rows),
    depthLimit: Int = Self.depthLimit
  ) {
    depthChunk = max(1, min(depth, depthLimit))
    let panels = max(1, parts(columns, of: width))
    var panelsPerChunk = min(panels, max(1, Self.packedByteLimit / (4 * depthChunk * width)))
    rowChunk = parts(max(rows, 1), of: height) * height
    if threads > 1 {
      let wanted = parts(Self.itemsPerThread * threads, of: max(batches, 1))
      panelsPerChunk = max(1, min(panelsPerChunk, panels / wanted))
      let columnChunks = parts(panels, of: panelsPerChunk)
      if columnChunks < wanted {
        // Each piece of rows packs the columns again, so a product that is cut by rows has all columns in one piece.
        panelsPerChunk = min(panels, max(1, Self.packedByteLimit / (4 * depthChunk * width)))
        let rowPieces = min(
          parts(parts(Self.rowPiecesPerThread * threads, of: max(batches, 1)), of: parts(panels, of: panelsPerChunk)),
          max(1, rows / Self.smallestRowChunk))
        rowChunk = parts(parts(max(rows, 1), of: rowPieces), of: height) * height
      }
    }
    // Tiles multiply faster than rows come from memory, so those of a piece stay in the second-level cache.
    if height > Int(ck_gemm_rows) {
      rowChunk = min(rowChunk, max(1, Self.rowByteLimit / (4 * depthChunk * height)) * height)
    }
    columnChunk = panelsPerChunk * width
    items = rows == 0 || columns == 0 ? 0 : batches * parts(rows, of: rowChunk) * parts(columns, of: columnChunk)
    threadByteCount = 4 * columnChunk * depthChunk
  }

  func apply(to arguments: inout ck_gemm_args) {
    arguments.row_chunk = rowChunk
    arguments.column_chunk = columnChunk
    arguments.depth_chunk = depthChunk
  }

  static let depthLimit = 512
  private static let packedByteLimit = 192 << 10
  private static let rowByteLimit = 1 << 20
  private static let itemsPerThread = 4
  /// The number is small, because each piece of rows packs its columns again.
  private static let rowPiecesPerThread = 2
  private static let smallestRowChunk = 32
}
