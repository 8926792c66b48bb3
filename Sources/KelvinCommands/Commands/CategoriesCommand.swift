import ArgumentParser
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinVision

struct CategoriesCommand: ParsableCommand, LimitedCommand, IsolatedCommand {
  static let configuration = CommandConfiguration(
    commandName: "categories",
    abstract:
      """
      List the categories of an indexed folder, with the number of images of each.
      """,
    usage: "kelvin categories [<options>] <folder>",
    discussion: """
      An image counts for its most confident label.
      """)

  @OptionGroup var collection: CollectionOptions
  @OptionGroup var confidence: ConfidenceOptions

  @Option(
    help: ArgumentHelp("The maximum number of categories. (default: 40 in a table, all otherwise)", valueName: "n"))
  var limit: Int?

  @OptionGroup var pages: IndexSheetOptions
  @OptionGroup var isolation: IsolationOption
  @OptionGroup var limits: LimitOptions
  @OptionGroup var output: OutputOptions

  private static let usualLimit = 40

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1, got \(limit)") }
  }

  func run() throws {
    let index = collection.photoIndex
    let (categories, count) = try recognizing { () throws(VisionError) in
      (try index.categories(confidence.filter), try index.count())
    }
    let shown = Array(categories.prefix(limit ?? (output.json ? .max : Self.usualLimit)))
    func share(_ category: PhotoCategory) -> Double { Double(category.count) / Double(max(count, 1)) }
    if output.json {
      try printJSON(
        shown.map { category -> JSONObject in
          [
            "identifier": category.identifier, "images": category.count,
            // Deprecated: the former key of `images`.
            "pictures": category.count, "share": share(category), "example": collection.path(of: category.example),
          ]
        })
    } else {
      printTable(shown, of: categories.count, share)
    }
    if let sheet = pages.page.sheet { try writeSheet(of: shown, index, to: sheet) }
  }

  private func printTable(_ shown: [PhotoCategory], of count: Int, _ share: (PhotoCategory) -> Double) {
    guard !shown.isEmpty else { return Console.note("no image has a label") }
    var table = TextTable(
      .init("CATEGORY", shrinksTo: 16), .init("IMAGES", .right), .init("SHARE", .right),
      .init("SUREST", shrinksTo: 16, cut: .beginning))
    for category in shown {
      table.add(category.identifier, "\(category.count)", HumanReadable.percent(share(category)), category.example)
    }
    Console.print(table.text())
    if shown.count < count { Console.note("\(shown.count) of \(count) categories are shown; --limit shows more") }
  }

  private func writeSheet(of categories: [PhotoCategory], _ index: PhotoIndex, to path: String) throws {
    let progress = Progress("drawing")
    defer { progress.finish() }
    let page = try recognizing { () throws(VisionError) in
      try index.contactSheet(of: categories, title: "Categories", followsLinks: pages.followLinks) {
        progress.update(Double($0) / Double(max(categories.count, 1)))
      }
    }
    try LocalFile.write(Array(page.utf8), to: path)
    Console.note("wrote \(path)")
  }
}
