public import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinIndex
import KelvinTables
public import KelvinVision

/// The rows of a CSV file: a model's inputs by name, and the correct number.
public struct RegressionTable: EvaluationDataset {
  /// A row of the table.
  public struct Row: EvaluationExample {
    /// The path of the row's first image; `line 7` for a row without images.
    public let name: String
    let cells: TableRow
    /// The paths of the row's images, by column name.
    let images: [String: String]
  }

  public let examples: [Row]
  public let remarks: [String] = []
  /// The names of the columns, in order.
  public let columns: [String]

  /// Reads a table.
  ///
  /// - Parameter url: A CSV file with a header. Columns have the names of the models' inputs and are read as
  ///   `TablePrediction` reads them, except for files of arrays (`.npy`). The correct number is in the column `target`,
  ///   else in the column named as the model's output, else in the only column that is not an input. Image paths are
  ///   relative to the file.
  /// - Throws: `VisionError.invalidRequest` for a file that cannot be read, or whose rows differ in length.
  public init(contentsOf url: URL) throws(VisionError) {
    let path = url.relativePath
    let (columns, rows): ([String], [TableRow])
    do throws(ModelError) { (columns, rows) = try TableRow.first(in: path) } catch {
      throw .invalidRequest(error.description)
    }
    guard Set(columns).count == columns.count else {
      throw .invalidRequest("'\(path)': two columns have the same name")
    }
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
