public import FoundationEssentials
import KelvinEngine
public import KelvinFeatures
import KelvinRuntime

/// Predictions for every row of a table in a file, which may be larger than memory.
///
/// A table is rows of cells between commas, the first of which names the columns (RFC 4180; UTF-8, with a byte order mark or
/// without). Each input is read from the column of its name, an array from columns `name[0]`, `name[1]` … or from lists such as
/// `[1.5, 2]` in one; dictionaries and sequences are JSON. Outputs become columns in the same way, a dictionary of known
/// labels one for each (`probabilities[cat]`).
///
/// An empty cell of an optional input leaves it out. Of another it is the number that an imputer of the model replaces, or
/// none where trees have a way for that; of a text it is an empty one; else it is a fault of its row.
///
/// ```swift
/// let model = try await Model.load(contentsOf: URL(filePath: "Prices.mlmodel"))
/// var table = TablePrediction(model)
/// table.keptColumns = ["id"]
/// let result = try await table.run(from: .file(URL(filePath: "in.csv")), to: .file(URL(filePath: "out.csv")))
/// print(result.rowCount, result.remarks)
/// ```
public struct TablePrediction: Sendable {
  /// Where a table is read from or written to.
  public enum Place: Hashable, Sendable {
    /// A file, or a pipe that has a name.
    case file(URL)
    /// Standard input or standard output.
    case standard
  }

  /// What came of it.
  public struct Result: Hashable, Sendable {
    /// Rows that were read, whether or not there is a prediction for them.
    public internal(set) var rowCount = 0
    /// Rows that were left out, all of them or, after an interruption, those so far; the first hundred have their reasons.
    public internal(set) var faultCount = 0
    /// Why rows were left out, with line and column.
    public internal(set) var faults: [String] = []
    /// The names of the columns that were written.
    public internal(set) var columns: [String] = []
    /// What should be known once: columns that nothing is read from, inputs without one.
    public internal(set) var remarks: [String] = []
    /// Whether it was cancelled before the end. The rows that were done by then lie at `partialPath`.
    public internal(set) var isCancelled = false
    /// Where the rows of a cancelled run lie; nil where they went to standard output or a pipe.
    public internal(set) var partialPath: String?
  }

  /// How far it has come.
  public struct Progress: Hashable, Sendable {
    /// Rows whose predictions are written.
    public let rowCount: Int
    /// How much of the input is done, 0…1; nil where its size is not known.
    public let fraction: Double?
  }

  /// The model.
  public let model: Model
  /// What stands between cells, in both tables.
  public var separator: Character = ","
  /// The columns that inputs are read from where these have other names: one, or for an array one for each number.
  public var columns: [String: [String]] = [:]
  /// Columns of the input that are copied to the output, before the predictions.
  public var keptColumns: [String] = []
  /// Whether a row that is at fault is left empty in the output, in place of ending all.
  public var skipsFaultyRows = false

  /// Predictions by a model.
  public init(_ model: Model) { self.model = model }

  /// Predicts for every row, in order. Blocks the calling thread.
  ///
  /// The output is put in place when it is whole: until then, and where something fails, what was there is there still.
  ///
  /// - Parameters:
  ///   - input: the table that is read.
  ///   - output: where the predictions go; not the same file.
  ///   - progress: told how far it has come, on any thread.
  /// - Throws: `ModelError`: `io` for a file that cannot be read or written, `featureType` for a row that is at fault, with
  ///   its line and column, `parameters` for options that do not fit the table.
  public func run(
    from input: Place, to output: Place, progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) throws(ModelError) -> Result {
    try TableRun(self, from: input, to: output, progress, nil).result()
  }

  /// Predicts for every row, in order, without blocking the calling task's thread. Where the task is cancelled, the rows that
  /// are done are kept and `Result.isCancelled` says so.
  ///
  /// - Parameters:
  ///   - input: the table that is read.
  ///   - output: where the predictions go; not the same file.
  ///   - progress: told how far it has come, on any thread.
  /// - Throws: `ModelError` as the blocking form does.
  public func run(
    from input: Place, to output: Place, progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws(ModelError) -> Result {
    try await BlockingWork.run { (cancellation) throws(ModelError) -> Result in
      try TableRun(self, from: input, to: output, progress, cancellation).result()
    }
  }
}
