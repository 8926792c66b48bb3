import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinVision

struct SearchCommand: ParsableCommand, LimitedCommand, IsolatedCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Find images of an indexed folder by words, similarity or hash.",
    discussion: """
      Words are searched in the labels of the model: 'otter', 'otter OR badger', '(beach OR lake) NOT dog', '"sea \
      lion"', 'terr*'. Adjacent words must be in one label; AND, OR, NOT and parentheses apply to the image. Without \
      words, all images that match the options are found, newest first. --like compares exactly: by vectors if the \
      model has them, otherwise by the probabilities of shared labels.
      """)

  @OptionGroup var collection: CollectionOptions

  @Argument(help: "The words to search for.")
  var words: [String] = []

  @Option(
    help: ArgumentHelp("Find the images most similar to this one, which may be anywhere.", valueName: "image"))
  var like: String?

  @Flag(help: "Find groups of images that look almost the same.")
  var duplicates = false

  @Option(
    help: ArgumentHelp(
      "The maximum number of different bits in the 64-bit hashes of near-duplicates, 0 to 7.", valueName: "n"))
  var distance: Int = 3

  @Option(
    help: ArgumentHelp(
      "Find only files modified since: 2026-11-01, 2026-11-01T12:30, or 30d for 30 days ago.", valueName: "time"),
    transform: TimestampArgument.seconds)
  var since: Double?

  @OptionGroup var confidence: ConfidenceOptions

  @Option(
    help: ArgumentHelp(
      "The maximum number of images. (default: 100 in a table and on a sheet, all otherwise)", valueName: "n"))
  var limit: Int?

  @Option(help: ArgumentHelp("The output format: table, jsonl, paths or paths0.", valueName: "form"))
  var format: ResultFormat = .table

  @OptionGroup var pages: IndexSheetOptions

  @Option(
    help: ArgumentHelp(
      "The model for an image that is not in the index. (default: that of the index, at its recorded path)",
      valueName: "model"), transform: ModelArgument.path)
  var model: String?

  @OptionGroup var units: UnitsOption
  @OptionGroup var isolation: IsolationOption
  @OptionGroup var limits: LimitOptions
  @OptionGroup var output: OutputOptions

  private static let usualLimit = 100

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1, got \(limit)") }
    guard (0...7).contains(distance) else {
      throw ValidationError("--distance must be from 0 to 7, got \(distance)")
    }
    try output.validate(beside: format)
    let isNarrowed = !words.isEmpty || like != nil || since != nil || pages.page.sheet != nil || confidence.isGiven
    if duplicates, isNarrowed {
      throw ValidationError(
        """
        --duplicates searches the whole folder; it takes no words, and only the options --distance and --format
        """)
    }
  }

  func run() throws {
    let index = collection.photoIndex
    guard !duplicates else {
      let groups = try recognizing { () throws(VisionError) in try index.duplicates(within: distance) }
      return try DuplicateResults(groups, collection).print(format, json: output.json)
    }
    let result = try recognizing { () throws(VisionError) in
      guard let like else { return try index.search(query) }
      return try index.search(query, like: URL(filePath: like)) { settings throws(VisionError) in
        try model(for: settings)
      }
    }
    try SearchResults(result, collection, isBySimilarity: like != nil, limit: query.limit)
      .print(format, json: output.json)
    if let sheet = pages.page.sheet { try writeSheet(of: result, index, to: sheet) }
  }

  private var query: PhotoQuery {
    var query = PhotoQuery(words.isEmpty ? nil : words.joined(separator: " "))
    query.filter = confidence.filter
    query.since = since.map(Date.init(timeIntervalSince1970:))
    query.limit = limit ?? (format == .table && !output.json ? Self.usualLimit : .max)
    return query
  }

  /// Returns the index's model, for an image that is not in the index.
  private func model(for settings: PhotoIndex.Settings) throws(VisionError) -> PhotoModel {
    var choice = ModelChoice(settings)
    if let model { choice.url = URL(filePath: model) }
    do {
      return try choice.photoModel(ModelConfiguration(computeUnits: units.units))
    } catch let error as ModelError { throw .prediction(error) } catch { throw .invalidModel("\(error)") }
  }

  private func writeSheet(of result: PhotoSearchResult, _ index: PhotoIndex, to path: String) throws {
    let progress = Progress("drawing")
    defer { progress.finish() }
    let title: String
    if let like {
      title = "Like \(like.lastPathPart)"
    } else {
      title = words.isEmpty ? "Images" : words.joined(separator: " ")
    }
    let most = limit ?? Self.usualLimit
    let page = try recognizing { () throws(VisionError) in
      try index.contactSheet(of: result, limit: most, title: title, followsLinks: pages.followLinks) {
        progress.update(Double($0) / Double(max(min(most, result.matches.count), 1)))
      }
    }
    try LocalFile.write(Array(page.utf8), to: path)
    Console.note("wrote \(path)")
  }
}
