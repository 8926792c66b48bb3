import KelvinReport
import TestSupport
import Testing

/// The page about the size of a model.
@Suite struct SizePageTests {
  private static let evil = "<script>alert(1)</script>"

  private static func page(_ parts: [SizePage.Part]) -> String {
    SizePage(
      title: "Size of \(evil)", summary: "ML Program, 6 MiB", totals: [("size", "6 MiB", evil)],
      copies: ReportTable(title: "Smaller copies", columns: ["Form", "Size"], rows: [["int8", "3 MiB"]]), parts: parts,
      notes: [evil], kelvinVersion: "0"
    ).render()
  }

  private static func part(_ name: String, _ coding: SizePage.Coding, _ byteCount: Int) -> SizePage.Part {
    SizePage.Part(
      name: name, shape: "64x3x7x7", form: "\(coding)", coding: coding, file: "weights/weight.bin", byteCount: byteCount
    )
  }

  private static let all = SizePage.Coding.allCases.enumerated().map { place, coding in
    part("encoder.block_\(place).attention.value.weight", coding, 4_000_000 >> place)
  }

  @Test func eachPartHasATileThatLeadsToItsRow() {
    let page = Self.page(Self.all)
    for place in Self.all.indices {
      // Two drawings, for wide and narrow windows.
      #expect(page.ranges(of: "href=\"#t\(place)\"").count == 2 && page.contains("<tr id=\"t\(place)\">"))
    }
    #expect(
      page.contains(
        "aria-label=\"encoder.block_0.attention.value.weight: 3.81\u{A0}MiB, 50.8\u{A0}%, float32 64x3x7x7\""))
  }

  @Test func labelsAreOnlyInTilesThatHaveRoom() {
    let page = Self.page([Self.part("large", .float32, 1_000_000), Self.part("tiny", .float32, 10)])
    #expect(page.contains(">large</text>") && !page.contains(">tiny</text>") && page.contains(">tiny: "))
  }

  @Test func labelsAreWithoutWhatAllNamesShare() {
    let page = Self.page(["a", "bc"].map { Self.part("net.\($0)_weight", .float16, 1_000_000) })
    #expect(page.contains(">a</text>") && page.contains(">bc</text>") && page.contains(">net.bc_weight: "))
  }

  @Test func partsBeyondTheLimitAreOneTile() {
    let page = Self.page((0..<450).map { Self.part("w\($0)", .palette, 1000 - $0) })
    #expect(page.contains("150 smaller parts: ") && page.contains("<tr id=\"t449\" class=\"late\">"))
    #expect(page.ranges(of: "class=\"tile\"").count == 2 * 301)
  }

  @Test func foreignStringsAreEscaped() {
    let page = Self.page([Self.part(Self.evil, .sparse, 100_000)])
    #expect(!page.contains("<script>alert") && !page.contains("://") && page.contains("default-src 'none'"))
  }

  @Test func emptyFilesHaveNoTreemap() {
    #expect(Self.page([]).contains("The files are empty."))
  }

  @Test(.slow, .enabled(if: PageTool.hasPython && PageTool.hasChromium, "needs python3 and chromium"))
  func sizePagePassesTheBrowserCheck() throws {
    let many = Self.all + (0..<60).map { Self.part("decoder.layer_\($0).weight", .float16, 40_000 - 500 * $0) }
    let checked = try PageTool.run("dev/page.py", "check", on: Array(Self.page(many).utf8), suffix: ".html")
    #expect(checked.status == 0, "\(checked.output)")
    #expect(checked.output.contains("\"tables\": 3"), "\(checked.output)")
  }
}
