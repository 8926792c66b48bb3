import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinFeatures
import KelvinRuntime

/// Reads the names of a table's columns, then the table's rows in blocks.
struct TableReader {
  /// Complete rows as the file contains them.
  struct Block: Sendable {
    fileprivate let bytes: DelimitedCutter.Block
    /// Whether the block's first row contains the column names.
    fileprivate let hasNames: Bool
    /// The fraction of the input read up to this block's end, 0…1; nil if its size is not known.
    let fraction: Double?
  }

  /// The table's name for error messages, and its separator.
  struct Form: Sendable {
    let name: String
    let separator: UInt8

    /// Returns an error about the whole table.
    func fault(_ reason: String) -> ModelError { ModelError(.io, "'\(name)': \(reason)") }
  }

  let form: Form
  /// The column names in the first row.
  let columns: [String]
  private let stream: ByteStream
  private let cancellation: Cancellation?
  private var cutter: DelimitedCutter
  /// The first block, which was read for the column names.
  private var first: Block?

  /// - Parameter cancellation: ends the wait for more bytes of a pipe.
  /// - Throws: `ModelError` with code `io` if the table cannot be read, or has no row of names.
  init(_ stream: ByteStream, separator: UInt8, _ cancellation: Cancellation?) throws(ModelError) {
    (self.stream, self.cancellation) = (stream, cancellation)
    form = Form(name: stream.name, separator: separator)
    cutter = DelimitedCutter(separator: separator)
    // Reads no more than the names need, so that a pipe's first rows are processed before its last ones arrive.
    guard let bytes = try Self.cut(&cutter, stream, size: 1 << 12, cancellation) else {
      throw ModelError(.io, "'\(stream.name)' is empty; expected a row with the names of columns")
    }
    columns = try Self.names(in: bytes, form)
    first = Block(bytes: bytes, hasNames: true, fraction: Self.fraction(of: stream))
  }

  /// Returns the next rows; nil at the end.
  ///
  /// - Parameter size: the approximate number of bytes.
  /// - Throws: `ModelError` with code `io`.
  mutating func next(_ size: Int) throws(ModelError) -> Block? {
    if let first {
      self.first = nil
      return first
    }
    return try Self.cut(&cutter, stream, size: size, cancellation).map {
      Block(bytes: $0, hasNames: false, fraction: Self.fraction(of: stream))
    }
  }

  /// Returns the rows of a block, without the row of names.
  ///
  /// - Throws: `ModelError` with code `io` that names the line of an unterminated quoted field, or of a quoted field
  ///   followed by text.
  func rows(of block: Block) throws(ModelError) -> (DelimitedRows, rows: ArraySlice<DelimitedRows.Row>) {
    try form.rows(of: block)
  }

  private static func fraction(of stream: ByteStream) -> Double? {
    stream.byteCount.map { Double(stream.position) / Double(max($0, 1)) }
  }

  private static func cut(
    _ cutter: inout DelimitedCutter, _ stream: ByteStream, size: Int, _ cancellation: Cancellation?
  ) throws(ModelError) -> DelimitedCutter.Block? {
    do {
      return try cutter.next(size) { try stream.read($0, cancellation) }
    } catch let error as DelimitedCutter.Overlong {
      throw ModelError(
        .io, "'\(stream.name)', line \(error.line): the row that begins here does not end; is a quote missing?")
    } catch {
      throw ModelError(error)
    }
  }

  private static func names(in block: DelimitedCutter.Block, _ form: Form) throws(ModelError) -> [String] {
    let rows = try form.rows(of: block)
    guard let first = rows.rows.first else {
      throw ModelError(.io, "'\(form.name)' has no rows; expected one with the names of columns")
    }
    var names: [String] = []
    for field in rows.fields[first.first..<first.first + first.count] {
      guard let text = rows.text(of: field) else {
        throw ModelError(
          .io,
          "'\(form.name)', line \(first.line): the names of columns are not UTF-8; convert the file: iconv -f LATIN1 -t UTF-8"
        )
      }
      names.append(text)
    }
    return names
  }
}

extension TableReader.Form {
  /// - Throws: `ModelError` with code `io` naming the line.
  func rows(
    of block: TableReader.Block
  ) throws(ModelError) -> (DelimitedRows, rows: ArraySlice<DelimitedRows.Row>) {
    let rows = try rows(of: block.bytes)
    return (rows, rows.rows.dropFirst(block.hasNames ? 1 : 0))
  }

  fileprivate func rows(of block: DelimitedCutter.Block) throws(ModelError) -> DelimitedRows {
    do throws(DelimitedRows.Fault) {
      return try DelimitedRows(block.bytes, separator: separator, firstLine: block.firstLine)
    } catch {
      throw ModelError(.io, "'\(name)', line \(error.line): \(error.reason)")
    }
  }
}
