import KelvinFeatures
import KelvinHostOperations
import KelvinIndex

extension FuzzTarget {
  static let indexes = [
    // Everything that reads and writes an index.
    FuzzTarget("index", PhotoIndexError.self, longest: 32_768, seeds: Seeds.document("index.sqlite")) { bytes in
      let file = indexFile("index", bytes)
      // The reader is closed before the writer opens: a file that is not in WAL mode has one or the other.
      let facts = try readAll(file)
      let writer = try IndexWriter(
        file, facts, curves: [:], rebuilds: true, waiting: { _ in }, isCancelled: { false })
      let state = ImageState(size: 1, modified: 1, inode: 1)
      let seen = ImageFinding(width: 4, height: 3, hash: 7, labels: [(label: "otter", confidence: 0.5)], embedding: nil)
      let content = [UInt8](repeating: 7, count: 32)
      _ = try writer.write([.init(path: "new.png", state: state, content: content, finding: .seen(seen))])
      _ = try writer.known()
    },
    // The words of a search.
    FuzzTarget(
      "query", PhotoIndexError.self, longest: 128,
      seeds: Seeds.texts("otter OR badger", "(beach OR lake) NOT dog", "\"sea lion\" terr*", "a AND b")
    ) { bytes in
      let query = try LabelQuery(String(decoding: bytes, as: UTF8.self))
      var question = IndexReader.Question(limit: 10)
      question.words = query
      _ = try searched.get().search(question)
    },
  ]

  /// Reads everything in an index.
  private static func readAll(_ file: IndexFile) throws -> IndexFacts {
    let reader = try IndexReader(file)
    _ = try reader.count()
    _ = try reader.duplicates(within: 3)
    _ = try reader.categories()
    _ = try reader.categories(LabelLimits(precision: 0.5))
    _ = try reader.unreadable()
    var question = IndexReader.Question(limit: 10)
    _ = try reader.search(question)
    question.words = try LabelQuery("otter OR (lake NOT dog*)")
    question.similarity = try reader.similarity(ofContent: [UInt8](repeating: 1, count: 32))
    _ = try reader.search(question)
    return reader.facts
  }

  private static func indexFile(_ folder: String, _ bytes: UnsafeRawBufferPointer) -> IndexFile {
    let file = IndexFile(folder: MemoryFolder.path(folder))
    MemoryFolder.remove(["", "-wal", "-shm", "-journal"].map { file.path + $0 })
    MemoryFolder.write(bytes, to: file.path)
    return file
  }

  /// The reader for queries. One thread at a time uses it.
  nonisolated(unsafe) private static let searched = Result {
    try (Seeds.document("index.sqlite").first ?? []).withUnsafeBytes { try IndexReader(indexFile("searched", $0)) }
  }
}
