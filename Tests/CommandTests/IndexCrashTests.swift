import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

/// Indexers that are killed, and several at a time.
@Suite struct IndexCrashTests {
  private static let hasSQLite = access("/usr/bin/sqlite3", X_OK) == 0

  /// How often an indexer is killed: more with KELVIN_KILLS=200.
  private static let kills = getenv("KELVIN_KILLS").flatMap { Int(String(cString: $0)) } ?? Tier.trials(3, of: 12)

  private func sqlite(_ file: String, _ query: String) -> String {
    Kelvin.run([file, query], script: "exec sqlite3 \"$1\" \"$2\"").output
  }

  @Test(.enabled(if: IndexCrashTests.hasSQLite, "needs the sqlite3 program"))
  func killedIndexerLeavesAValidIndex() throws {
    let fixture = CollectionFixture()
    fixture.fill(300)
    let file = "\(fixture.folder.path)/.kelvin-index.sqlite"
    var (last, largest) = (0, 0)
    for attempt in 0..<Self.kills {
      // From before the file exists until well into the work; no run is long enough to finish.
      let delay = 20_000 + attempt * 13_367 % 180_000
      _ = fixture.index("--workers", "1", killAfter: delay)
      let isThere = access(file, F_OK) == 0
      if isThere {
        let check = sqlite(file, "PRAGMA integrity_check")
        #expect(check == "ok\n", "after \(delay) microseconds: \(check)")
        let tables = sqlite(file, "SELECT count(*) FROM sqlite_schema WHERE name = 'pictures'")
        if tables == "1\n" {
          // The index has all rows of an image, or none.
          let halves = sqlite(
            file,
            "SELECT count(*) FROM pictures WHERE NOT EXISTS (SELECT 1 FROM observations WHERE picture = pictures.id)")
          #expect(halves == "0\n")
          let count = Int(sqlite(file, "SELECT count(*) FROM pictures").dropLast()) ?? -1
          #expect(count >= last)
          (last, largest) = (count, max(largest, count))
        }
      }
    }
    let end = fixture.index("--json")
    #expect(end.status == 0, "\(end)")
    let document = try JSONValue(end.output)
    #expect(document["images"]?.number == 300)
    #expect(document["unchanged"]?.number == Double(last))
    #expect(sqlite(file, "SELECT count(DISTINCT picture) FROM observations") == "300\n")
    #expect(sqlite(file, "INSERT INTO label_words (label_words) VALUES ('integrity-check')").isEmpty)
  }

  @Test func concurrentIndexersProcessEachImageOnce() throws {
    let fixture = CollectionFixture()
    fixture.fill(40)
    let results = Mutex<[ToolResult]>([])
    DispatchQueue.concurrentPerform(iterations: 2) { _ in
      let result = fixture.index("--json")
      results.withLock { $0.append(result) }
    }
    let both = results.withLock { $0 }
    #expect(both.map(\.status) == [0, 0], "\(both)")
    let documents = try both.map { try JSONValue($0.output) }
    #expect(documents.compactMap { $0["seen"]?.number }.sorted() == [0, 40], "\(documents)")
    #expect(documents.compactMap { $0["images"]?.number } == [40, 40])
  }

  @Test(.slow, .enabled(if: IndexCrashTests.hasSQLite, "needs the sqlite3 program"))
  func interruptKeepsFinishedImages() throws {
    let fixture = CollectionFixture()
    fixture.fill(3000)
    // Interrupted as soon as the file holds an image.
    let script = """
      (until [ "$(sqlite3 "$2/.kelvin-index.sqlite" 'SELECT count(*) FROM pictures' || echo 0)" -gt 0 ]
      do kill -0 $$ || exit; done; kill -TERM $$) > /dev/null 2>&1 &
      exec "$0" "$@"
      """
    let result = Kelvin.run(
      ["index", fixture.folder.path, "--model", Kelvin.digitsPackage, "--units", "cpu", "--workers", "1", "--json"],
      script: script)
    #expect(result.status == 130, "\(result)")
    let document = try JSONValue(result.output)
    #expect(document["complete"]?.bool == false)
    #expect((document["images"]?.number ?? 0) > 0)
    #expect(document["images"]?.number == document["seen"]?.number)
  }
}
