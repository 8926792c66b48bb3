import Glibc
import KelvinFeatures
import KelvinHostOperations
import KelvinIndex
import TestSupport
import Testing

/// Indexes that someone else made, or changes while they are read.
@Suite struct UntrustedIndexTests {
  private let fixture = IndexFixture()

  private func fill() throws {
    _ = try fixture.writer(IndexFixture.facts(dimensions: 2)).write([
      IndexFixture.record("a", [("otter", 0.9)], vector: [1, 0]), IndexFixture.record("b", [("dog", 0.8)]),
    ])
  }

  /// Everything that reads an index.
  private func readAll() throws {
    let reader = try IndexReader(fixture.file)
    _ = try reader.count()
    _ = try reader.duplicates(within: 3)
    _ = try reader.categories()
    _ = try reader.unreadable()
    _ = try reader.similarity(ofContent: IndexFixture.digest("a"))
    var question = IndexReader.Question(limit: 100)
    _ = try reader.search(question)
    question.words = try LabelQuery("otter OR dog")
    _ = try reader.search(question)
    question.similarity = .vector([1, 0])
    _ = try reader.search(question)
  }

  private static let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"

  @Test(
    .enabled(if: IndexFixture.hasSQLite, "needs the sqlite3 program"),
    arguments: [
      "ALTER TABLE facts RENAME TO other; CREATE VIEW facts AS \(endless) SELECT 'n' || x AS name, 'v' AS value FROM c",
      "DROP TABLE pictures; CREATE VIEW pictures AS \(endless) SELECT x AS id, 'p' || x AS path, NULL AS error FROM c",
      "CREATE TRIGGER t AFTER INSERT ON pictures BEGIN INSERT INTO facts \(endless) SELECT x, x FROM c; END",
      "CREATE TABLE more (x)", "CREATE INDEX more ON pictures (size)", "DROP INDEX pictures_content",
      "ALTER TABLE pictures ADD COLUMN more AS (abs(id))",
    ])
  func otherTablesAreRefused(statements: String) throws {
    try fill()
    #expect(fixture.sqlite(statements) == "")
    for attempt in [{ _ = try fixture.writer() }, { try readAll() }] {
      let error = #expect(throws: PhotoIndexError.self) { try attempt() }
      #expect(error?.code == .unusable)
      #expect(error?.description.contains(fixture.file.path) == true)
      #expect(error?.description.contains("format 1") == true && error?.description.contains("kelvin index") == true)
    }
  }

