import Glibc
import KelvinBasics
import KelvinFeatures
import KelvinIndex
import TestSupport
import Testing

@Suite struct IndexFileTests {
  private let fixture = IndexFixture()

  @Test(.enabled(if: IndexFixture.hasSQLite, "needs the sqlite3 program"))
  func anotherProgramReadsTheDocumentedFormat() throws {
    _ = try fixture.writer(IndexFixture.facts(dimensions: 2)).write([
      IndexFixture.record("a/river.jpg", [("otter", 0.9), ("lake", 0.05)], vector: [3, 4]),
      IndexFixture.record("it's.jpg", [("dog", 0.5)], vector: [0, 1]),
    ])
    #expect(fixture.sqlite("PRAGMA integrity_check") == "ok\n")
    #expect(fixture.sqlite("PRAGMA user_version") == "1\n")
    #expect(fixture.sqlite("SELECT printf('%x', application_id) FROM pragma_application_id") == "4b6c7649\n")
    #expect(
      fixture.sqlite("SELECT path, width, height FROM pictures ORDER BY path") == "a/river.jpg|40|30\nit's.jpg|40|30\n")
    #expect(
      fixture.sqlite(
        """
        SELECT path, name, rank FROM pictures JOIN observations ON picture = pictures.id \
        JOIN labels ON labels.id = label WHERE label IN (SELECT rowid FROM label_words WHERE label_words MATCH 'otters')
        """) == "a/river.jpg|otter|0\n")
    // 0.6 and 0.8 as little-endian float32.
    #expect(fixture.sqlite("SELECT hex(vector) FROM embeddings LIMIT 1") == "9A99193FCDCC4C3F\n")
    #expect(fixture.sqlite("SELECT value FROM facts WHERE name = 'model'") == "Animals.mlpackage\n")
    #expect(fixture.sqlite("INSERT INTO label_words (label_words) VALUES ('integrity-check')") == "")
  }

  @Test func readerKeepsItsSnapshot() throws {
    let writer = try fixture.writer()
    _ = try writer.write([IndexFixture.record("a", [("otter", 0.9)])])
    let reader = try IndexReader(fixture.file)
    #expect(try reader.count() == 1)
    _ = try writer.write([IndexFixture.record("b", [("otter", 0.8)])])
    #expect(try reader.count() == 1)
    #expect(try fixture.find("otter") == ["a", "b"])
  }

  @Test func rewrittenImagesReplaceTheOldRecords() throws {
    let writer = try fixture.writer(IndexFixture.facts(dimensions: 1))
    _ = try writer.write([IndexFixture.record("a", [("otter", 0.9)], vector: [1])])
    let ids = try writer.write([
      IndexFixture.record("a", [("dog", 0.9)]), IndexFixture.record("b", [("badger", 0.7)], vector: [1]),
    ])
    _ = try writer.write([
      IndexWriter.Record(
        path: "c", state: ImageState(size: 1, modified: 1, inode: 1), content: IndexFixture.digest("b"),
        finding: .same(as: ids[1])),
      IndexWriter.Record(
        path: "d", state: ImageState(size: 1, modified: 1, inode: 1), content: IndexFixture.digest("d"),
        finding: .unreadable("torn")),
    ])
    #expect(try fixture.find("otter") == [])
    #expect(try fixture.find("dog") == ["a"])
    #expect(try fixture.find("badger") == ["b", "c"])
    #expect(try IndexReader(fixture.file).unreadable().map(\.path) == ["d"])
    #expect(try IndexReader(fixture.file).count() == 3)
    try writer.drop([ids[1]])
    #expect(try fixture.find("badger") == ["c"])
    let known = try writer.known()
    #expect(known.keys.sorted() == ["a", "c", "d"])
    #expect(known["d"]?.error == "torn")
  }

  @Test func indexOfAnotherModelIsKeptUnlessRebuilt() throws {
    do { _ = try fixture.writer().write([IndexFixture.record("a", [("otter", 0.9)])]) }
    let error = #expect(throws: PhotoIndexError.self) {
      try fixture.writer(IndexFixture.facts(identity: "another model"))
    }
    #expect(error?.code == .otherModel)
    #expect(error?.description.contains("--rebuild") == true)
    #expect(try fixture.find("otter") == ["a"])
    do { _ = try fixture.writer(IndexFixture.facts(identity: "another model"), rebuilds: true) }
    #expect(try fixture.find("otter") == [])
    #expect(try IndexReader(fixture.file).count() == 0)
  }

  @Test(.enabled(if: IndexFixture.hasSQLite, "needs the sqlite3 program"))
  func newerAndForeignFilesAreRefusedUnchanged() throws {
    do { _ = try fixture.writer().write([IndexFixture.record("a", [("otter", 0.9)])]) }
    fixture.sqlite("PRAGMA user_version = 7")
    for attempt in [{ _ = try fixture.writer() }, { _ = try IndexReader(fixture.file) }] {
      let error = #expect(throws: PhotoIndexError.self) { try attempt() }
      #expect(error?.code == .unusable)
      #expect(error?.description.contains("format 7") == true && error?.description.contains("newer Kelvin") == true)
    }
    unlink(fixture.file.path)
    fixture.sqlite("CREATE TABLE bookmarks (address TEXT)")
    let before = TemporaryFolder.read(fixture.file.path)
    let foreign = #expect(throws: PhotoIndexError.self) { try fixture.writer() }
    #expect(foreign?.code == .unusable)
    #expect(TemporaryFolder.read(fixture.file.path) == before)
  }

  @Test func nonDatabaseIsRefusedUnchanged() throws {
    let text = String(repeating: "This is a diary and no database. ", count: 100)
    fixture.folder.write(text, ".kelvin-index.sqlite")
    for attempt in [{ _ = try fixture.writer() }, { _ = try IndexReader(fixture.file) }] {
      let error = #expect(throws: PhotoIndexError.self) { try attempt() }
      #expect(error?.code == .unusable)
    }
    #expect(TemporaryFolder.read(fixture.file.path) == Array(text.utf8))
  }

  @Test func missingIndexErrorHasARemedy() {
    let error = #expect(throws: PhotoIndexError.self) { try IndexReader(fixture.file) }
    #expect(error?.code == .absent)
    #expect(error?.description.contains("kelvin index") == true)
  }

  @Test(.enabled(if: IndexFixture.hasSQLite, "needs the sqlite3 program"))
  func pathsOutsideTheFolderAreIgnored() throws {
    do {
      _ = try fixture.writer().write([
        IndexFixture.record("a", [("otter", 0.9)]), IndexFixture.record("b", [("otter", 0.8)]),
        IndexFixture.record("c", [("otter", 0.7)]),
      ])
    }
    fixture.sqlite("UPDATE pictures SET path = '/etc/passwd' WHERE path = 'a'")
    fixture.sqlite("UPDATE pictures SET path = 'x/../../secret.png' WHERE path = 'b'")
    #expect(try fixture.find("otter") == ["c"])
  }

  @Test func nonUTF8PathsRoundTrip() throws {
    let path = String(pathBytes: [0x70, 0xE9, 0x0A, 0x27, 0x2E, 0x6A, 0x70, 0x67])
    _ = try fixture.writer().write([IndexFixture.record(path, [("otter", 0.9)])])
    #expect(try fixture.find("otter") == [path])
    #expect(try fixture.writer().known().keys.map(\.string) == [path])
  }
}
