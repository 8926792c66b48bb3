import Foundation
import Testing

/// The tables of names in the guide.
@Suite struct GuideTests {
  /// Every name of a row that is one identifier is a type: on the left in Apple's modules, on the right in Kelvin's.
  @Test func namesOfTheGuideExist() throws {
    let page = Places.root.appendingPathComponent("docs/guide/how-to/coming-from-core-ml.md")
    var (apple, kelvin) = (Set<String>(), Set<String>())
    for row in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") where row.hasPrefix("| `") {
      let cells = row.split(separator: "|").map { $0.split(separator: "`") }
      guard cells.count == 2, cells.allSatisfy({ $0.count > 1 }), cells[0][1].allSatisfy(\.isLetter) else { continue }
      guard ["ML", "VN", "CV", "CG"].contains(cells[0][1].prefix(2)) else { continue }
      apple.insert(String(cells[0][1]))
      if cells[1][1].allSatisfy(\.isLetter) { kelvin.insert(String(cells[1][1])) }
    }
    #expect(apple.count > 30 && kelvin.count > 30)
    for (modules, names) in [(["CoreML", "Vision"], apple), (["Kelvin", "KelvinVision"], kelvin)] {
      let folder = try Folder()
      let source = folder.file("names.swift")
      let lines = modules.map { "import \($0)" } + names.sorted().map { "typealias Of\($0) = \($0)" }
      try lines.joined(separator: "\n").write(to: source, atomically: true, encoding: .utf8)
      let outcome = try Outcome.of(
        "/usr/bin/env", ["swiftc", "-typecheck", source.path] + Places.moduleOptions)
      #expect(outcome.status == 0, "\(outcome.output)")
    }
  }
}
