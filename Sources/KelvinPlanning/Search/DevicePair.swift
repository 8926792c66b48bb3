/// The only two devices among which nodes have a choice.
struct DevicePair {
  /// The host if it is one of the two, else the device declared first.
  let first: Int
  let second: Int
  /// Each node on its only device; nodes with a choice on the first device.
  let placement: [Int]

  /// - Returns: `nil` when nodes may choose among more devices.
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
    // With fewer than two chosen devices the host is added, then others in order.
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
