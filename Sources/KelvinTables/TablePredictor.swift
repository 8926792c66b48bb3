import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinHostOperations
import KelvinRuntime

/// The output of a block of rows.
struct TableRows: Sendable {
  let bytes: [UInt8]
  let count: Int
  let faults: [TableFault]
}

/// Predicts for a block of rows. If the model is a function of rows, all rows are computed together, else one after
/// another.
struct TablePredictor: Sendable {
  /// The bytes in a block. Blocks are small if each row is a separate prediction, so that progress is visible and
  /// cancellation loses little.
  var blockSize: Int { executor == nil ? 1 << 13 : 1 << 18 }
  /// The number of blocks processed at a time.
  var width: Int { executor == nil ? predictor.batchWidth : max(predictor.loaded.options.request.threads, 1) }

  private let predictor: Predictor
  private let executor: RowExecutor?
  private let inputs: TableInputs
  private let outputs: TableOutputs
  private let separator: UInt8
  private let isSafe: Bool
  private let skipsFaults: Bool

  init(_ prediction: TablePrediction, columns: [String], of table: TableReader.Form) throws(ModelError) {
    predictor = prediction.model.predictor
    let function = prediction.model.function
    inputs = try TableInputs(
      function, columns: columns, given: prediction.columns, kept: prediction.keptColumns, of: table)
    outputs = try TableOutputs(function, separator: table.separator, isSafe: prediction.escapesFormulas)
    executor = RowExecutor(function)
    separator = table.separator
    isSafe = prediction.escapesFormulas
    skipsFaults = prediction.skipsFaultyRows
  }

  /// A table without rows, for text in the form of the output.
  var emptyText: TableText { TableText(separator: separator, isSafe: isSafe) }

  /// The names of the written columns.
  package var names: [String] { inputs.kept.map { inputs.columns[$0] } + outputs.names }
  var remarks: [String] { inputs.remarks }

  /// - Parameter own: the rows to predict for.
  /// - Throws: `TableFault` for a faulty row, unless faulty rows are skipped; `ModelError`.
  func predict(
    _ rows: DelimitedRows, _ own: ArraySlice<DelimitedRows.Row>, _ cancellation: Cancellation?
  ) throws -> TableRows {
    let cells = TableCells(table: inputs, rows: rows)
    guard !own.isEmpty else { return TableRows(bytes: [], count: 0, faults: []) }
    return try executor.map { try together(cells, own, $0) } ?? alone(cells, own, cancellation)
  }

  private func together(
    _ cells: TableCells, _ rows: ArraySlice<DelimitedRows.Row>, _ executor: RowExecutor
  ) throws -> TableRows {
    var numbers = inputs.inputs.map { input in
      var numbers: [Double] = []
      numbers.reserveCapacity(rows.count * (input.width ?? 1))
      return numbers
    }
    var faults: [TableFault] = []
    var isFaulty = [Bool](repeating: false, count: rows.count)
    for (index, row) in rows.enumerated() {
      do throws(TableFault) {
        try cells.check(row)
        for (number, input) in inputs.inputs.enumerated() { try cells.append(input, of: row, to: &numbers[number]) }
      } catch {
        guard skipsFaults else { throw error }
        faults.append(error)
        isFaulty[index] = true
        for (number, input) in inputs.inputs.enumerated() {
          let whole = (index + 1) * (input.width ?? 1)
          numbers[number].removeSubrange(min(numbers[number].count, index * (input.width ?? 1))...)
          numbers[number].append(contentsOf: repeatElement(0, count: whole - numbers[number].count))
        }
      }
    }
    var columns: [String: RowColumn] = [:]
    for (number, input) in inputs.inputs.enumerated() {
      columns[input.feature.name] = RowColumn(
        numbers[number], count: rows.count, width: input.width ?? 1, input.feature.rowScalar)
    }
    let results = try executor.run(columns, count: rows.count)
    try outputs.check(results)
    var text = emptyText
    for (index, row) in rows.enumerated() {
      keep(cells, row, &text)
      if isFaulty[index] {
        text.addEmpty(outputs.columnCount)
      } else {
        outputs.add(results, row: index, to: &text)
      }
      text.endRow()
    }
    return TableRows(bytes: text.bytes, count: rows.count, faults: faults)
  }

  private func alone(
    _ cells: TableCells, _ rows: ArraySlice<DelimitedRows.Row>, _ cancellation: Cancellation?
  ) throws -> TableRows {
    var text = emptyText
    var faults: [TableFault] = []
    for row in rows {
      let start = text.bytes.count
      do {
        let features = try features(cells, row, cancellation)
        keep(cells, row, &text)
        try outputs.add(features, to: &text, line: row.line)
      } catch let fault as TableFault where skipsFaults {
        faults.append(fault)
        text.restartRow(at: start)
        keep(cells, row, &text)
        text.addEmpty(outputs.columnCount)
      }
      text.endRow()
    }
    return TableRows(bytes: text.bytes, count: rows.count, faults: faults)
  }

  /// - Throws: `TableFault`; `ModelError` for an error that does not belong to the row.
  private func features(
    _ cells: TableCells, _ row: DelimitedRows.Row, _ cancellation: Cancellation?
  ) throws -> DictionaryFeatureProvider {
    try cells.check(row)
    var values: [String: FeatureValue] = [:]
    for input in inputs.inputs { values[input.feature.name] = try cells.value(input, of: row) }
    do throws(ModelError) {
      return try predictor.predict(DictionaryFeatureProvider(dictionary: values), [:], cancellation)
    } catch {
      guard error.fault == .data else { throw error }
      throw TableFault(line: row.line, column: nil, reason: error.description)
    }
  }

  private func keep(_ cells: TableCells, _ row: DelimitedRows.Row, _ text: inout TableText) {
    for column in inputs.kept {
      let cell = column < row.count ? cells.rows.text(of: cells.rows.fields[row.first + column]) : nil
      if let cell { text.add(cell) } else { text.addEmpty() }
    }
  }
}

extension Feature {
  /// The type that the feature's numbers are rounded to; float64 for features that are not tensors.
  fileprivate var rowScalar: ScalarType { if case .tensor(let scalar, _) = type { scalar } else { .float64 } }
}
