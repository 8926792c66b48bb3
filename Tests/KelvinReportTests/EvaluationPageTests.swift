import KelvinReport
import TestSupport
import Testing

@Suite struct EvaluationPageTests {
  private static let evil = "<script>alert(1)</script>"

  private static func candidate(
    _ name: String, _ quality: Double, cost: Double, devices: String = "", isOnFront: Bool = false
  ) -> EvaluationPage.BenchmarkCandidate {
    .init(
      name: name, cells: ["\(quality)", "a to b", "—", "1 MiB", "—", "\(cost) s", devices], quality: quality,
      interval: quality - 0.05...quality + 0.05, cost: cost, isOnFront: isOnFront, isChosen: isOnFront,
      sections: [
        .table(
          title: "Each class", columns: ["Class", "Images"], rows: (0..<25).map { ["\(evil) \($0)", "\($0)"] }),
        .calibration([(confidence: 0.2, share: 0.3, count: 4), (confidence: 0.9, share: 1, count: 30)]),
        .scatter(title: "Answers", [(truth: -3, answer: -2), (truth: 4, answer: 5), (truth: .nan, answer: 1)]),
      ],
      mistakes: [
        .init(
          image: .init(
            path: "a.png", labels: [(evil, "3 %")], width: 0, height: 0, thumbnail: nil, fault: "it is gone"),
          caption: "off by 3")
      ])
  }

  private static func page(_ candidates: [EvaluationPage.BenchmarkCandidate]) -> String {
    EvaluationPage(
      title: "set", summary: "2 images", verdict: "Take this one, p = 1.000.",
      columns: ["Top-1", "95 %", "Top-5", "Size", "Memory", "Warm", "On"],
      isShare: true,
      isBetterWhenLarger: true, candidates: candidates, notes: [evil], kelvinVersion: "0"
    ).render()
  }

  @Test func emptyColumnIsOmitted() {
    let bare = Self.page([Self.candidate("a", 0.5, cost: 1)])
    #expect(
      !bare.contains(">On<") && !bare.contains(">Memory<") && !bare.contains(">Top-5<") && bare.contains(">Warm<"))
    let placed = Self.page([
      Self.candidate("a", 0.5, cost: 1), Self.candidate("b", 0.6, cost: 1, devices: "cpu"),
    ])
    #expect(placed.contains("<td data-label=\"On\"><div>—</div></td>"))
    #expect(placed.contains("<td data-label=\"On\"><div>cpu</div></td>"))
  }

  /// The first is on the front, whose line goes from its mark to the right: the name is beside it, not on it.
  @Test func nameDoesNotOverlapTheFrontLine() throws {
    let page = Self.page([
      Self.candidate("fast", 0.5, cost: 0.1, isOnFront: true), Self.candidate("slow", 0.5, cost: 0.12),
    ])
    let name = try #require(page.split(separator: "<text class=\"name\"").first { $0.contains(">slow</text>") })
    let y = try #require(name.split(separator: "\"").dropFirst(3).first.flatMap { Double($0) })
    let line = try #require(page.split(separator: "class=\"front\" d=\"M").last)
    let height = try #require(line.split(separator: "H").first?.split(separator: " ").last.flatMap { Double($0) })
    // A name's baseline is three units above its box's lower edge, its box twelve units high.
    #expect(y + 3 <= height - 1 || y - 9 >= height + 1)
  }

  @Test func foreignStringsAreEscaped() {
    let page = Self.page([Self.candidate(Self.evil, 0.5, cost: 1)])
    #expect(!page.contains("<script") && !page.contains("://") && page.contains("default-src 'none'"))
    #expect(page.contains("p\u{A0}=\u{A0}1.000"))
  }

  @Test(.slow, .enabled(if: PageTool.hasPython && PageTool.hasChromium, "needs python3 and chromium"))
  func evaluationPagePassesTheBrowserCheck() throws {
    let page = Self.page([
      Self.candidate("A_model_with_a_long_name_in_full_precision", 0.5, cost: 0.1, devices: "cpu", isOnFront: true),
      Self.candidate("B", 0.48, cost: 0.2, devices: "cpu 80 %, vulkan:0 20 %"),
    ])
    let checked = try PageTool.run("dev/page.py", "check", on: Array(page.utf8), suffix: ".html")
    #expect(checked.status == 0, "\(checked.output)")
    #expect(
      checked.output.contains("\"charts\": 5") && checked.output.contains("\"configurations\": 2"), "\(checked.output)")
  }

  @Test(.slow, .enabled(if: PageTool.hasPython && PageTool.hasChromium, "needs python3 and chromium"))
  func tablesPassTheBrowserCheck() throws {
    let table = ReportTable(
      title: "", columns: ["Text", "Similarity"], rows: (0..<30).map { ["\(Self.evil) text \($0)", "0.\($0)"] })
    let page = TablePage(title: Self.evil, summary: "30 texts", tables: [table], kelvinVersion: "0").render()
    #expect(!page.contains("<script"))
    let checked = try PageTool.run("dev/page.py", "check", on: Array(page.utf8), suffix: ".html")
    #expect(checked.status == 0 && checked.output.contains("\"tables\": 1"), "\(checked.output)")
  }
}
