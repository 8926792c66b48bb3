import KelvinGraph

extension ConformanceCase {
  package static let attention: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        node(
          "heads apart",
          Attention(
            batch: 2, heads: 3, queries: 13, keys: 19, width: 7, valueWidth: 5, scale: 0.37,
            query: [0, 273, 91, 7, 1], key: [0, 399, 133, 7, 1], value: [0, 285, 95, 5, 1], shape: [2, 3, 13, 5],
            result: [195, 65, 5]), .input([2, 3, 13, 7]), .input([2, 3, 19, 7]), .input([2, 3, 19, 5]), scalar: scalar),
        node(
          "heads beside each other",
          Attention(
            batch: 1, heads: 4, queries: 67, keys: 67, width: 16, valueWidth: 16, scale: 0.25, hasMask: true,
            query: [0, 0, 16, 192, 1], key: [64, 0, 16, 192, 1], value: [128, 0, 16, 192, 1], shape: [67, 64],
            result: [0, 16, 64]), .input([67, 192]), .input([67, 192]), .input([67, 192]), .input([1, 1, 1, 67]),
          scalar: scalar),
      ]
    } + [
      node(
        "a mask for each query",
        Attention(
          batch: 2, heads: 2, queries: 21, keys: 37, width: 8, valueWidth: 12, scale: 0.4, hasMask: true,
          query: [4, 352, 8, 16, 1], key: [0, 592, 296, 8, 1], value: [0, 888, 444, 12, 1], shape: [2, 21, 24],
          result: [504, 12, 24]), .input([2, 22, 16]), .input([2, 2, 37, 8]), .input([2, 2, 37, 12]),
        .input([2, 1, 21, 37])),
      // The last part of the values is shorter than the others.
      node(
        "long rows, elements apart",
        Attention(
          batch: 1, heads: 2, queries: 5, keys: 21, width: 130, valueWidth: 203, scale: 0.09, hasMask: true,
          query: [0, 0, 650, 130, 1], key: [0, 0, 2730, 1, 21], value: [0, 0, 4263, 203, 1], shape: [2, 5, 203],
          result: [0, 1015, 203]), .input([2, 5, 130]), .input([2, 130, 21]), .input([2, 21, 203]), .input([5, 21])),
      node(
        "long rows",
        Attention(
          batch: 1, heads: 2, queries: 11, keys: 27, width: 160, valueWidth: 204, scale: 0.08,
          query: [0, 0, 1760, 160, 1], key: [0, 0, 4320, 160, 1], value: [0, 0, 5508, 204, 1], shape: [2, 11, 204],
          result: [0, 2244, 204]), .input([2, 11, 160]), .input([2, 27, 160]), .input([2, 27, 204])),
      node(
        "one query",
        Attention(
          batch: 1, heads: 2, queries: 1, keys: 131, width: 24, valueWidth: 24, scale: 0.2, hasMask: true,
          query: [0, 0, 24, 0, 1], key: [0, 0, 3144, 1, 131], value: [0, 0, 3144, 24, 1], shape: [1, 2, 24],
          result: [0, 24, 0]), .input([2, 24]), .input([2, 24, 131]), .input([2, 131, 24]), .input([2, 1, 131])),
      node(
        "one query, elements apart",
        Attention(
          batch: 1, heads: 2, queries: 1, keys: 31, width: 8, valueWidth: 4, scale: 0.7, query: [0, 0, 1, 0, 2],
          key: [0, 0, 248, 8, 1], value: [0, 0, 124, 4, 1], shape: [1, 2, 4], result: [0, 4, 0]), .input([8, 2]),
        .input([2, 31, 8]), .input([2, 31, 4])),
      node(
        "one element",
        Attention(
          batch: 1, heads: 1, queries: 1, keys: 1, width: 1, valueWidth: 1, scale: 1, query: [0, 0, 0, 0, 0],
          key: [1, 0, 0, 0, 0], value: [2, 0, 0, 0, 0], shape: [], result: [0, 0, 0]), .input([3]), .input([3]),
        .input([3])),
      node(
        "elements apart and heads shared",
        Attention(
          batch: 2, heads: 2, queries: 9, keys: 40, width: 8, valueWidth: 50, scale: -0.5, hasMask: true,
          query: [0, 1, 144, 2, 18], key: [0, 320, 0, 8, 1], value: [0, 2000, 0, 1, 40], shape: [2, 9, 2, 50],
          result: [900, 50, 100]), .input([2, 8, 9, 2]), .input([2, 1, 40, 8]), .input([2, 1, 50, 40]),
        .input([2, 9, 40])),
    ] + keysOfLengths
    + [
      node(
        "heads of keys shared",
        Attention(
          batch: 1, heads: 6, queries: 1, keys: 17, width: 5, valueWidth: 9, scale: 0.4, hasMask: true, sharing: 3,
          query: [0, 0, 5, 30, 1], key: [0, 0, 85, 5, 1], value: [0, 0, 9, 18, 1], shape: [1, 54],
          result: [0, 9, 54]), .input([6, 5]), .input([2, 17, 5]), .input([17, 2, 9]), .input([6, 1, 17])),
      node(
        "long rows in whole vectors",
        Attention(
          batch: 2, heads: 2, queries: 35, keys: 50, width: 128, valueWidth: 132, scale: 0.1, hasMask: true,
          query: [0, 8960, 128, 256, 1], key: [0, 12800, 6400, 128, 1], value: [0, 13200, 6600, 132, 1],
          shape: [2, 35, 264], result: [9240, 132, 264]), .input([2, 35, 256]), .input([2, 2, 50, 128]),
        .input([2, 2, 50, 132]), .input([2, 1, 1, 50])),
    ] + manyKeys

  /// So many keys that groups of a card share them, for several queries and for one. Neighbouring keys overlap, so that
  /// tensors are small.
  private static let manyKeys: [ConformanceCase] = [ScalarType.float32, .float16].flatMap { scalar in
    let several: [ConformanceCase] = [(11, 700), (1, 7000)].map { (queries: Int, keys: Int) in
      let (keyCount, valueCount) = (4 * keys + 12, 4 * keys + 44)
      return node(
        "many keys, \(queries) of \(keys)",
        Attention(
          batch: 1, heads: 2, queries: queries, keys: keys, width: 16, valueWidth: 48, scale: 0.4, hasMask: true,
          sharing: 2, query: [0, 0, 16, 32, 1], key: [0, 0, 0, 4, 1], value: [0, 0, 0, 4, 1], shape: [queries, 96],
          result: [0, 48, 96]), .input([queries, 32]), .input([keyCount]), .input([valueCount]), .input([1, keys]),
        scalar: scalar)
    }
    return several + [
      node(
        "by length, many keys",
        Attention(
          batch: 2, heads: 2, queries: 2, keys: 4200, width: 64, valueWidth: 64, scale: 0.1, sharing: 2,
          hasLengths: true, lastKey: -1, window: 4100, query: [0, 256, 64, 128, 1], key: [0, 16860, 0, 4, 1],
          value: [0, 16860, 0, 4, 1], shape: [2, 2, 128], result: [256, 64, 128]), .input([2, 2, 128]),
        .input([2, 16860]), .input([2, 16860]),
        .exactly(Tensor(TensorType(.int64, [2]), rounding: [4190, 2])), scalar: scalar)
    ]
  }

  /// One query and several, with few keys and many, whose lengths leave all, some or none of them.
  private static let keysOfLengths: [ConformanceCase] = [1, 5].flatMap { queries in
    [1, 17, 900].flatMap { keys in
      [0, 3].flatMap { window in
        [ScalarType.float32, .float16].map { scalar in
          let (width, heads) = (12, 3)
          let index: ScalarType = window == 0 ? .int32 : .int64
          let lengths = Tensor(TensorType(index, [2, 1]), rounding: [Double(keys - 1), Double(keys / 2 - 6)])
          return node(
            "by length, \(queries) of \(keys)\(window > 0 ? " in a window" : "")",
            Attention(
              batch: 2, heads: heads, queries: queries, keys: keys, width: width, valueWidth: width, scale: 0.3,
              hasLengths: true, lastKey: 1 - queries, window: window,
              query: [0, queries * heads * width, width, heads * width, 1],
              key: [0, heads * keys * width, keys * width, width, 1],
              value: [0, heads * keys * width, keys * width, width, 1], shape: [2, queries, heads * width],
              result: [queries * heads * width, width, heads * width]), .input([2, queries, heads * width]),
            .input([2, heads, keys, width]), .input([2, heads, keys, width]), .exactly(lengths), scalar: scalar)
        }
      }
    }
  }
}
