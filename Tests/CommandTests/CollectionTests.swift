import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// `kelvin index`, `search` and `categories`.
@Suite struct CollectionTests {
  private let fixture = CollectionFixture([
    "a/nought.png": "0_0030.png", "nine.png": "9_0125.png", "drei.jpg": "3_0103.jpg",
  ])

  private static let hasSQLite = access("/usr/bin/sqlite3", X_OK) == 0

  @Test func everyOutputFormatListsTheSameFiles() throws {
    let indexed = fixture.index("--json")
    #expect(indexed.status == 0, "\(indexed)")
    let document = try JSONValue(indexed.output)
    #expect(document["images"]?.number == 3 && document["seen"]?.number == 3 && document["complete"]?.bool == true)
    let paths = ["nine.png", "drei.jpg"].map { "\(fixture.folder.path)/\($0)" }
    let arguments = ["nine", "OR", "three", "--min-confidence", "0.5"]
    func run(_ more: String...) -> ToolResult { Kelvin.run(["search", fixture.folder.path] + arguments + more) }
    let table = run()
    #expect(table.status == 0 && table.output.hasPrefix("IMAGE"), "\(table)")
    #expect(Set(run("--format", "paths").output.split(separator: "\n").map(String.init)) == Set(paths))
    #expect(Set(run("--format", "paths0").output.split(separator: "\0").map(String.init)) == Set(paths))
    let lines = try run("--format", "jsonl").output.split(separator: "\n").map { try JSONValue(String($0)) }
    #expect(Set(lines.compactMap { $0["image"]?.text }) == Set(paths))
    #expect(try JSONValue(run("--json").output).array == lines)
    #expect(lines[0]["observations"]?[0]?["confidence"]?.number == lines[0]["score"]?.number)
    let categories = Kelvin.run("categories", fixture.folder.path, "--json")
    #expect(try JSONValue(categories.output).array?.map { $0["images"]?.number } == [1, 1, 1])
    #expect(Kelvin.run("categories", fixture.folder.path).output.contains("33.3 %"))
  }

  @Test func secondIndexRunSkipsUnchangedImages() throws {
    #expect(fixture.index().status == 0)
    let again = Kelvin.run("index", fixture.folder.path, "--units", "cpu", "--json")
    #expect(try JSONValue(again.output)["unchanged"]?.number == 3, "\(again)")
    #expect(try JSONValue(again.output)["seen"]?.number == 0)
  }

