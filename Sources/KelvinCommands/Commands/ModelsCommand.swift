import ArgumentParser
import FoundationEssentials
import Glibc
import KelvinBasics
import KelvinStore

struct ModelsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "models", abstract: "List the models of the store, and choose, pin or remove versions.",
    usage: "kelvin models [<options>]",
    discussion: """
      A name stands for its current version, the one that arrived last or was chosen with --use. --roll-back returns \
      to the version before.

      The size is that of the files. The cache has the packed weights that loading the model has made.
      """)

  @Option(help: ArgumentHelp("Make this version the current one.", valueName: "name@version"))
  var use: String?

  @Option(help: ArgumentHelp("Make the version current again that was current before.", valueName: "name"))
  var rollBack: String?

  @Option(
    help: ArgumentHelp(
      "Keep this version: the quota does not remove it, and an arrival does not replace it as the current one.",
      valueName: "name[@version]"))
  var pin: String?

  @Option(help: ArgumentHelp("Release a pinned version.", valueName: "name[@version]"))
  var unpin: String?

  @Option(
    help: ArgumentHelp(
      "Remove a version, or all versions of a name, with their part of the cache.", valueName: "name[@version]"))
  var remove: String?

  @Option(
    help: ArgumentHelp(
      """
      The greatest size of all versions with their parts of the cache: 2GB, or none. Versions that are not current \
      are removed first, then the least recently used.
      """, valueName: "size"), transform: Self.size)
  var quota: Quota?

  @OptionGroup var output: OutputOptions

  /// A limit of the size.
  enum Quota {
    case none
    case bytes(Int)
  }

  private static func size(_ text: String) throws -> Quota {
    text == "none" ? .none : .bytes(try LimitOptions.bytes(text))
  }

  func run() throws {
    let store = try ModelStore.standard()
    if let use { try store.use(use) }
    if let rollBack { try store.rollBack(rollBack) }
    if let pin { try store.pin(pin) }
    if let unpin { try store.pin(unpin, false) }
    var removed = try remove.map { try store.remove($0) } ?? []
    switch quota {
    case .some(.none): try store.setQuota(nil)
    case .bytes(let bytes): removed += try store.setQuota(bytes)
    case nil: break
    }
    for model in removed { Console.note("removed \(model.name)@\(model.version)") }
    let models = try store.models()
    if output.json {
      return try printJSON(
        [
          "folder": store.url.relativePath, "quota": store.quota, "models": models.map(\.document),
          "bytes": models.reduce(0) { $0 + $1.byteCount }, "cacheBytes": models.reduce(0) { $0 + $1.cacheByteCount },
        ] as JSONObject)
    }
    Console.print(text(models, store))
  }

  private func text(_ models: [StoredModel], _ store: ModelStore) -> String {
    guard !models.isEmpty else {
      return "the store '\(store.url.relativePath)' has no models; fetch one: kelvin fetch URL"
    }
    var table = TextTable([
      .init("NAME", shrinksTo: 8), .init("VERSION", shrinksTo: 8), .init("SIZE", .right), .init("CACHE", .right),
      .init("LAST USE"), .init(""),
    ])
    for model in models {
      let marks = [model.isCurrent ? "current" : nil, model.isPinned ? "pinned" : nil].compactMap { $0 }
      table.add(
        model.name, model.version, HumanReadable.bytes(model.byteCount), HumanReadable.bytes(model.cacheByteCount),
        Self.day(model.lastUse), marks.joined(separator: ", "))
    }
    let total = models.reduce(0) { $0 + $1.byteCount + $1.cacheByteCount }
    let quota = store.quota.map { " of \(HumanReadable.bytes($0))" } ?? ""
    return table.text() + "\n\n" + "\(HumanReadable.bytes(total))\(quota) in '\(store.url.relativePath)'".paragraph()
  }

  /// Returns a time in the local zone: `2026-11-01 12:30`.
  private static func day(_ date: Date) -> String {
    var (seconds, parts) = (time_t(date.timeIntervalSince1970), tm())
    localtime_r(&seconds, &parts)
    func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday)) "
      + "\(digits(parts.tm_hour)):\(digits(parts.tm_min))"
  }
}

extension StoredModel {
  /// The description of a version in JSON. Times are seconds since 1970.
  var document: JSONObject {
    [
      "name": name, "version": version, "path": url.relativePath, "source": source, "sha256": sha256,
      "bytes": byteCount, "cacheBytes": cacheByteCount, "tags": tags, "arrival": arrival.timeIntervalSince1970,
      "lastUse": lastUse.timeIntervalSince1970, "current": isCurrent, "pinned": isPinned,
    ]
  }
}

extension JSONObject {
  /// Adds whether a version arrived now.
  func extended(_ isNew: Bool) -> JSONObject { (["new": isNew] as JSONObject).extending(self) }
}
