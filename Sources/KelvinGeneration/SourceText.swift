import Kelvin
import KelvinBasics

/// Source code, line by line.
struct SourceText {
  private var lines: [String] = []

  /// The text with a line feed at its end.
  var text: String { lines.joined(separator: "\n") + "\n" }

  /// Adds lines of source code, indented by a number of spaces.
  mutating func add(_ code: String, indent: Int = 0) {
    let margin = String(repeating: " ", count: indent)
    lines += code.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : margin + $0 }
  }

  /// Adds a documentation comment, unless the text is empty.
  mutating func document(_ text: String, indent: Int) {
    if !text.isEmpty { lines += text.documentation(indent: indent) }
  }

  /// Adds the first lines of a file.
  mutating func addHeader(_ modelName: String, imports: [String], _ access: ModelClassGenerator.Access) {
    add("// swift-format-ignore-file")
    add("// Made by 'kelvin generate' from \(modelName.printableMessage). Changes are lost when it is made again.")
    let plain = imports.map { "import \($0)" }.joined(separator: "\n")
    switch access {
    case .internal: add(plain)
    case .public: add(imports.map { "public import \($0)" }.joined(separator: "\n"))
    case .package:
      // Without the feature, a plain import in another file of the module would contradict the access level.
      add("#if hasFeature(InternalImportsByDefault)")
      add(imports.map { "package import \($0)" }.joined(separator: "\n"))
      add("#else\n\(plain)\n#endif")
    }
    add("")
  }
}

extension ModelClassGenerator.Access {
  /// The keyword before a declaration, with a space; empty for the default.
  var keyword: String { self == .internal ? "" : "\(rawValue) " }
}

extension ModelDescription {
  /// The text about the model for its class.
  func documentation(_ modelName: String) -> String {
    func text(_ key: ModelMetadataKey) -> String { metadata[key] ?? "" }
    var paragraphs = [text(.description).isEmpty ? "The model \(modelName)." : text(.description)]
    for (title, key) in [("Author", .author), ("License", .license), ("Version", .versionString)]
      as [(String, ModelMetadataKey)] where !text(key).isEmpty
    {
      paragraphs.append("\(title): \(text(key))")
    }
    return paragraphs.joined(separator: "\n\n")
  }
}

extension FeatureDescription {
  /// The text about the feature for its property: the author's summary, and the type.
  var documentation: String { [summary, typeText].filter { !$0.isEmpty }.joined(separator: "\n\n") }

  private var typeText: String {
    if let array = multiArrayConstraint { return "An array of \(array.dataType.rawValue)\(array.shapeText)." }
    if let image = imageConstraint {
      let size = image.sizeConstraint
      let isFixed = size.type == .enumerated && size.enumeratedImageSizes.count == 1
      return "An image of \(image.pixelsWide) x \(image.pixelsHigh) pixels, \(image.channelOrder.rawValue)"
        + (isFixed ? "." : "; other sizes are allowed.")
    }
    return ""
  }
}

extension MultiArrayConstraint {
  fileprivate var shapeText: String {
    func text(_ shape: [Int]) -> String { "[\(shape.map(String.init).joined(separator: ", "))]" }
    switch shapeConstraint.type {
    case .unspecified: return " of any shape"
    case .enumerated:
      return ", shape " + shapeConstraint.enumeratedShapes.prefix(8).map(text).joined(separator: " or ")
        + (shapeConstraint.enumeratedShapes.count > 8 ? " or others" : "")
    case .range:
      let sizes = shapeConstraint.sizeRangeForDimension.map { range in
        if range.lowerBound == range.upperBound { return "\(range.lowerBound)" }
        return range.upperBound == .max ? "\(range.lowerBound)…" : "\(range.lowerBound)…\(range.upperBound)"
      }
      return ", shape [\(sizes.joined(separator: ", "))]"
    }
  }
}