  @Test func similarityDuplicatesAndTimesFilterASearch() throws {
    fixture.folder.write(TemporaryFolder.read("\(CollectionFixture.images)/9_0125.png"), "copy.png")
    #expect(fixture.index().status == 0)
    let like = fixture.search("--like", "\(CollectionFixture.images)/9_0128.png", "--json", "--units", "cpu")
    let best = try #require(try JSONValue(like.output).array)
    #expect(
      Set(best.prefix(2).compactMap { $0["image"]?.text?.split(separator: "/").last }) == ["nine.png", "copy.png"])
    let groups = try #require(try JSONValue(fixture.search("--duplicates", "--json").output).array)
    #expect(groups.count == 1 && groups[0]["identical"]?.bool == true)
    #expect(try JSONValue(fixture.search("--since", "1d", "--json").output).array?.count == 4)
    let future = fixture.search("--since", "9999-12-31", "--json")
    #expect(try JSONValue(future.output).array?.isEmpty == true)
  }

  @Test(.enabled(if: CollectionTests.hasSQLite, "needs the sqlite3 program"))
  func imagesWithoutSharedLabelAreCounted() throws {
    #expect(fixture.index().status == 0)
    // Every image keeps half of the ten digits, so any two images share some.
    let forget = """
      sqlite3 "$2/.kelvin-index.sqlite" "DELETE FROM observations WHERE picture NOT IN (SELECT picture FROM observations \
      JOIN labels ON labels.id = label WHERE name = 'nine' AND confidence > 0.5)"; exec "$0" "$@"
      """
    let like = ["search", fixture.folder.path, "--like", "\(fixture.folder.path)/nine.png"]
    let few = Kelvin.run(like + ["--limit", "2", "--format", "paths"], script: forget)
    #expect(few.status == 0 && few.output == "\(fixture.folder.path)/nine.png\n", "\(few)")
    #expect(few.errors.contains("2 more images share no label with it"), "\(few)")
    for enough in [["--limit", "1"], ["--json"]] {
      let result = Kelvin.run(like + enough)
      #expect(result.status == 0 && !result.output.isEmpty && result.errors.isEmpty, "\(result)")
    }
  }

  @Test(.slow, .enabled(if: PageTool.hasPython && PageTool.hasChromium, "needs python3 and chromium"))
  func contactSheetOpensInTheBrowser() throws {
    #expect(fixture.index().status == 0)
    let sheet = "\(fixture.folder.path)/sheet.html"
    let result = fixture.search("nine OR three OR zero", "--sheet", sheet)
    #expect(result.status == 0, "\(result)")
    let checked = try PageTool.run("dev/page.py", "check", on: TemporaryFolder.read(sheet), suffix: ".html")
    #expect(checked.status == 0 && checked.output.contains("\"images\": 3"), "\(checked.output)")
  }

  @Test func unreadableFileGivesStatus65OnEveryRun() {
    fixture.folder.write("no image", "torn.jpg")
    for run in 1...2 {
      let result = fixture.index()
      #expect(result.status == 65 && result.output.contains("1 unreadable"), "run \(run): \(result)")
    }
  }

  @Test(.slow) func indexReportIsAPage() throws {
    fixture.folder.write("no image", "<b>.jpg")
    let page = "\(fixture.folder.path)/run.html"
    let result = fixture.index("--report", page)
    #expect(result.status == 65, "\(result)")
    let html = String(decoding: TemporaryFolder.read(page), as: UTF8.self)
    for text in ["Changes", "Categories", "Unreadable images", "/&lt;b&gt;.jpg", ">nine</td>", "\u{A0}/s."] {
      #expect(html.contains(text), "\(text)")
    }
    guard PageTool.hasPython, PageTool.hasChromium else { return }
    let checked = try PageTool.run("dev/page.py", "check", on: TemporaryFolder.read(page), suffix: ".html")
    #expect(checked.status == 0 && checked.output.contains("\"tables\": 3"), "\(checked.output)")
  }

  @Test func categorySheetShowsTheMostConfidentImages() {
    #expect(fixture.index().status == 0)
    let sheet = "\(fixture.folder.path)/sheet.html"
    let result = Kelvin.run("categories", fixture.folder.path, "--sheet", sheet)
    #expect(result.status == 0, "\(result)")
    let page = String(decoding: TemporaryFolder.read(sheet), as: UTF8.self)
    #expect(page.contains("<b>nine</b> ") && page.contains("data:image/jpeg;base64,"))
    #expect(page.split(separator: "<figure").count == result.output.split(separator: "\n").count)
  }

  @Test func imageBehindALinkIsShownOnlyIfLinksAreFollowed() throws {
    #expect(fixture.index().status == 0)
    let elsewhere = TemporaryFolder()
    #expect(rename("\(fixture.folder.path)/a", "\(elsewhere.path)/a") == 0)
    #expect(symlink("\(elsewhere.path)/a", "\(fixture.folder.path)/a") == 0)
    let sheet = "\(elsewhere.path)/sheet.html"
    func images(_ arguments: [String]) -> Int {
      let result = Kelvin.run(arguments + ["--sheet", sheet])
      #expect(result.status == 0, "\(result)")
      let page = String(decoding: TemporaryFolder.read(sheet), as: UTF8.self)
      return page.split(separator: "data:image/jpeg;base64,").count - 1
    }
    for command in [["search", fixture.folder.path, "zero OR nine OR three"], ["categories", fixture.folder.path]] {
      #expect(images(command) == 2)
      let page = String(decoding: TemporaryFolder.read(sheet), as: UTF8.self)
      #expect(page.contains("is a symbolic link"))
      #expect(images(command + ["--follow-links"]) == 3)
    }
    // The next update leaves the image out.
    #expect(fixture.index().output.hasPrefix("2 images in the index"))
  }

  @Test func indexBehindALinkIsNotWritten() {
    let target = "\(fixture.folder.path)/target"
    #expect(symlink(target, "\(fixture.folder.path)/.kelvin-index.sqlite") == 0)
    let result = fixture.index()
    #expect(result.status == 65 && result.errorLines.count == 1, "\(result)")
    #expect(result.errors.contains("symbolic link") && result.errors.contains("--index"), "\(result)")
    #expect(access(target, F_OK) != 0)
  }

  @Test func searchEndsAtItsTimeLimit() {
    #expect(fixture.index().status == 0)
    let result = fixture.search("nine", "--max-seconds", "0.000001")
    #expect(result.status == 75 && result.errors.contains("--max-seconds"), "\(result)")
  }

  @Test func indexOfNewerVersionIsRefused() {
    #expect(fixture.index().status == 0)
    let file = "\(fixture.folder.path)/.kelvin-index.sqlite"
    var bytes = TemporaryFolder.read(file)
    // The user's version in SQLite's header, big-endian. A journal would replace the header.
    bytes.replaceSubrange(60..<64, with: [0, 0, 0, 99])
    unlink("\(file)-wal")
    fixture.folder.write(bytes, ".kelvin-index.sqlite")
    for result in [Kelvin.run("index", fixture.folder.path), fixture.search("nine")] {
      #expect(result.status == 65 && result.errors.contains("has format 99"), "\(result)")
    }
  }

  @Test func unusualFilesDoNotStopIndexing() throws {
    let script = """
      cd "$1"; cp nine.png "$(printf 'n\\351.png')"; cp nine.png "$(printf 'line\\nfeed\\033[31m.png')"
      ln -s . loop; ln -s / root; mkfifo pipe.jpg; echo text > text.jpg; head -c 80 nine.png > torn.png; : > empty.gif
      exec "$0" index . --model "$2" --units cpu
      """
    let result = Kelvin.run([fixture.folder.path, Kelvin.digitsPackage], script: script)
    #expect(result.status == 65, "\(result)")
    let lines = result.errorLines
    #expect(lines.count == 4, "\(result)")
    for name in ["pipe.jpg", "text.jpg", "torn.png", "empty.gif"] {
      #expect(lines.count { $0.contains("'./\(name)'") } == 1, "\(name)")
    }
    #expect(result.output.hasPrefix("5 images in the index"), "\(result)")
    let found = fixture.search("nine", "--format", "paths0")
    let names = Set(found.output.utf8.split(separator: 0).map { Array($0) })
    let folder = Array("\(fixture.folder.path)/".utf8)
    #expect(names.contains(folder + Array("line\nfeed\u{1B}[31m.png".utf8)))
    let table = fixture.search("nine")
    #expect(table.output.contains("line\\nfeed\\u{1B}[31m.png") && table.output.contains("n\\xE9.png"), "\(table)")
    // The second run recognizes them, and reports only the files that it cannot store.
    let again = fixture.index()
    #expect(again.errorLines.count == 1 && again.errors.contains("pipe.jpg"), "\(again)")
  }

  @Test func markupAndEscapesInLabelsAreEscaped() throws {
    let evil = "<script>alert(1)</script>\u{1B}[31m\u{202E}"
    let labels = fixture.folder.write((0..<10).map { "\(evil) \($0)" }.joined(separator: "\n"), "labels.txt")
    #expect(fixture.index("--labels", labels).status == 0)
    let sheet = "\(fixture.folder.path)/sheet.html"
    for result in [
      fixture.search("script"), fixture.search("alert", "--json"), fixture.search("script", "--format", "jsonl"),
      Kelvin.run("categories", fixture.folder.path), fixture.search("script", "--sheet", sheet),
    ] {
      #expect(result.status == 0 && !result.output.isEmpty, "\(result)")
      #expect(!result.output.contains("\u{1B}") && !result.output.contains("\u{202E}"), "\(result)")
    }
    let page = String(decoding: TemporaryFolder.read(sheet), as: UTF8.self)
    #expect(page.contains("&lt;script&gt;") && !page.contains("<script>alert"))
    #expect(!page.contains("\u{1B}") && !page.contains("\u{202E}"))
  }

  @Test func refusalIsOneLineWithTheRemedy() throws {
    let absent = fixture.search("nine")
    #expect(absent.status == 65 && absent.errorLines.count == 1 && absent.errors.contains("kelvin index"), "\(absent)")
    let unnamed = Kelvin.run(["index", fixture.folder.path], environment: ["XDG_CONFIG_HOME": "/nonexistent"])
    #expect(unnamed.status == 65 && unnamed.errors.contains("kelvin use"), "\(unnamed)")
    #expect(fixture.index().status == 0)
    let query = fixture.search("nine", "OR")
    #expect(query.status == 64 && query.errorLines.count == 1, "\(query)")
    let precise = fixture.search("nine", "--min-precision", "0.9")
    #expect(precise.status == 65 && precise.errors.contains("--min-confidence"), "\(precise)")
    let other = fixture.index("--crop-and-scale", "scale-fill")
    #expect(other.status == 65 && other.errors.contains("--rebuild"), "\(other)")
    #expect(fixture.search("nine", "--min-confidence", "2").status == 64)
    #expect(fixture.search("nine", "--since", "yesterday").status == 64)
    #expect(fixture.search("--like", "/nonexistent.jpg").status == 65)
  }

  @Test func missingSQLiteIsReported() {
    let library = TemporaryFolder()
    library.write("no library", "libsqlite3.so.0")
    let result = Kelvin.run(["search", fixture.folder.path, "nine"], environment: ["LD_LIBRARY_PATH": library.path])
    // The folder has no index: the command looks for the file first.
    #expect(result.status == 65, "\(result)")
    let indexed = Kelvin.run(
      ["index", fixture.folder.path, "--model", Kelvin.digitsPackage, "--units", "cpu"],
      environment: ["LD_LIBRARY_PATH": library.path])
    #expect(indexed.status == 70 && indexed.errors.contains("image indexes are not available"), "\(indexed)")
  }
}