  @Test(
    .enabled(if: IndexFixture.hasSQLite, "needs the sqlite3 program"),
    arguments: [
      "UPDATE pictures SET content = zeroblob(33)", "UPDATE pictures SET width = -3",
      "UPDATE pictures SET height = 1 << 40",
      "UPDATE observations SET confidence = 9e999", "UPDATE embeddings SET vector = x'00'",
      "UPDATE facts SET value = '-1' WHERE name = 'dimensions'",
      "UPDATE facts SET value = '99999999999' WHERE name = 'dimensions'",
      "PRAGMA ignore_check_constraints = ON; INSERT INTO curves VALUES (1, 'other', 0.5, 0.5)",
      "UPDATE labels SET name = printf('%.*c', 100000, 'x') || id",
    ])
  func impossibleValuesAreRefused(statements: String) throws {
    try fill()
    #expect(fixture.sqlite(statements) == "")
    let error = #expect(throws: PhotoIndexError.self) {
      try readAll()
      _ = try fixture.find("otter", LabelLimits(precision: 0.5))
    }
    #expect(error?.code == .unusable, "\(error?.description ?? "")")
    #expect(error?.description.contains("kelvin index") == true, "\(error?.description ?? "")")
  }

  /// Replaces a table's only page by six levels of pages that refer to the next one a thousand times each.
  private func multiplyRows(of table: String) {
    var file = TemporaryFolder.read(fixture.file.path)
    let size = Int(file[16]) << 8 | Int(file[17])
    let root = Int(fixture.sqlite("SELECT rootpage FROM sqlite_master WHERE name = '\(table)'").dropLast()) ?? 0
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(value >> (8 * (count - 1 - $0)) & 0xFF) }
    }
    let children = 1000
    func inner(_ child: Int) -> [UInt8] {
      let content = 12 + 2 * children
      var page: [UInt8] = [5, 0, 0] + bytes(children, 2) + bytes(content, 2) + [0] + bytes(child, 4)
      for cell in 0..<children { page += bytes(content + 5 * cell, 2) }
      for _ in 0..<children { page += bytes(child, 4) + [1] }
      return page + [UInt8](repeating: 0, count: size - page.count)
    }
    file += file[(root - 1) * size..<root * size]
    for _ in 0..<5 { file += inner(file.count / size) }
    file.replaceSubrange((root - 1) * size..<root * size, with: inner(file.count / size))
    file.replaceSubrange(28..<32, with: bytes(file.count / size, 4))
    fixture.folder.write(file, ".kelvin-index.sqlite")
  }

  @Test(.enabled(if: IndexFixture.hasSQLite, "needs the sqlite3 program"))
  func tableWithMoreRowsThanBytesIsRefused() throws {
    try fill()
    multiplyRows(of: "pictures")
    let reader = try IndexReader(fixture.file)
    for attempt in [{ _ = try reader.count() }, { _ = try reader.duplicates(within: 3) }] {
      let error = #expect(throws: PhotoIndexError.self) { try attempt() }
      #expect(error?.code == .unusable)
      #expect(error?.description.contains("is damaged") == true, "\(error?.description ?? "")")
    }
    #expect(throws: PhotoIndexError.self) { try fixture.writer().known() }
  }

  @Test func cancelledTaskEndsASearch() async throws {
    try fill()
    multiplyRows(of: "pictures")
    let file = fixture.file
    let code = await Task { () -> PhotoIndexError.Code? in
      withUnsafeCurrentTask { $0?.cancel() }
      do { _ = try IndexReader(file).count() } catch { return (error as? PhotoIndexError)?.code }
      return nil
    }.value
    #expect(code == .cancelled)
  }

  @Test func indexThatIsCutShortIsAnError() throws {
    let records = (0..<2000).map { IndexFixture.record("\($0)", [("otter", 0.5)], hash: 1 << ($0 % 60)) }
    _ = try fixture.writer().write(records)
    let reader = try IndexReader(fixture.file)
    #expect(truncate(fixture.file.path, 32_768) == 0)
    let error = #expect(throws: PhotoIndexError.self) { try reader.duplicates(within: 3) }
    #expect(error?.code == .unusable || error?.code == .io)
  }

  @Test func sharedMemoryThatIsCutShortIsAnError() throws {
    let writer = try fixture.writer()
    _ = try writer.write((0..<200).map { IndexFixture.record("\($0)", [("otter", 0.5)]) })
    let reader = try IndexReader(fixture.file)
    #expect(truncate("\(fixture.file.path)-shm", 0) == 0)
    let error = #expect(throws: PhotoIndexError.self) { try reader.duplicates(within: 3) }
    #expect(error?.code == .io && error?.description.contains("-shm") == true, "\(error?.description ?? "")")
    #expect(throws: PhotoIndexError.self) { try writer.write([IndexFixture.record("more")]) }
  }

  @Test func linkInPlaceOfTheIndexIsNotFollowed() throws {
    let elsewhere = IndexFixture()
    _ = try elsewhere.writer().write([IndexFixture.record("a", [("otter", 0.9)])])
    let absent = "\(elsewhere.folder.path)/absent"
    for target in [elsewhere.file.path, absent] {
      #expect(symlink(target, fixture.file.path) == 0)
      for attempt in [{ _ = try fixture.writer() }, { _ = try IndexReader(fixture.file) }] {
        let error = #expect(throws: PhotoIndexError.self) { try attempt() }
        #expect(target == absent || error?.description.contains("symbolic link to '\(target)'") == true)
        #expect(error?.code == .unusable || target == absent)
      }
      unlink(fixture.file.path)
    }
    #expect(access(absent, F_OK) != 0)
    // A path from the user may lead through links.
    let link = fixture.folder.path + "/link"
    #expect(symlink(elsewhere.file.path, link) == 0)
    #expect(try IndexReader(IndexFile(folder: fixture.folder.path, path: link)).count() == 1)
  }

  @Test func hardLinkInPlaceOfTheLockIsNotWritten() {
    let precious = fixture.folder.write("precious", "notes.txt")
    #expect(link(precious, fixture.file.path + "-lock") == 0)
    let error = #expect(throws: PhotoIndexError.self) { try fixture.writer() }
    #expect(error?.code == .unusable)
    #expect(TemporaryFolder.read(precious) == Array("precious".utf8))
  }

  @Test(arguments: ["", "-journal", "-wal", "-shm"]) func pipeIsRefusedWithoutWaiting(ending: String) throws {
    if !ending.isEmpty { try fill() }
    #expect(mkfifo(fixture.file.path + ending, 0o600) == 0)
    for attempt in [{ _ = try fixture.writer() }, { _ = try IndexReader(fixture.file) }] {
      let error = #expect(throws: PhotoIndexError.self) { try attempt() }
      #expect(error?.description.contains("remove") == true, "\(error?.description ?? "")")
    }
  }

  /// A journal of a transaction over several databases names a file that is removed after the rollback.
  @Test func journalDoesNotRemoveTheFileThatItNames() throws {
    try fill()
    let precious = fixture.folder.write("precious", "notes.txt")
    func bytes(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * (3 - $0)) & 0xFF) } }
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    let size = 16_384
    let pages = TemporaryFolder.read(fixture.file.path).count / size
    let name = Array(precious.utf8)
    let head = magic + bytes(0) + bytes(0) + bytes(pages) + bytes(512) + bytes(size)
    let sum = name.reduce(0) { $0 + Int($1) }
    let journal =
      head + [UInt8](repeating: 0, count: 512 - head.count) + bytes(0x4000_0000 / size + 1) + name + bytes(name.count)
      + bytes(sum) + magic
    fixture.folder.write(journal, ".kelvin-index.sqlite-journal")
    #expect(throws: PhotoIndexError.self) { try fixture.find("otter") }
    #expect(TemporaryFolder.read(precious) == Array("precious".utf8))
  }
}
