import KelvinGraph

extension ConformanceCase {
  package static let rotaryEmbedding: [ConformanceCase] = [ScalarType.float32, .float16].flatMap { scalar in
    [false, true].flatMap { isInterleaved in
      func turned(_ name: String, _ x: Shape, _ angles: Shape, width: Int) -> ConformanceCase {
        node(
          name + (isInterleaved ? " of neighbors" : ""), RotaryEmbedding(width: width, isInterleaved: isInterleaved),
          .input(x), .input(angles), .weight(angles), scalar: scalar)
      }
      return [
        turned("heads", [2, 3, 5, 34], [2, 1, 5, 17], width: 34),
        turned("a table", [2, 3, 5, 16], [5, 8], width: 16),
        turned("heads last", [2, 5, 3, 14], [2, 5, 1, 7], width: 14),
        turned("a part", [3, 7, 13], [1, 4], width: 8),
        turned("a row", [2], [1], width: 2),
      ]
    }
  }
}
