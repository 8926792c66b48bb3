import Foundation
import Testing

/// The tables of names in the documentation, against the symbols of the modules.
@Suite struct GuideTests {
  private static let apple = [
    "CoreML", "Vision", "CoreVideo", "CoreGraphics", "ImageIO", "CoreImage", "Accelerate",
  ]
  private static let kelvin = ["Kelvin", "KelvinVision", "KelvinMeasuring"]

  /// Names on the left are Apple's, and names on the right are Kelvin's.
  @Test func namesOfTheGuideExist() throws {
    let rows = try Page("docs/guide/how-to/coming-from-core-ml.md").rows.filter { $0.count == 2 }
    #expect(rows.count > 40)
    // The rows of the first table describe modules.
    let right = rows.filter { row in !Self.apple.contains { row[0] == "`\($0)`" } }
    let (apple, kelvin) = (try SymbolNames(Self.apple), try SymbolNames(Self.kelvin))
    let missing = (apple.missing(in: rows.map { $0[0] }), kelvin.missing(in: right.map { $0[1] }))
    #expect(missing.0 == [])
    #expect(missing.1 == [])
  }

  /// Names in rows that say so do not exist, and all other names exist.
  @Test func namesOfDifferencesExistUnlessTheyAreExcluded() throws {
    let page = try Page("docs/differences.md", section: "## Apple's modules on Linux")
    let names = try SymbolNames(Self.apple)
    let rows = page.rows.filter { $0.count == 3 && !$0[1].contains("refused") }
    let isExcluded = { (row: [String]) in row[1].contains("do not exist") || row[1].contains("does not exist") }
    let missing = names.missing(in: rows.filter { !isExcluded($0) }.flatMap { $0[..<2] })
    let excluded = rows.filter(isExcluded).flatMap { Page.spans($0[0]) }
    let existing = excluded.filter(names.words.contains)
    #expect(missing == [])
    #expect(existing == [])
    #expect(excluded.count > 2)
  }
}

/// The tables of a page.
private struct Page {
  /// The cells of each row.
  let rows: [[String]]

  init(_ path: String, section: String = "") throws {
    let text = try String(contentsOf: Places.root.appendingPathComponent(path), encoding: .utf8)
    let lines = text.split(separator: "\n").drop { !$0.hasPrefix(section) }
    rows = lines.filter { $0.hasPrefix("| ") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
  }

  /// The parts of a cell in the typeface of code.
  static func spans(_ cell: String) -> [String] {
    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map {
      String($0.element)
    }
  }
}

/// The names of the public symbols of some modules.
private struct SymbolNames {
  /// Every name and every label of an argument.
  private(set) var words: Set<String>
  /// The names of symbols with their types, such as `MLModel.compileModel(at:)`, also with their modules.
  private var paths: Set<String> = []

  /// Names of Swift and Foundation, Vision's prefix and domain, a package, and a command.
  private static let others: Set = [
    "CGRect", "String", "VN", "async", "com", "apple", "Vis", "if", "canImport", "use", "Frameworks", "true", "false",
  ]

  init(_ modules: [String]) throws {
    words = Self.others.union(modules).union(["KelvinVision"])
    let folder = try Folder()
    let system = try Outcome.of("/usr/bin/env", ["swiftc", "-print-target-info"])
    let triple = try #require(system.output.firstMatch(of: /"triple": "([^"]+)"/)).1
    for module in modules {
      let outcome = try Outcome.of(
        "/usr/bin/env",
        ["swift-symbolgraph-extract", "-module-name", module, "-target", String(triple)] + Places.moduleOptions
          + ["-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", folder.url.path]
          + ["-experimental-allowed-reexported-modules=KelvinImages,KelvinFeatures"])
      try #require(outcome.status == 0, "\(outcome.output)")
    }
    for file in try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil) {
      let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: file))
      for symbol in graph.symbols {
        let path = symbol.pathComponents.joined(separator: ".")
        paths.formUnion([path, "\(graph.module.name).\(path)"])
        words.formUnion(Self.words(symbol.pathComponents.last ?? ""))
      }
    }
  }

  private struct Graph: Decodable {
    struct Symbol: Decodable { let pathComponents: [String] }
    struct Module: Decodable { let name: String }
    let module: Module
    let symbols: [Symbol]
  }

  private static func words(_ text: String) -> [String] {
    text.matches(of: /[A-Za-z_][A-Za-z0-9_]*/).map { String($0.0) }
  }

  /// The pieces of code in cells whose words are not names, or that are not members of their types.
  func missing(in cells: [String]) -> [String] {
    cells.flatMap(Page.spans).filter { code in
      guard Self.words(code).allSatisfy(words.contains) else { return true }
      guard code.wholeMatch(of: /[A-Z]\w*\.[\w():]+/) != nil else { return false }
      return !paths.contains { $0 == code || $0.hasPrefix("\(code)(") }
    }
  }
}
