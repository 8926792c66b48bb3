/// The only two devices among which nodes have a choice.
struct DevicePair {
  /// The host where it is one of the two, else the one declared first.
  let first: Int
  let second: Int
  /// Each node where it must be; those with a choice on the first device.
  let placement: [Int]

  /// - Returns: `nil` where nodes may choose among more.
  init?(_ index: ProblemIndex, seconds: [Double]) {
    let count = index.deviceCount
    var chosen = 0
    var placement = Array(repeating: index.host, count: index.nodeCount)
    for node in 0..<index.nodeCount {
      var able = 0
      for device in 0..<count where seconds[node * count + device].isFinite { able |= 1 << device }
      if able.nonzeroBitCount > 1 { chosen |= able } else if able != 0 { placement[node] = able.trailingZeroBitCount }
    }
    guard chosen.nonzeroBitCount <= 2 else { return nil }
    // Where none has a choice any two will do, and of one device that one twice.
    for device in [index.host] + (0..<count) where chosen.nonzeroBitCount < 2 { chosen |= 1 << device }
    let low = chosen.trailingZeroBitCount
    let high = Int.bitWidth - 1 - chosen.leadingZeroBitCount
    first = high == index.host ? high : low
    second = high == index.host ? low : high
    for node in 0..<index.nodeCount
    where seconds[node * count + first].isFinite && seconds[node * count + second].isFinite {
      placement[node] = first
    }
    self.placement = placement
  }
}
