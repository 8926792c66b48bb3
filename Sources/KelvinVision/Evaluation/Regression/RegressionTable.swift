#if Collections
public import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinIndex

/// Rows of a CSV file: the inputs of a model by their names, and the number that is right.
public struct RegressionTable: EvaluationDataset {
  /// A row.
  public struct Row: EvaluationExample {
    /// `line 7`, or the image that is in it.
    public let name: String
    let cells: TableRow
    /// Images among them, by column, where they lie.
    let images: [String: String]
  }

  public let examples: [Row]
  public let remarks: [String] = []
  /// The names above the columns, in order.
  public let columns: [String]

  /// A table.
  ///
  /// - Parameter url: a CSV file with names above its columns. Columns are called as the models' inputs are, and read as
  ///   `TablePrediction` reads them, but for files of arrays (`.npy`); what is right stands in the column `target`, else in
  ///   one called as the models' output, else in the only one that is no input. Images are paths relative to the file.
  /// - Throws: `VisionError.invalidRequest` for a file that cannot be read, or whose rows are of other lengths.
  public init(contentsOf url: URL) throws(VisionError) {
    let path = url.relativePath
    let (columns, rows): ([String], [TableRow])
    do throws(ModelError) { (columns, rows) = try TableRow.first(in: path) } catch {
      throw .invalidRequest(error.description)
    }
    guard Set(columns).count == columns.count else { throw .invalidRequest("'\(path)': two columns have one name") }
    guard !rows.isEmpty else {
      throw .invalidRequest("'\(path)' has no rows below the names of its columns; expected one for each example")
    }
    examples = rows.map { row in
      var images: [String: String] = [:]
      for (place, column) in columns.enumerated() {
        let text = row.path(place)
        if FolderScan.isImage(text) { images[column] = path.siblingPath(text) }
      }
      let image = columns.lazy.compactMap { images[$0] }.first
      return Row(name: image ?? "line \(row.line)", cells: row, images: images)
    }
    self.columns = columns
  }
}
#endif
