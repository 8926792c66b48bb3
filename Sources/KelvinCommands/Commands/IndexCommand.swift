import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinTables
import KelvinVision
import Synchronization

struct IndexCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "index", abstract: "Index a folder of images for search.",
    discussion: """
      The results of the model are stored in one SQLite file (docs/index-format.md). 'search' and 'categories' read \
      it, also while it is filled. A later run processes only new and changed files, recognizes moved and copied \
      files by their contents, and removes deleted files. An interrupted run keeps its results, and the next run \
      continues.

      Names that begin with a dot are skipped. An image that cannot be read is reported on a line of its own and \
      does not stop the command. The page of --report lists the changes, the categories and the unreadable images.
      """)

  @OptionGroup var collection: CollectionOptions

  @Option(
    help: ArgumentHelp(
      """
      The model: an .mlpackage or .mlmodelc folder, or an .mlmodel or .onnx file. (default: that of the index, or \
      the one that 'kelvin use' has set)
      """, valueName: "model"), transform: ModelArgument.path)
  var model: String?

  @Option(
    help: ArgumentHelp("A file of class labels, one per line, instead of the model's own.", valueName: "file"))
  var labels: String?

  @Option(
    help: ArgumentHelp(
      "The output whose vectors measure similarity. (default: the one with a suitable name)", valueName: "name"))
  var embedding: String?

  @Flag(help: "Replace an index of another model or with other options.")
  var rebuild = false

  @Flag(help: "Follow symbolic links, which may lead out of the folder.")
  var followLinks = false

  @Option(
    help: ArgumentHelp(
      "The number of images processed at a time. (default: the number of cores that the process may use)",
      valueName: "n"))
  var workers: Int?

  @OptionGroup var curves: CurvesOption
  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var fitting: CropOption
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var page: ReportOption
  @OptionGroup var output: OutputOptions

  private typealias Fault = (image: String, error: String)

  func validate() throws {
    if let workers, !(1...1024).contains(workers) {
      throw ValidationError("--workers must be from 1 to 1024, got \(workers)")
    }
  }

  func run() throws {
    let index = collection.photoIndex
    let model = try photoModel(for: index)
    model.remarks.forEach(Console.note)
    let faults = Mutex<[Fault]>([])
    let progress = Progress("indexing")
    let updating = updating
    let collection = collection
    let update: PhotoUpdate
    do {
      update = try Interrupts.cancelling {
        try await index.update(with: model, options: updating) { event in
          switch event {
          case .looking(let found): progress.update(nil, "\(found) images found")
          case .waiting(let process):
            let name = process.map { "process \($0)" } ?? "another process"
            Console.note("\(name) is indexing the folder; waiting until it ends")
          case .progress(let state):
            progress.update(
              Double(state.done) / Double(max(state.total, 1)),
              "\(state.done) of \(state.total), \(HumanReadable.perSecond(state.rate))  \(state.path)",
              secondsLeft: state.timeLeft?.inSeconds)
          case .fault(let path, let reason):
            let fault = Fault(image: collection.path(of: path), error: describe(reason))
            faults.withLock { $0.append(fault) }
            Console.error("'\(fault.image)': \(fault.error)")
          }
        }
      }
    } catch let error as VisionError { throw recognized(error) }
    progress.finish()
    model.model.remarks.forEach(Console.note)
    try report(update, index, faults.withLock { $0 })
    if !update.isComplete { throw ReportedFailure(status: .interrupted) }
    if update.unreadable > 0 { throw ReportedFailure(status: .badData) }
  }

  private var updating: PhotoUpdateOptions {
    var updating = PhotoUpdateOptions()
    (updating.workerCount, updating.followsLinks, updating.rebuilds) = (workers, followLinks, rebuild)
    return updating
  }

  private func photoModel(for index: PhotoIndex) throws -> PhotoModel {
    var choice = try ModelChoice(model, of: index)
    choice.labels = try labels.map(LabelFile.read) ?? choice.labels
    choice.normalization = pixels.normalization ?? choice.normalization
    choice.embedding = embedding ?? choice.embedding
    choice.cropAndScale = fitting.cropAndScale ?? choice.cropAndScale
    let configuration = PhotoModel.configuration(try options.configuration(units: units.units))
    return try choice.photoModel(configuration, curves: try curves.read())
  }

  private func report(_ update: PhotoUpdate, _ index: PhotoIndex, _ faults: [Fault]) throws {
    let count = try recognizing { () throws(VisionError) in try index.count() }
    if output.json {
      try printJSON(
        [
          "folder": collection.folder, "index": index.url.relativePath, "images": count,
          // Deprecated: the former key of `images`.
          "pictures": count, "seen": update.seen, "unchanged": update.unchanged, "recognized": update.recognized,
          "dropped": update.dropped, "unreadable": update.unreadable, "complete": update.isComplete,
          "seconds": update.duration.inSeconds,
          "faults": faults.map { ["image": $0.image, "error": $0.error] as JSONObject },
        ] as JSONObject)
    } else {
      Console.print(Self.sentence(update, count))
    }
    if !update.isComplete { Console.note("ended early; run the command again to continue") }
    try page.write(try resultPage(update, index, count, faults))
  }

  private static func sentence(_ update: PhotoUpdate, _ count: Int) -> String {
    let parts = update.parts.map { "\($0.count) \($0.what)" }
    let rate = update.rate.map { ", \(HumanReadable.perSecond($0))" } ?? ""
    let sum = parts.isEmpty ? "" : ": \(parts.joined(separator: ", "))"
    return "\(counted(count, "image")) in the index\(sum); \(HumanReadable.seconds(update.duration.inSeconds))\(rate)"
  }

  /// The largest number of rows of a table on a page.
  private static let mostShown = 200

  private func resultPage(
    _ update: PhotoUpdate, _ index: PhotoIndex, _ count: Int, _ faults: [Fault]
  ) throws -> ResultPage {
    let categories = try recognizing { () throws(VisionError) in try index.categories() }
    func title(_ words: String, _ all: Int) -> String {
      all > Self.mostShown ? "\(words): the first \(Self.mostShown) of \(all)" : words
    }
    var tables = [
      ResultPage.Table(
        title: "Changes", columns: ["Images", "Count"],
        rows: update.parts.map { [$0.what, "\($0.count)"] } + [["in the index", "\(count)"]])
    ]
    if !categories.isEmpty {
      let rows = categories.prefix(Self.mostShown).map { category in
        let share = Double(category.count) / Double(max(count, 1))
        return [category.identifier, "\(category.count)", HumanReadable.percent(share), category.example]
      }
      tables.append(
        .init(
          title: title("Categories", categories.count), columns: ["Category", "Images", "Share", "Surest"],
          rows: rows))
    }
    if !faults.isEmpty {
      tables.append(
        .init(
          title: title("Unreadable images", faults.count), columns: ["Image", "Why"],
          rows: faults.prefix(Self.mostShown).map { [$0.image, $0.error] }))
    }
    let end = update.isComplete ? "" : " The run ended early; run the command again to continue."
    return ResultPage(
      title: collection.folder.lastPathPart, summary: "\(Self.sentence(update, count)).\(end)", tables: tables)
  }
}

extension PhotoUpdate {
  /// The non-zero counts of the update with their descriptions.
  fileprivate var parts: [(count: Int, what: String)] {
    [
      (seen, "seen"), (unchanged, "unchanged"), (recognized, "recognised by their contents"), (dropped, "gone"),
      (unreadable, "unreadable"),
    ].filter { $0.0 > 0 }
  }

  /// The number of images per second on which the model was run; nil where there are none.
  fileprivate var rate: Double? { seen > 0 ? Double(seen) / max(duration.inSeconds, 1e-9) : nil }
}
