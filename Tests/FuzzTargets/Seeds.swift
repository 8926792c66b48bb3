import FoundationEssentials

/// The inputs that mutations start from: the project's own vectors, examples and documents.
enum Seeds {
  static let root: String = {
    var url = URL(filePath: #filePath)
    for _ in 0..<3 { url.deleteLastPathComponent() }
    return url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
  }()

  /// The files below folders of the project whose names end so, in the order of their paths.
  static func files(_ ends: [String], in folders: String...) -> [[UInt8]] {
    folders.flatMap { folder in
      let found = (try? FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)")) ?? []
      return found.map { "\(folder)/\($0)" }
    }
    .sorted().filter { path in ends.contains { path.hasSuffix($0) } }
    .compactMap { FileManager.default.contents(atPath: "\(root)/\($0)").map { Array($0) } }
  }

  /// A file of `Tests/FuzzTargets/Seeds`.
  static func document(_ name: String) -> [[UInt8]] { files([name], in: "Tests/FuzzTargets/Seeds") }

  static func texts(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }
}
