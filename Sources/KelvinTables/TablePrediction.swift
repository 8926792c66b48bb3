public import FoundationEssentials
public import Kelvin
import KelvinEngine
public import KelvinFeatures
import KelvinRuntime

/// Predicts for every row of a table in a file, which may be larger than memory.
///
/// A table consists of rows of cells separated by commas, and the first row names the columns (RFC 4180; UTF-8, with or
/// without a byte order mark). Each input is read from the column of its name. An array is read from columns `name[0]`,
/// `name[1]` … or from a list such as `[1.5, 2]` in one column. Dictionaries and sequences are JSON. Outputs are
/// written in the same form; a dictionary with known labels becomes one column for each label (`probabilities[cat]`).
///
/// An empty cell omits an optional input. For other inputs it is the number that the model's imputer replaces, or NaN
/// if the model's trees handle missing values. For a string input it is the empty string. In all other cases the row is
/// faulty.
///
/// ```swift
/// let model = try await Model.load(contentsOf: URL(filePath: "Prices.mlmodel"))
/// var table = TablePrediction(model)
/// table.keptColumns = ["id"]
/// let result = try await table.run(from: .file(URL(filePath: "in.csv")), to: .file(URL(filePath: "out.csv")))
/// print(result.rowCount, result.remarks)
/// ```
public struct TablePrediction: Sendable {
  /// A source or destination of a table.
  public enum Place: Hashable, Sendable {
    /// A file or a named pipe.
    case file(URL)
    /// Standard input or standard output.
    case standard
  }

  /// The result of a run over a table.
  public struct Result: Hashable, Sendable {
    /// The number of rows read, including faulty rows.
    public internal(set) var rowCount = 0
    /// The number of faulty rows up to the end or the interruption. The first hundred have a reason in `faults`.
    public internal(set) var faultCount = 0
    /// The reasons why rows were left out, with line and column.
    public internal(set) var faults: [String] = []
    /// The names of the written columns.
    public internal(set) var columns: [String] = []
    /// Remarks about unused columns and inputs without a column.
    public internal(set) var remarks: [String] = []
    /// Whether the run was cancelled. The rows completed by then are at `partialPath`.
    public internal(set) var isCancelled = false
    /// The path of a cancelled run's rows; nil if they went to standard output or a pipe.
    public internal(set) var partialPath: String?
  }

  /// The progress of a run.
  public struct Progress: Hashable, Sendable {
    /// The number of rows whose predictions are written.
    public let rowCount: Int
    /// The fraction of the input that is processed, 0…1; nil if its size is not known.
    public let fraction: Double?
  }

  /// The model.
  public let model: Model
  /// The separator between cells, in both tables.
  public var separator: Character = ","
  /// The columns of inputs whose columns have other names: one column, or for an array one for each element.
  public var columns: [String: [String]] = [:]
  /// The columns of the input that are copied to the output, before the predictions.
  public var keptColumns: [String] = []
  /// Whether a faulty row has empty predictions in the output instead of ending the run.
  public var skipsFaultyRows = false
  /// Whether text that a spreadsheet would take as a formula is preceded by an apostrophe: text that begins with `=`,
  /// `+`, `-`, `@`, a tab or a carriage return, and is not a number. This includes the names of columns.
  public var escapesFormulas = false

  /// Creates predictions of a table by a model.
  public init(_ model: Model) { self.model = model }

  /// Predicts for every row, in order. Blocks the calling thread.
  ///
  /// The output file is replaced only once the new one is complete. After an error the existing file is unchanged.
  ///
  /// - Parameters:
  ///   - input: the table to read.
  ///   - output: the destination of the predictions, which must be another file.
  ///   - progress: called with the progress, on any thread.
  /// - Throws: `ModelError`: `io` for a file that cannot be read or written, `featureType` for a faulty row, with its
  ///   line and column, `parameters` for options that do not fit the table.
  public func run(
    from input: Place, to output: Place, progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) throws(ModelError) -> Result {
    try TableRun(self, from: input, to: output, progress, nil).result()
  }

  /// Predicts for every row, in order, without blocking the calling task's thread. If the task is cancelled, the
  /// completed rows are kept and `Result.isCancelled` is true.
  ///
  /// - Parameters:
  ///   - input: the table to read.
  ///   - output: the destination of the predictions, which must be another file.
  ///   - progress: called with the progress, on any thread.
  /// - Throws: `ModelError` as the blocking method does.
  public func run(
    from input: Place, to output: Place, progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws(ModelError) -> Result {
    try await BlockingWork.run { (cancellation) throws(ModelError) -> Result in
      try TableRun(self, from: input, to: output, progress, cancellation).result()
    }
  }
}
