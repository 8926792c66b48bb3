import Glibc
import KelvinBasics
import TestSupport
import Testing

/// The compiled cache may be full, read-only, broken or half written: the answer stays right and nothing is lost.
@Suite struct CacheTests {
  private let arguments = ["classify", Kelvin.digits, Kelvin.image("8_0127.png"), "--json", "--units", "cpu"]

  private var expected: String {
    get throws {
      let result = Kelvin.run(arguments + ["--no-cache"])
      #expect(result.status == 0, "\(result)")
      return try #require(result.output.isEmpty ? nil : result.output)
    }
  }

  @Test func secondRunUsesTheCacheOfTheFirst() throws {
    let folder = TemporaryFolder()
    let cold = Kelvin.run(arguments + ["--cache-dir", folder.path])
    let left = TemporaryFolder.files(folder.path)
    #expect(left.contains { $0.hasSuffix(".pack") })
    let warm = Kelvin.run(arguments + ["--cache-dir", folder.path])
    #expect(cold.errors.isEmpty && warm.errors.isEmpty)
    #expect(try (cold.output, warm.output) == (expected, expected))
    #expect(TemporaryFolder.files(folder.path) == left)
  }

  @Test func unwritableCacheIsReportedOnce() throws {
    let folder = TemporaryFolder()
    let file = folder.write("in the way", "file")
    for place in ["\(file)/cache", "/proc/kelvin"] {
      let result = Kelvin.run(arguments + ["--cache-dir", place])
      #expect(result.status == 0, "\(result)")
      #expect(result.errors.split(separator: "\n").count == 1 && result.errors.hasPrefix("kelvin: note: "), "\(result)")
      #expect(try result.output == expected)
    }
  }

  @Test(.boundsFiles)
  func fullDiskIsReportedAndLeavesNoPartialFile() throws {
    let folder = TemporaryFolder()
    let full = Kelvin.run(arguments + ["--cache-dir", folder.path], shell: "ulimit -f 8")
    #expect(full.status == 0, "\(full)")
    #expect(full.errors.hasPrefix("kelvin: note: "), "\(full)")
    #expect(!TemporaryFolder.files(folder.path).contains { $0.contains(".writing-") || $0.hasSuffix(".pack") })
    let next = Kelvin.run(arguments + ["--cache-dir", folder.path])
    #expect(try (full.output, next.output) == (expected, expected))
  }

  @Test func damagedCacheFilesAreReplaced() throws {
    let folder = TemporaryFolder()
    _ = Kelvin.run(arguments + ["--cache-dir", folder.path])
    for file in TemporaryFolder.files(folder.path) {
      let bytes = TemporaryFolder.read(file)
      let name = String(file.dropFirst(folder.path.count + 1))
      for damaged in Tier.some(
        1, of: [Array(bytes.prefix(bytes.count / 2)), bytes.map { $0 ^ 0x5A }, [], bytes + bytes])
      {
        folder.write(damaged, name)
        let result = Kelvin.run(arguments + ["--cache-dir", folder.path])
        #expect(result.status == 0, "\(name): \(result)")
        #expect(try result.output == expected, "\(name) of \(damaged.count) bytes")
      }
      folder.write(bytes, name)
    }
  }

  @Test func flippedBitsInPackedWeightsAreReportedOnce() throws {
    let folder = TemporaryFolder()
    _ = Kelvin.run(arguments + ["--cache-dir", folder.path])
    let pack = try #require(TemporaryFolder.files(folder.path).first { $0.hasSuffix(".pack") })
    var bytes = TemporaryFolder.read(pack)
    // The last page of weights; what is before it in the file stays good.
    let place = try #require(bytes.lastIndex { $0 != 0 })
    bytes[place] ^= 0x40
    folder.write(bytes, String(pack.dropFirst(folder.path.count + 1)))
    let found = Kelvin.run(arguments + ["--cache-dir", folder.path])
    #expect(try found.status == 0 && found.output == expected)
    #expect(
      found.errors == "kelvin: note: '\(pack)' holds damaged packed weights; they are packed again\n",
      "\(found)")
    let next = Kelvin.run(arguments + ["--cache-dir", folder.path])
    #expect(try next.errors.isEmpty && next.output == expected, "\(next)")
  }

  @Test func cacheFolderWritableByOthersIsRefused() throws {
    let folder = TemporaryFolder()
    _ = Kelvin.run(arguments + ["--cache-dir", folder.path])
    let left = TemporaryFolder.files(folder.path)
    for file in left { unlink(file) }
    #expect(chmod(folder.path, 0o770) == 0)
    let result = Kelvin.run(arguments + ["--cache-dir", folder.path])
    #expect(try result.status == 0 && result.output == expected)
    #expect(TemporaryFolder.files(folder.path).isEmpty)
    #expect(
      result.errors.hasPrefix(
        "kelvin: note: nothing is kept for the next run: cannot trust '\(folder.path)': others may write to it: "
          + "it belongs to "), "\(result)")
    #expect(result.errors.contains("(\(geteuid())) and has mode 0770; 'chmod go-w' it"), "\(result)")
    #expect(result.errors.split(separator: "\n").count == 1, "\(result)")
  }

  @Test func plantedLinkIsNotFollowed() throws {
    let folder = TemporaryFolder()
    _ = Kelvin.run(arguments + ["--cache-dir", folder.path])
    let lock = try #require(TemporaryFolder.files(folder.path).first { $0.hasSuffix(".pack.lock") })
    let outside = TemporaryFolder()
    let victim = outside.write("precious", "victim")
    for file in [lock, String(lock.dropLast(5))] {
      unlink(file)
      #expect(symlink(victim, file) == 0)
    }
    let result = Kelvin.run(arguments + ["--cache-dir", folder.path])
    #expect(try result.status == 0 && result.output == expected)
    #expect(
      result.errors
        == "kelvin: note: nothing is kept for the next run: cannot open '\(lock.dropLast(5))': it is a link, "
        + "which the cache does not follow\n", "\(result)")
    #expect(TemporaryFolder.read(victim) == Array("precious".utf8))
  }

  @Test func killedRunLeavesTheCacheValid() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededGenerator(seed: seed)
    let expected = try expected
    for round in Tier.seeds(2, of: 12) {
      let folder = TemporaryFolder()
      let moment = Int(random.next() % 80_000)
      let killed = Kelvin.run(arguments + ["--cache-dir", folder.path], killAfter: moment)
      #expect(killed.signal == SIGKILL || killed.status == 0, "seed \(seed), round \(round): \(killed)")
      let next = Kelvin.run(arguments + ["--cache-dir", folder.path])
      #expect(next.status == 0 && next.errors.isEmpty, "seed \(seed), round \(round), \(moment) µs: \(next)")
      #expect(next.output == expected, "seed \(seed), round \(round), \(moment) µs")
    }
  }
}
