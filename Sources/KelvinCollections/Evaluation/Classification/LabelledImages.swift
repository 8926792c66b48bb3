public import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinIndex
public import KelvinVision

/// Images with known classes: a folder for each class, a CSV file with an image and its class on each line, or a COCO
/// document.
public struct LabelledImages: EvaluationDataset {
  /// An image with its class.
  public struct Image: Hashable, EvaluationExample {
    /// The path of the file.
    public var path: String
    /// The path of the file.
    public var name: String { path }
    /// The class, as the data set names it.
    public var label: String
    /// The folder of the data set that the file was found in; nil if a document names it.
    public internal(set) var folder: String?
  }

  /// The images, in the data set's order.
  public let images: [Image]
  /// The images, under the name that all data sets use.
  public var examples: [Image] { images }
  /// Remarks about images that were left out.
  public let remarks: [String]

  /// The classes, sorted by name.
  public var labels: [String] { Set(images.map(\.label).exact).sorted().map(\.string) }

  /// Reads a data set.
  ///
  /// - Parameter url: One of three layouts. A folder: its subfolders are classes and contain their images at any depth.
  ///   A CSV file: lines are `image,class`, with or without a header, and paths are relative to the file. A JSON
  ///   document: it has `images`, `annotations` and `categories`, and an image counts if all its annotations have the
  ///   same category.
  /// - Throws: `VisionError.invalidRequest` where there are no such images; it says what was expected.
  public init(contentsOf url: URL) throws(VisionError) {
    let path = url.relativePath
    var status = stat()
    guard stat(path.pathBytes, &status) == 0 else {
      throw .invalidRequest("'\(path)' cannot be read: \(String(cString: strerror(errno)))")
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      (images, remarks) = try Self.folders(path)
    } else {
      let data: Data
      do throws(ModelError) { data = try LocalFile.read(path) } catch { throw .invalidRequest(error.description) }
      (images, remarks) = try COCODocument.begins(data) ? Self.document(data, path) : Self.lines(data, path)
    }
    guard !images.isEmpty else {
      throw .invalidRequest(
        "'\(path)' has no labelled images; expected a folder for each class, lines 'image,class', or a COCO "
          + "document")
    }
  }

  private typealias Found = (images: [Image], remarks: [String])

  private static func folders(_ path: String) throws(VisionError) -> Found {
    let file = IndexFile(folder: path)
    let walk = try indexing { () throws(PhotoIndexError) in
      try FolderScan(path, followsLinks: false, found: { _ in }, isCancelled: { false })
    }
    var remarks = walk.faults.map { "'\(file.path(of: $0.path))': \($0.reason)" }
    var images: [Image] = []
    var loose = 0
    for entry in walk.entries {
      let parts = entry.path.pathParts
      guard parts.count > 1 else {
        loose += 1
        continue
      }
      images.append(Image(path: file.path(of: entry.path), label: parts[0], folder: path))
    }
    if loose > 0 {
      remarks.append("\(loose) image\(loose == 1 ? "" : "s") outside the folders of classes: not counted")
    }
    return (images, remarks)
  }

  private static let imageColumns: Set = ["image", "picture", "path", "file", "filename", "file_name"]
  private static let labelColumns: Set = ["label", "class", "category", "identifier"]

  private static func lines(_ data: Data, _ path: String) throws(VisionError) -> Found {
    let text: DelimitedText
    do throws(DelimitedText.Fault) { text = try DelimitedText(data) } catch {
      throw .invalidRequest("'\(path)', line \(error.line): \(error.reason)")
    }
    var rows = text.rows[...]
    var (image, label) = (0, 1)
    if let names = rows.first?.fields.map({ $0.lowercased() }),
      let first = names.firstIndex(where: imageColumns.contains),
      let second = names.firstIndex(where: labelColumns.contains)
    {
      (image, label) = (first, second)
      rows = rows.dropFirst()
    }
    var images: [Image] = []
    for row in rows {
      guard row.fields.count > max(image, label) else {
        throw .invalidRequest(
          "'\(path)', line \(row.line): expected an image and its class, found \(counted(row.fields.count, "field"))")
      }
      images.append(Image(path: path.siblingPath(row.fields[image]), label: row.fields[label]))
    }
    return (images, [])
  }

  private static func document(_ data: Data, _ path: String) throws(VisionError) -> Found {
    let document = try COCODocument(data, at: path)
    let names = document.names
    let classes = document.annotationsByImage.mapValues { Set($0.map(\.categoryId)) }
    var images: [Image] = []
    var ambiguous = 0
    for image in document.images {
      guard let found = classes[image.id], found.count == 1, let id = found.first, let name = names[id] else {
        ambiguous += 1
        continue
      }
      images.append(Image(path: document.path(of: image, in: path), label: name))
    }
    let noun = ambiguous == 1 ? "image" : "images"
    return (images, ambiguous == 0 ? [] : ["\(ambiguous) \(noun) without exactly one class: not counted"])
  }
}
