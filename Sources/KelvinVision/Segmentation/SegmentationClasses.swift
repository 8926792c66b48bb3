import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinGraph
import KelvinImages

/// What a segmentation model's classes are called, and the colours they are drawn in.
struct SegmentationClasses: Sendable {
  private let labels: [String]
  private let colors: [IndexedPNG.Color?]
  /// What the user should know: metadata that cannot be read.
  let remarks: [String]

  /// Classes that are what is around the things a model looks for.
  private static let surroundings: Set<String> = [
    "background", "bg", "__background__", "void", "unlabeled", "unlabelled",
  ]
  /// What stands for a class without a name.
  private static let placeholders: Set<String> = ["", "--", "n/a", "N/A"]

  /// Under these keys Core ML keeps what its previews need.
  private static let typeKey = "com.apple.coreml.model.preview.type"
  private static let parametersKey = "com.apple.coreml.model.preview.params"

  private struct Parameters: Decodable {
    var labels: [String]?
    var colors: [Color]?

    /// `"#RRGGBB"`, or red, green and blue in 0…255.
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

  /// - Parameters:
  ///   - labels: in place of the model's own.
  ///   - colors: as `#RRGGBB`, in place of the model's own; an empty text stands for one that is not given.
  /// - Throws: `VisionError.invalidRequest` for a colour that is none.
  init(_ metadata: ModelMetadata, labels given: [String]?, colors givenColors: [String]?) throws(VisionError) {
    var parameters = Parameters()
    var remarks: [String] = []
    if let text = metadata.userDefined[Self.parametersKey] {
      do { parameters = try JSONText.decode(Parameters.self, from: Data(text.utf8)) } catch {
        remarks = ["the model's metadata '\(Self.parametersKey)' is not the JSON it should be and is left aside"]
      }
    }
    labels = given ?? parameters.labels ?? []
    self.remarks = remarks
    colors =
      try givenColors.map { (texts) throws(VisionError) in try Self.colors(texts) }
      ?? (parameters.colors ?? []).map(\.value)
  }

  /// - Throws: `VisionError.invalidRequest` for a colour that is none.
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

  /// What the model's metadata says it is for: `imageSegmenter`, `depthEstimator`; nil where it says nothing.
  static func purpose(_ metadata: ModelMetadata) -> String? { metadata.userDefined[typeKey] }

  /// Of all classes; none where neither model nor user names them.
  var names: [String] { labels.indices.map(label) }

  func label(_ index: Int) -> String {
    guard labels.indices.contains(index), !Self.placeholders.contains(labels[index]) else { return "class \(index)" }
    return labels[index]
  }

  func color(_ index: Int) -> IndexedPNG.Color {
    if index == ClassPalette.unseenIndex { return ClassPalette.unseenColor }
    if colors.indices.contains(index), let color = colors[index] { return color }
    return ClassPalette.colors[index]
  }

  /// Whether a class is drawn as the image itself.
  func isSurroundings(_ index: Int) -> Bool {
    labels.indices.contains(index) && Self.surroundings.contains(labels[index].lowercased())
  }

  /// The classes that have one of these labels.
  ///
  /// - Parameter count: how many classes the model tells apart; nil where it does not say.
  /// - Throws: `VisionError.invalidRequest` for a label that the model lacks, with the one that is nearest.
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

  /// Colours for a label map's indices up to the largest in use.
  func palette(upTo largest: Int) -> [IndexedPNG.Color] { (0...max(largest, labels.count - 1).clamped).map(color) }
}

extension Int {
  fileprivate var clamped: Int { Swift.min(Swift.max(self, 0), ClassPalette.unseenIndex) }
}
