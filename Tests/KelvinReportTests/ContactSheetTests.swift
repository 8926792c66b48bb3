import KelvinReport
import TestSupport
import Testing

@Suite struct ContactSheetTests {
  /// A JPEG of 8 × 8 grey pixels.
  private static let grey = """
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19i\
    Z2hnPk1xeXBkeFxlZ2P/wAALCAAIAAgBAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUF\
    BAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVW\
    V1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi\
    4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/ACv/2Q==
    """

  private static let evil = "<img src=x onerror=alert(1)>\u{1B}[31m\u{202E}\"' & </script>"

  private static func sheet(title: String = evil, _ images: [ContactSheet.Image]) -> String {
    ContactSheet(title: title, summary: "3 images", images: images, kelvinVersion: "0").render()
  }

  private static let page = sheet([
    .init(path: "a/river.jpg", labels: [("otter", "90 %"), (evil, "3 %")], width: 8, height: 8, thumbnail: grey),
    .init(path: evil, labels: [(evil, "80 %")], width: 8, height: 8, thumbnail: grey),
    .init(path: "gone.jpg", labels: [("otter", "70 %")], width: 0, height: 0, thumbnail: nil, fault: evil),
  ])

  @Test func foreignStringsAreEscapedAndNothingIsFetched() {
    #expect(!Self.page.contains("<img src=x"))
    #expect(!Self.page.contains("\u{1B}") && !Self.page.contains("\u{202E}"))
    #expect(Self.page.split(separator: "</script>").count == 2)
    #expect(Self.page.contains("default-src 'none'; img-src data:"))
    #expect(!Self.page.contains("://"))
  }

  @Test func invalidThumbnailIsOmitted() {
    let page = Self.sheet([
      .init(path: "a", labels: [], width: 1, height: 1, thumbnail: "\" onload=\"alert(1)", fault: nil)
    ])
    #expect(!page.contains("onload"))
  }

  @Test(.slow, .enabled(if: PageTool.hasPython && PageTool.hasChromium, "needs python3 and chromium"))
  func contactSheetPassesTheBrowserCheck() throws {
    let page = Self.sheet(
      title: "otter OR badger",
      [
        .init(
          path: "a/river.jpg", labels: [("otter", "90 %"), ("lake", "3 %")], width: 8, height: 8, thumbnail: Self.grey),
        .init(path: "b/wood.jpg", labels: [("badger", "80 %")], width: 8, height: 8, thumbnail: Self.grey),
        .init(path: "gone.jpg", labels: [("otter", "70 %")], width: 0, height: 0, thumbnail: nil, fault: "it is gone"),
      ])
    let checked = try PageTool.run("dev/page.py", "check", on: Array(page.utf8), suffix: ".html")
    #expect(checked.status == 0, "\(checked.output)")
    #expect(checked.output.contains("\"images\": 2"), "\(checked.output)")
  }
}
