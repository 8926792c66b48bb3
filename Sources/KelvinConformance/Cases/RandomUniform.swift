import KelvinGraph

extension ConformanceCase {
  package static let randomUniform: [ConformanceCase] = [
    node("zeros", RandomUniform([4]), .exactly(key(0, 0, 0, 0))),
    node("of a prime", RandomUniform([1031]), .exactly(key(1, 2, 3, 4))),
    node("plane", RandomUniform([2, 3, 5, 7], stream: 1), .exactly(key(0x2436, 0xFFFF_FFFF, 9, 0))),
    node("high words", RandomUniform([67], stream: 0x7FFF_FFFF), .exactly(key(.max, .max, .max, .max))),
    node("one", RandomUniform([]), .exactly(key(7, 0, 0, 0))),
    node("nothing", RandomUniform([0, 3]), .exactly(key(7, 0, 0, 0))),
  ]

  private static func key(_ words: UInt32...) -> Tensor { Tensor(RandomKey.type, rounding: words.map(Double.init)) }
}
