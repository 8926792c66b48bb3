import Kelvin
import KelvinBasics
import KelvinEngine
package import KelvinFeatures
package import KelvinGraph

/// A single row of a table.
package struct TableRow: Sendable {
  /// The table's name for error messages.
  package let table: String
  package let columns: [String]
  let rows: DelimitedRows
  let row: DelimitedRows.Row

  /// The line on which the row begins.
  package var line: Int { row.line }

  /// Returns the first rows of a table, in order.
  ///
  /// - Parameter count: the maximum number of rows; later rows are not checked.
  /// - Throws: `ModelError` with code `io` for a file that cannot be read, or a row of another length than the first.
  package static func first(
    _ count: Int = .max, in path: String, separator: UInt8 = UInt8(ascii: ",")
  ) throws(ModelError) -> (columns: [String], rows: [TableRow]) {
    let stream = try ModelError.wrapping { try ByteStream(path) }
    var reader = try TableReader(stream, separator: separator, nil)
    var all: [TableRow] = []
    while all.count < count, let block = try reader.next(1 << 20) {
      let (cut, rows) = try reader.rows(of: block)
      for row in rows.prefix(count - all.count) {
        guard row.count == reader.columns.count else {
          throw ModelError(
            .io, "'\(path)', line \(row.line): it has \(counted(row.count, "cell")), expected \(reader.columns.count)")
        }
        all.append(TableRow(table: path, columns: reader.columns, rows: cut, row: row))
      }
    }
    return (reader.columns, all)
  }

  /// The contents of the cells.
  package var texts: [String] { columns.indices.map(path) }

  /// Returns a cell's contents as a path, which may contain arbitrary bytes.
  package func path(_ column: Int) -> String { String(pathBytes: rows.content(of: rows.fields[row.first + column])) }

  /// Returns the number in a cell.
  ///
  /// - Throws: `ModelError` with code `featureType` if the cell is not a number.
  package func number(_ column: Int) throws(ModelError) -> Double {
    let number = rows.withBytes(of: rows.fields[row.first + column], NumberText.double)
    guard let number, number.isFinite else {
      let place = TableFault(
        line: line, column: columns[column],
        reason: "expected a number, got '\(path(column).prefix(40))'; write digits such as 12, -0.5 or 1e-3")
      throw ModelError(.featureType, "'\(table)', \(place.description)")
    }
    return number
  }
}

/// Reads rows as the inputs of a function.
package struct TableRowReader: Sendable {
  /// The columns that inputs are read from.
  package let usedColumns: Set<Int>
  package let columns: [String]
  private let inputs: TableInputs
  private let files: FeatureReader

  /// - Parameter row: a row of the table to read.
  /// - Throws: `ModelError` that names a column that is missing or duplicated, or an input that a table cannot provide.
  package init(_ function: Function, rowsLike row: TableRow) throws(ModelError) {
    let table = TableReader.Form(name: row.table, separator: UInt8(ascii: ","))
    inputs = try TableInputs(function, columns: row.columns, given: nil, kept: [], of: table)
    files = FeatureReader(function)
    usedColumns = inputs.usedColumns
    columns = row.columns
  }

  /// Returns the values of a row without omitted inputs. An array may be given as the path of a `.npy` file, relative
  /// to the table's folder.
  ///
  /// - Throws: `ModelError` with code `featureType` that names line and column.
  package func values(of row: TableRow) throws(ModelError) -> [String: FeatureValue] {
    let cells = TableCells(table: inputs, rows: row.rows)
    var values: [String: FeatureValue] = [:]
    for input in inputs.inputs {
      if let file = file(input, row) {
        values[input.feature.name] = try array(input, file)
        continue
      }
      do throws(TableFault) { values[input.feature.name] = try cells.value(input, of: row.row) } catch {
        throw ModelError(.featureType, "'\(row.table)', \(error.description)")
      }
    }
    return values
  }

  /// Returns the path of the file that contains an array.
  private func file(_ input: TableInputs.Input, _ row: TableRow) -> String? {
    guard case .tensor = input.feature.type, case .cell(let column) = input.source else { return nil }
    let path = row.path(column)
    return path.utf8.suffix(4).elementsEqual(".npy".utf8) ? row.table.siblingPath(path) : nil
  }

  private func array(_ input: TableInputs.Input, _ path: String) throws(ModelError) -> FeatureValue? {
    try files.read([(name: input.feature.name, text: path)], mayLackSome: true).dictionary[input.feature.name]
  }
}
