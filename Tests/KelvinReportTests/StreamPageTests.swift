import KelvinReport
import KelvinThermal
import TestSupport
import Testing

/// The page about streams of frames.
@Suite struct StreamPageTests {
  private static let evil = "<script>alert(1)</script>"

  /// A JPEG of 8 × 8 grey pixels.
  private static let grey = """
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19i\
    Z2hnPk1xeXBkeFxlZ2P/wAALCAAIAAgBAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUF\
    BAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVW\
    V1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi\
    4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/ACv/2Q==
    """

  private static func track(_ id: Int, _ label: String, frames: Int, thumbnail: String? = grey)
    -> StreamPage.TrackSummary
  {
    .init(
      id: id, label: label, firstTime: Double(id), lastTime: Double(id) + 7.5, frameCount: frames,
      thumbnail: thumbnail, width: 96, height: 72)
  }

  /// A stream of two minutes, which heats up after one and is then slowed down.
  private static func stream(_ name: String) -> StreamPage.Stream {
    var stream = StreamPage.Stream(name: name)
    stream.facts = [
      ReportFact("frames", "3,600"), ReportFact("answered", "78.3 %"), ReportFact("latency, p99", "61.0 ms"),
    ]
    stream.remarks = ["frames 512 to 530 are scaled: the size changed to 640 × 480"]
    stream.latencies = (0..<1800).map { frame in
      let at = Double(frame) / 15
      return (at, at < 60 ? 0.04 + 0.004 * Double(frame % 7) : 0.07 + 0.006 * Double(frame % 5))
    }
    stream.deadline = 0.1
    stream.rates = (0..<120).map {
      .init(at: Double($0), answered: $0 < 60 ? 24 : 15, dropped: 6, skipped: $0 < 60 ? 0 : 9)
    }
    stream.heat = (0..<120).map { second in
      let headroom = 0.5 + 0.5 * Double(second) / 100
      return .init(
        at: Double(second), state: headroom < 0.8 ? .nominal : headroom < 1 ? .fair : .serious, headroom: headroom)
    }
    stream.heatSource = "envelope of a phone, simulated"
    stream.isSimulated = true
    stream.steps = [
      .init(
        at: 60, change: "1 thread", cause: "headroom 0.80 of 1.0", effect: "power 4.1 to 2.6 W, latency 52 to 81 ms"),
      .init(at: 90, change: "75 % of frames", cause: "headroom 0.95 of 1.0"),
    ]
    stream.tracks = [
      track(1, "bottle", frames: 210), track(2, "cup", frames: 34), track(3, "", frames: 3, thumbnail: nil),
    ]
    stream.counts = [("bottle", 1), ("cup", 1)]
    return stream
  }

  private static func page(_ streams: [StreamPage.Stream], comparison: ReportTable? = nil) -> String {
    StreamPage(
      .init(
        title: "YOLOX on 2 streams", summary: "3,600 frames in 2 min, 78.3 % answered.",
        facts: [ReportFact("model", "yolox.onnx"), ReportFact("units", "cpu")], streams: streams,
        comparison: comparison,
        kelvinVersion: "0", generated: "today")
    ).render()
  }

  private static let comparison = ReportTable(
    title: "One-shot and sustained", columns: ["Units", "One-shot", "Sustained", "Decoding"],
    rows: [["cpu, 2 threads", "24.1 ms", "31.0 /s", "4.10 ms"], ["cpu, 1 thread", "43.0 ms", "22.4 /s", "4.10 ms"]])

  @Test func eachStreamHasASection() {
    let page = Self.page([Self.stream("a.mp4"), Self.stream("rtsp://camera/1")])
    #expect(page.contains("<section id=\"stream0\">") && page.contains("<section id=\"stream1\">"))
    #expect(page.contains("<a href=\"#stream0\">a.mp4</a>"))
    #expect(!Self.page([Self.stream("a.mp4")]).contains("href=\"#stream0\""))
  }

  @Test func stepSaysWhyAndWhatItBought() {
    let page = Self.page([Self.stream("a.mp4")])
    #expect(page.contains("<b>1 thread</b>, headroom 0.80 of 1.0; power 4.1 to 2.6\u{A0}W, latency 52 to 81\u{A0}ms"))
    #expect(page.contains("<b>75\u{A0}% of frames</b>, headroom 0.95 of 1.0</li>"))
    // A step is marked on the charts of latency, rates and heat.
    #expect(page.ranges(of: "<title>1 thread: headroom").count == 3)
  }

