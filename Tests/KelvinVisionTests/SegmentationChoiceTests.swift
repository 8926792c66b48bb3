import FoundationEssentials
import Kelvin
import KelvinVision
import TestSupport
import Testing

/// Chosen labels, names and colours.
@Suite struct SegmentationChoiceTests {
  private static let labels = ["sky", "cat", "dog", "cat", "--"]
  private static let map: [UInt8] = [
    0, 0, 0, 0, 255,
    1, 1, 0, 2, 2,
    1, 4, 0, 2, 3,
  ]

  private func observation(colors: [String] = []) throws -> SegmentationObservation {
    try SegmentationObservation(labelMap: Self.map, width: 5, height: 3, labels: Self.labels, colors: colors)
  }

  @Test func otherClassesAreHiddenAndSharesStay() throws {
    let seen = try observation()
    let cats = try seen.restricted(to: ["cat"])
    #expect(cats.parts == seen.parts.filter { $0.label == "cat" } && cats.parts.map(\.index) == [1, 3])
    #expect(cats.labelMap == Self.map.map { [1, 3].contains($0) ? $0 : SegmentationObservation.unseenIndex })
    #expect(cats.unseenShare == 1.0 / 15)
    #expect(try cats.restricted(to: ["cat", "dog"]).parts == cats.parts)
    #expect(try seen.restricted(to: ["dog", "class 4"]).parts.map(\.index) == [2, 4])
    #expect(try seen.restricted(to: []).parts.isEmpty)
  }

  @Test func maskCoversItsLabel() throws {
    let mask = try observation().mask(for: "cat")
    #expect((mask.width, mask.height, mask.format) == (5, 3, .gray8))
    #expect(mask.bytes == Self.map.map { [1, 3].contains($0) ? 255 : 0 })
    let seen = try observation()
    let dog = try #require(seen.parts.first { $0.label == "dog" })
    #expect(try seen.mask(of: dog) == seen.mask(for: "dog"))
  }

  @Test(arguments: [
    ("Cat", "did you mean 'cat'?"), ("dgo", "did you mean 'dog'?"), ("otter", "5 labels are 'sky' to 'class 4'"),
    ("--", "5 labels"),
  ])
  func unknownLabelErrorListsKnownLabels(label: String, remedy: String) throws {
    let seen = try observation()
    let error = try #require(#expect(throws: VisionError.self) { try seen.restricted(to: ["dog", label]) })
    #expect(error.description.contains("'\(label)'") && error.description.contains(remedy))
    #expect(throws: error) { try seen.mask(for: label) }
    #expect(throws: error) { try seen.polygons(for: label) }
  }

  @Test func givenColorsReplaceTheDefaultPalette() throws {
    let seen = try observation(colors: ["#010203", "", "#FFFFFF"])
    #expect((0..<4).map { seen.color(of: $0) } == ["#010203", "#E69F00", "#FFFFFF", "#009E73"])
    #expect((0..<6).map { seen.label(of: $0) } == ["sky", "cat", "dog", "cat", "class 4", "class 5"])
    #expect(throws: VisionError.invalidRequest("colour 1 is 'red'; expected #RRGGBB")) {
      try observation(colors: ["", "red"])
    }
    #expect(throws: VisionError.self) { try SegmentationObservation(labelMap: [0, 1, 2], width: 2, height: 2) }
    #expect(throws: VisionError.self) { try SegmentationObservation(labelMap: [], width: 0, height: 0) }
  }

  @Test func classZeroWithoutANameIsNotDrawn() throws {
    let image = try PixelBuffer(width: 1, height: 1, format: .rgb8, bytes: [90, 90, 90])
    for (labels, colors, isDrawn) in [
      ([], [], false), (["--", "cat"], [], false), ([], ["#FF0000"], true), (["sky"], [], true),
    ] as [([String], [String], Bool)] {
      let seen = try SegmentationObservation(labelMap: [0], width: 1, height: 1, labels: labels, colors: colors)
      let drawn = try seen.overlay(on: image)
      #expect((drawn.bytes.prefix(3) != [90, 90, 90]) == isDrawn, "\(labels) \(colors)")
    }
  }

  @Test func overlayShowsTheChosenBackground() throws {
    let map: [UInt8] = [0, 0, 0, 1, 1, 1, 1, 1, 1]
    let seen = try SegmentationObservation(
      labelMap: map, width: 3, height: 3, labels: ["background", "cat"], colors: ["#FF0000", "#00FF00"])
    let image = try PixelBuffer(width: 3, height: 3, format: .rgb8, bytes: [UInt8](repeating: 90, count: 27))
    func pixel(_ seen: SegmentationObservation, _ x: Int, _ y: Int) throws -> [UInt8] {
      let overlay = try seen.overlay(on: image)
      return Array(overlay.bytes[(y * overlay.width + x) * 3..<(y * overlay.width + x) * 3 + 3])
    }
    #expect(try pixel(seen, 1, 0) == [90, 90, 90] && pixel(seen, 1, 1) == [0, 255, 0])
    let background = try seen.restricted(to: ["background"])
    #expect(try pixel(background, 1, 0) == [255, 0, 0] && pixel(background, 1, 1) == [90, 90, 90])
    let cat = try seen.restricted(to: ["cat"])
    #expect(try pixel(cat, 1, 0) == [90, 90, 90] && pixel(cat, 1, 1) == [0, 255, 0])
    let file = try cat.overlayPNG(on: image)
    #expect(try ImageCodec.decode(Array(file), name: "overlay").pixels == cat.overlay(on: image))
  }
}
