import KelvinVision
import Testing

@Suite struct PixelNormalizationTests {
  @Test func predefinedRulesMapTheEndsOfTheirRanges() throws {
    let expected: [(PixelNormalization, lowest: Float, highest: Float)] = [
      (.none, 0, 255), (.unit, 0, 1), (.symmetric, -1, 1), (.imagenet, -0.485 / 0.229, (1 - 0.485) / 0.229),
    ]
    for (rule, lowest, highest) in expected {
      let (scale, bias) = (try rule.scale(channels: 3)[0], try rule.bias(channels: 3)[0])
      #expect(abs(bias - lowest) < 1e-6 && abs(255 * scale + bias - highest) < 1e-5, "\(rule.rawValue)")
      #expect(PixelNormalization(rawValue: rule.rawValue) == rule)
    }
  }

  @Test func partsGiveMeanDeviationAndOrder() throws {
    let own = try #require(PixelNormalization(rawValue: "0:1/mean=0.485,0.456,0.406/deviation=0.229,0.224,0.225"))
    #expect(try own.scale(channels: 3) == PixelNormalization.imagenet.scale(channels: 3))
    #expect(try own.bias(channels: 3) == PixelNormalization.imagenet.bias(channels: 3))
    let reversed = try #require(PixelNormalization(rawValue: "mean=10,20,30/deviation=2,4,5/bgr"))
    #expect(try reversed.scale(channels: 3) == [0.2, 0.25, 0.5] && reversed.bias(channels: 3) == [-6, -5, -5])
    let one = try #require(PixelNormalization(rawValue: "mean=127.5/deviation=127.5"))
    #expect(try one.scale(channels: 1) == [1 / 127.5] && one.bias(channels: 3) == [-1, -1, -1])
    #expect(throws: VisionError.self) { try reversed.scale(channels: 1) }
  }

  @Test(arguments: [
    "", "/", "0:2", "mean", "mean=", "mean=1,2", "mean=1,2,3,4", "mean=x", "mean=inf", "deviation=0", "deviation=-1",
    "rgba",
    "0:1/", "0:1/0:1", "mean=1/unknown=2",
  ])
  func invalidRuleIsRefused(rule: String) { #expect(PixelNormalization(rawValue: rule) == nil) }
}