  @Test func deadlineIsALineInTheScaleOfTheLatency() {
    var stream = StreamPage.Stream(name: "a")
    stream.latencies = (0..<20).map { (Double($0), 0.01) }
    #expect(!Self.page([stream]).contains(">deadline</text>"))
    stream.deadline = 0.1
    let page = Self.page([stream])
    #expect(page.contains(">deadline</text>") && page.contains(">100\u{A0}ms</text>"))
  }

  @Test func barsAreRatesOfTheKindsThatOccur() {
    var stream = StreamPage.Stream(name: "a")
    stream.rates = [.init(at: 0, seconds: 2, answered: 30, dropped: 10), .init(at: 2, seconds: 2, answered: 0)]
    let page = Self.page([stream])
    #expect(page.contains("<title>0\u{A0}s: 15.0\u{A0}/s answered, 5.00\u{A0}/s dropped</title>"))
    #expect(page.contains("<title>2.00\u{A0}s: no frames</title>"))
    #expect(page.contains("</svg>dropped</span>") && !page.contains("skipped by the governor"))
  }

  @Test func longRunsHaveAtMostTwoHundredBars() {
    var stream = StreamPage.Stream(name: "a")
    stream.rates = (0..<3601).map { .init(at: Double($0), answered: 30) }
    let page = Self.page([stream])
    #expect(page.ranges(of: "30.0\u{A0}/s answered</title>").count == 190)
  }

  @Test func pageWithoutHeatAndTracksHasNeither() {
    var stream = StreamPage.Stream(name: "a")
    stream.latencies = (0..<20).map { (Double($0), 0.01) }
    let page = Self.page([stream])
    #expect(page.contains("<h3>Latency over time ") && !page.contains("Thermal headroom") && !page.contains("<table"))
    #expect(Self.page([StreamPage.Stream(name: "empty")]).contains("<h2>empty</h2>"))
  }

  @Test func tracksHaveRowsInTheOrderOfTheirNumbers() throws {
    let page = Self.page([Self.stream("a.mp4")])
    #expect(page.contains("<h3>3 tracks</h3>") && page.ranges(of: "<img src=\"data:image/jpeg;base64,").count == 2)
    let rows = page.split(separator: "<tr><th scope=\"row\">").map { String($0.prefix(1)) }
    #expect(rows.filter { ["1", "2", "3"].contains($0) } == ["1", "2", "3"])
    #expect(page.contains("<td>1.00\u{A0}s</td><td>8.50\u{A0}s</td><td>7.50\u{A0}s</td><td>210</td>"))
  }

  @Test func tracksWithFewFramesAreLeftOutOfALongTable() {
    var stream = StreamPage.Stream(name: "a")
    stream.tracks = (1...600).map { Self.track($0, "car", frames: $0, thumbnail: nil) }
    let page = Self.page([stream])
    #expect(page.contains("100 tracks with fewer frames are left out."))
    #expect(!page.contains("<th scope=\"row\">100</th>") && page.contains("<th scope=\"row\">101</th>"))
  }

  @Test func foreignStringsAreEscaped() {
    var stream = Self.stream(Self.evil)
    stream.remarks = [Self.evil]
    stream.steps = [.init(at: 1, change: Self.evil, cause: Self.evil, effect: Self.evil)]
    stream.tracks = [Self.track(1, Self.evil, frames: 1, thumbnail: "\" onload=\"alert(1)")]
    stream.counts = [(Self.evil, 1)]
    let page = Self.page([stream])
    #expect(!page.contains("<script") && !page.contains("onload") && page.contains("default-src 'none'"))
  }

  @Test func numbersOutOfRangeAreHarmless() {
    var stream = StreamPage.Stream(name: "a")
    stream.latencies = [(.nan, 1), (1, .infinity), (-1, 2)]
    stream.deadline = .nan
    stream.rates = [.init(at: .nan, answered: 1), .init(at: 0, seconds: 0, answered: 1), .init(at: 0, answered: -4)]
    stream.steps = [.init(at: .infinity, change: "x", cause: "y")]
    stream.heat = [.init(at: .nan, state: .fair, headroom: .nan)]
    let page = Self.page([stream])
    #expect(!page.contains("nan") && !page.contains("inf\""))
  }

  @Test(.slow, .enabled(if: PageTool.hasPython && PageTool.hasChromium, "needs python3 and chromium"))
  func streamPagePassesTheBrowserCheck() throws {
    let page = Self.page([Self.stream("a.mp4"), Self.stream("rtsp://camera/1")], comparison: Self.comparison)
    let checked = try PageTool.run("dev/page.py", "check", on: Array(page.utf8), suffix: ".html")
    #expect(checked.status == 0, "\(checked.output)")
    #expect(checked.output.contains("\"series\": 2") && checked.output.contains("\"headroom\": 2"), "\(checked.output)")
  }
}
