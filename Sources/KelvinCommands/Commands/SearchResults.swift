import Glibc
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinVision

/// A printer for the result of a search.
struct SearchResults {
  private let result: PhotoSearchResult
  private let collection: CollectionOptions
  private let isBySimilarity: Bool
  private let limit: Int

  /// - Parameter limit: The largest number of matches that were requested; `.max` for all.
  init(_ result: PhotoSearchResult, _ collection: CollectionOptions, isBySimilarity: Bool, limit: Int) {
    (self.result, self.collection, self.isBySimilarity, self.limit) = (result, collection, isBySimilarity, limit)
  }

  private var documents: [JSONObject] {
    result.matches.map { match in
      [
        "image": collection.path(of: match.path),
        "observations": match.labels.map { label -> JSONObject in
          ["identifier": label.identifier, "confidence": Double(label.confidence)]
        },
        "score": Double(match.score), "width": match.width, "height": match.height,
        // The modification time in seconds since 1970.
        "modified": match.modified,
      ]
    }
  }

  func print(_ format: ResultFormat, json: Bool) throws {
    if json { try printJSON(documents) } else { try print(format) }
    if result.unrelatedCount > 0, limit < .max, result.matches.count < limit {
      let images = result.unrelatedCount == 1 ? "image shares" : "images share"
      Console.note(
        "\(result.unrelatedCount) more \(images) no label with it; a model with vectors compares all images"
      )
    }
  }

  private func print(_ format: ResultFormat) throws {
    switch format {
    case .table: printTable()
    case .jsonl: for document in documents { try printJSONLine(document) }
    case .paths, .paths0:
      PathOutput.print(result.matches.map { collection.path(of: $0.path) }, isZeroEnded: format == .paths0)
    }
  }

  private func printTable() {
    guard !result.matches.isEmpty else { return Console.note("no image was found") }
    var table = TextTable(
      .init("IMAGE", shrinksTo: 16, cut: .beginning), .init("LABEL", shrinksTo: 16), .init("CONFIDENCE", .right),
      .init("LIKENESS", .right, vanishes: true))
    for match in result.matches {
      let first = match.labels.first
      table.add(
        collection.path(of: match.path), first?.identifier ?? "",
        first.map { HumanReadable.percent(Double($0.confidence)) } ?? "",
        isBySimilarity ? HumanReadable.fixed(Double(match.score), decimals: 3) : "")
    }
    Console.print(table.text())
    if result.count > result.matches.count {
      Console.note("\(result.matches.count) of \(result.count) are shown; --limit shows more")
    }
  }
}

/// A printer for near-duplicates.
struct DuplicateResults {
  private let groups: [PhotoDuplicates]
  private let collection: CollectionOptions

  init(_ groups: [PhotoDuplicates], _ collection: CollectionOptions) {
    (self.groups, self.collection) = (groups, collection)
  }

  /// The paths of a group's images.
  private func paths(_ group: PhotoDuplicates) -> [String] { group.paths.map(collection.path(of:)) }

  private func document(_ group: PhotoDuplicates) -> JSONObject {
    ["images": paths(group), "identical": group.isIdentical]
  }

  func print(_ format: ResultFormat, json: Bool) throws {
    if json { return try printJSON(groups.map(document)) }
    switch format {
    case .jsonl: for group in groups { try printJSONLine(document(group)) }
    case .paths, .paths0: PathOutput.print(groups.flatMap(paths), isZeroEnded: format == .paths0)
    case .table:
      guard !groups.isEmpty else { return Console.note("no near-duplicates were found") }
      var table = TextTable(
        .init("IMAGE", shrinksTo: 16, cut: .beginning), .init("SAME AS", shrinksTo: 16, cut: .beginning), .init("FILE"))
      for group in groups {
        let images = paths(group)
        for (rank, image) in images.dropFirst().enumerated() {
          table.add(rank == 0 ? images[0] : "", image, group.isIdentical ? "identical" : "similar")
        }
      }
      Console.print(table.text())
    }
  }
}

/// A printer for paths as raw bytes, for other programs.
enum PathOutput {
  /// - Parameter isZeroEnded: Whether each path is followed by a zero byte instead of a line feed.
  static func print(_ paths: [String], isZeroEnded: Bool) {
    // On a terminal, control characters in paths are escaped.
    if !isZeroEnded, isatty(STDOUT_FILENO) == 1 { return Console.print(lines: paths) }
    Console.write(
      paths.flatMap { $0.pathBytes.dropLast().map { UInt8(bitPattern: $0) } + [isZeroEnded ? 0 : 0x0A] },
      to: STDOUT_FILENO)
    let broken = paths.count { $0.utf8.contains(0x0A) }
    if broken > 0, !isZeroEnded {
      Console.note("line feeds are in \(counted(broken, "name")); --format paths0 keeps them apart")
    }
  }
}
