public import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinIndex

/// Rows of a CSV file: the inputs of a model by their names, and the number that is right.
public struct RegressionTable: EvaluationDataset {
  /// A row.
  public struct Row: EvaluationExample {
    /// `line 7`, or the picture that is in it.
    public let name: String
    let line: Int
    /// By column.
    let texts: [String: String]
    /// Pictures among them, by column, where they lie.
    let pictures: [String: String]
  }

  public let examples: [Row]
  public let remarks: [String] = []
  /// The names above the columns, in order.
  public let columns: [String]

  /// A table.
  ///
  /// - Parameter url: a CSV file with names above its columns. Columns are called as the models' inputs are; what is right
  ///   stands in the column `target`, else in one called as the models' output, else in the only one that is no input. Pictures
  ///   are paths relative to the file.
  /// - Throws: `VisionError.invalidRequest` for a file that cannot be read, or whose rows are of other lengths.
  public init(contentsOf url: URL) throws(VisionError) {
    let path = url.relativePath
    let data: Data
    do throws(ModelError) { data = try LocalFile.read(path) } catch { throw .invalidRequest(error.description) }
    let table: DelimitedText
    do throws(DelimitedText.Fault) { table = try DelimitedText(data) } catch {
      throw .invalidRequest("'\(path)', line \(error.line): \(error.reason)")
    }
    guard let heading = table.rows.first, table.rows.count > 1 else {
      throw .invalidRequest("'\(path)' has no rows; expected names of columns, and a row for each example")
    }
    let columns = heading.fields
    guard Set(columns).count == columns.count else {
      throw .invalidRequest("'\(path)', line \(heading.line): two columns have one name")
    }
    var examples: [Row] = []
    for row in table.rows.dropFirst() {
      guard row.fields.count == columns.count else {
        throw .invalidRequest(
          "'\(path)', line \(row.line): expected \(columns.count) fields, found \(row.fields.count)")
      }
      var (texts, pictures): ([String: String], [String: String]) = ([:], [:])
      for (column, text) in zip(columns, row.fields) {
        texts[column] = text
        if FolderWalk.isPicture(text) {
          pictures[column] = text.isRootedPath ? text : path.parentPath.appendingPath(text)
        }
      }
      let picture = columns.lazy.compactMap { pictures[$0] }.first
      examples.append(Row(name: picture ?? "line \(row.line)", line: row.line, texts: texts, pictures: pictures))
    }
    (self.examples, self.columns) = (examples, columns)
  }
}
