public import FoundationEssentials
package import Kelvin
package import KelvinBasics
package import KelvinHostOperations

/// The precision and recall of a classifier's classes at thresholds of confidence, as an evaluation measured them.
///
/// Curves in the model itself (Core ML's class confidence thresholding) take precedence over curves in its metadata,
/// under the key `kelvin.precisionRecallCurves`. These take precedence over a file next to the model,
/// `MODEL.curves.json`. Metadata and file have the same JSON format:
///
/// ```json
/// {"format": "kelvin-curves", "version": 1, "classes": {"otter": {"precision": [[0.1, 0.62], [0.5, 0.91]],
///                                                                 "recall": [[0.1, 0.98], [0.5, 0.84]]}}}
/// ```
///
/// A point is a confidence and a share, 0…1, for answers of at least this confidence. Precision is the share of these
/// answers that were right; recall is the share of the class's images that they found.
public struct PrecisionRecallCurves: Hashable, Sendable {
  package let byLabel: [ExactString: PrecisionRecallCurve]

  /// The classes that have a curve, sorted by name.
  public var identifiers: [String] { byLabel.keys.sorted().map(\.string) }

  private static let metadataKey = "kelvin.precisionRecallCurves"
  private static let suffix = ".curves.json"

  private struct Document: Codable {
    var format: String
    var version: Int
    var classes: [String: CurvePairs]
  }

  /// Reads curves from a file.
  ///
  /// - Throws: `VisionError.invalidModel` where the file cannot be read or is not valid.
  public init(contentsOf url: URL) throws(VisionError) {
    let data: Data
    do throws(ModelError) { data = try LocalFile.read(url.relativePath) } catch {
      throw .invalidModel(error.description)
    }
    try self.init(data, place: "'\(url.relativePath)'")
  }

  private init(_ data: Data, place: String) throws(VisionError) {
    let document: Document
    do { document = try JSONText.decode(Document.self, from: data) } catch {
      throw .invalidModel(
        "\(place) holds no curves of precision and recall; expected {\"format\": \"kelvin-curves\", \"version\": 1, \"classes\": …}"
      )
    }
    guard document.format == "kelvin-curves", document.version == 1 else {
      throw .invalidModel(
        "\(place) has format '\(document.format)' \(document.version); expected 'kelvin-curves' 1")
    }
    var curves: [ExactString: PrecisionRecallCurve] = [:]
    for (label, curve) in document.classes {
      curves[ExactString(label)] = try curve.curve { wrong in
        VisionError.invalidModel(
          "\(place), class '\(label)': \(wrong) is not a point; expected [confidence, share] with a share from 0 to 1")
      }
    }
    byLabel = curves
  }

  package init(_ byLabel: [ExactString: PrecisionRecallCurve]) { self.byLabel = byLabel }

  /// The document that `init(contentsOf:)` reads.
  public var json: Data {
    var classes: [String: CurvePairs] = [:]
    for (label, curve) in byLabel.sorted(by: { $0.key < $1.key }) {
      classes[exact: label.string] = CurvePairs(curve)
    }
    let document = Document(format: "kelvin-curves", version: 1, classes: classes)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Encoding cannot fail, because the document contains only finite numbers and strings.
    return (try? encoder.encode(document)) ?? Data()
  }

  /// Returns the share of classes that have a curve, 0…1; 1 for no classes.
  func share(of labels: [String]) -> Double {
    let known = labels.count { byLabel[ExactString($0)] != nil }
    return labels.isEmpty ? 1 : Double(known) / Double(labels.count)
  }

  /// Returns a remark about the classes without a curve; nil if there are none.
  func remark(about labels: [String]) -> String? {
    let share = share(of: labels)
    guard share < 1 else { return nil }
    let known = share == 0 ? "no class has" : "only \(HumanReadable.percent(share)) of the classes have"
    return "\(known) precision and recall curves, and filters by precision or recall leave out the others; "
      + Self.remedy
  }

  static let remedy = "measure curves with 'kelvin evaluate --save-curves'"

  /// Returns the URL of the file with curves next to a model.
  public static func url(besideModelAt url: URL) -> URL { URL(filePath: url.path + suffix) }

  /// Finds the curves of a model: in the model itself, in its metadata, or in the file next to it; otherwise there are
  /// none.
  ///
  /// - Parameter own: The curves in the model itself, by the labels that its classes are given.
  /// - Throws: `VisionError.invalidModel` where metadata or file exist but are not valid.
  package init(of model: Model, own: [ExactString: PrecisionRecallCurve]) throws(VisionError) {
    self.init(own)
    guard byLabel.isEmpty else { return }
    let description = model.modelDescription
    let file = Self.url(besideModelAt: model.url)
    if let text = description.creatorDefinedMetadata[Self.metadataKey] {
      try self.init(Data(text.utf8), place: "the model's metadata '\(Self.metadataKey)'")
    } else if FileManager.default.fileExists(atPath: file.relativePath) {
      try self.init(contentsOf: file)
    }
  }
}
