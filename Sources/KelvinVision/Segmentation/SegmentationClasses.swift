import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinGraph
import KelvinImages

/// The names and colours of a segmentation model's classes.
package struct SegmentationClasses: Sendable {
  private let labels: [String]
  private let colors: [IndexedPNG.Color?]
  /// Remarks for the user about unreadable metadata.
  let remarks: [String]

  /// The names of background classes.
  private static let surroundings: Set<String> = [
    "background", "bg", "__background__", "void", "unlabeled", "unlabelled",
  ]
  /// The placeholders for a class without a name.
  private static let placeholders: Set<String> = ["", "--", "n/a", "N/A"]

  /// The metadata keys of Core ML's model previews.
  private static let typeKey = "com.apple.coreml.model.preview.type"
  private static let parametersKey = "com.apple.coreml.model.preview.params"

  private struct Parameters: Decodable {
    var labels: [String]?
    var colors: [Color]?

    /// A colour as `"#RRGGBB"`, or as red, green and blue in 0…255.
    struct Color: Decodable {
      var value: IndexedPNG.Color?

      init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if let text = try? single.decode(String.self) {
          value = IndexedPNG.Color(hexadecimal: text)
        } else if let channels = try? single.decode([Double].self), channels.count >= 3,
          channels.allSatisfy({ (0...255).contains($0) })
        {
          value = IndexedPNG.Color(red: UInt8(channels[0]), green: UInt8(channels[1]), blue: UInt8(channels[2]))
        }
      }
    }
  }

  /// Reads names and colours from a model's metadata.
  ///
  /// - Parameters:
  ///   - given: The names, in place of the model's own.
  ///   - givenColors: The colours as `#RRGGBB`, in place of the model's own. An empty string selects the default
  ///     colour.
  /// - Throws: `VisionError.invalidRequest` for an invalid colour.
  init(_ metadata: ModelMetadata, labels given: [String]?, colors givenColors: [String]?) throws(VisionError) {
    var parameters = Parameters()
    var remarks: [String] = []
    if let text = metadata.userDefined[Self.parametersKey] {
      do { parameters = try JSONText.decode(Parameters.self, from: Data(text.utf8)) } catch {
        remarks = ["the model's metadata '\(Self.parametersKey)' is not valid JSON and is ignored"]
      }
    }
    labels = given ?? parameters.labels ?? []
    self.remarks = remarks
    colors =
      try givenColors.map { (texts) throws(VisionError) in try Self.colors(texts) }
      ?? (parameters.colors ?? []).map(\.value)
  }

  /// Creates classes from names and colours.
  ///
  /// - Throws: `VisionError.invalidRequest` for an invalid colour.
  init(labels: [String], colors: [String]) throws(VisionError) {
    self.labels = labels
    self.colors = try Self.colors(colors)
    remarks = []
  }

  private static func colors(_ texts: [String]) throws(VisionError) -> [IndexedPNG.Color?] {
    var colors: [IndexedPNG.Color?] = []
    for (index, text) in texts.enumerated() {
      let color = IndexedPNG.Color(hexadecimal: text)
      guard color != nil || text.isEmpty else {
        throw .invalidRequest("colour \(index) is '\(text)'; expected #RRGGBB")
      }
      colors.append(color)
    }
    return colors
  }

  /// Returns the model's preview type: `imageSegmenter`, `depthEstimator`; nil where the metadata has none.
  static func purpose(_ metadata: ModelMetadata) -> String? { metadata.userDefined[typeKey] }

  /// The names of all classes; empty where neither the model nor the user names them.
  package var names: [String] { labels.indices.map(label) }

  package func label(_ index: Int) -> String {
    guard labels.indices.contains(index), !Self.placeholders.contains(labels[index]) else { return "class \(index)" }
    return labels[index]
  }

  func color(_ index: Int) -> IndexedPNG.Color {
    if index == ClassPalette.unseenIndex { return ClassPalette.unseenColor }
    if colors.indices.contains(index), let color = colors[index] { return color }
    return ClassPalette.colors[index]
  }

  /// Whether a class is a background class, which an overlay leaves transparent: by its name, or class 0 without a name
  /// and a colour.
  func isSurroundings(_ index: Int) -> Bool {
    guard labels.indices.contains(index), !Self.placeholders.contains(labels[index]) else {
      return index == 0 && (colors.first ?? nil) == nil
    }
    return Self.surroundings.contains(labels[index].lowercased())
  }

  /// Returns the classes that have one of these labels.
  ///
  /// - Parameter count: The number of the model's classes; nil where it is unknown.
  /// - Throws: `VisionError.invalidRequest` for a label that the model lacks; it suggests the most similar label.
  func indices(of wanted: [String], count: Int?) throws(VisionError) -> Set<Int> {
    var found: Set<Int> = []
    for name in wanted {
      let classes = (0..<(count ?? ClassPalette.unseenIndex)).filter { label($0) == name }
      guard !classes.isEmpty else { throw .invalidRequest(unknown(name, count)) }
      found.formUnion(classes)
    }
    return found
  }

  private func unknown(_ name: String, _ count: Int?) -> String {
    let known = (0..<(count ?? labels.count)).map(label)
    let start = "the model has no label '\(name)'"
    if let meant = name.nearest(of: known) { return "\(start); did you mean '\(meant)'?" }
    guard let first = known.first, let last = known.last else { return "\(start), and names no classes" }
    return "\(start); its \(known.count) labels are '\(first)' to '\(last)'"
  }

  /// Returns colours for a label map's indices up to the largest in use.
  func palette(upTo largest: Int) -> [IndexedPNG.Color] { (0...max(largest, labels.count - 1).clamped).map(color) }
}

/// Encoded as names and colours; an empty string is the default colour.
extension SegmentationClasses: Codable {
  private enum CodingKeys: CodingKey { case labels, colors }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      labels: values.decode([String].self, forKey: .labels), colors: values.decode([String].self, forKey: .colors))
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(labels, forKey: .labels)
    try values.encode(colors.map { $0?.hexadecimal ?? "" }, forKey: .colors)
  }
}

extension Int {
  fileprivate var clamped: Int { Swift.min(Swift.max(self, 0), ClassPalette.unseenIndex) }
}
