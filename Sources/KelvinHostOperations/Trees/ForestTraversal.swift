/// Follows several paths from roots to leaves at a time, so that the steps of different paths overlap.
struct ForestTraversal {
  let nodes: UnsafeBufferPointer<Forest.Node>
  /// The numbers, row after row.
  let numbers: UnsafeBufferPointer<Double>
  let width: Int
  let sets: [Set<Double>]

  static var laneCount: Int { 8 }

  /// Follows the path of every lane to its leaf.
  ///
  /// - Parameters:
  ///   - depth: The greatest number of steps of a path.
  ///   - places: The indices of the lanes' roots, replaced by those of their leaves.
  ///   - starts: The offsets of the lanes' rows.
  func descend(_ depth: Int, _ places: UnsafeMutablePointer<UInt32>, _ starts: UnsafePointer<Int>, isOrdered: Bool) {
    if isOrdered {
      descend(depth, places, starts, OrderedTest.self)
    } else {
      descend(depth, places, starts, AnyTest.self)
    }
  }

  @inline(__always)
  private func descend<Test: NodeTest>(
    _ depth: Int, _ places: UnsafeMutablePointer<UInt32>, _ starts: UnsafePointer<Int>, _: Test.Type
  ) {
    guard let nodes = nodes.baseAddress, let numbers = numbers.baseAddress else { return }
    @inline(__always)
    func next(_ place: UInt32, _ start: Int) -> UInt32 {
      let node = nodes[Int(place)]
      let turn = Test.turn(node, numbers[start + Int(node.form & Forest.Node.feature)], sets)
      return node.next &+ (turn & (node.form >> 31))
    }
    var p = (places[0], places[1], places[2], places[3], places[4], places[5], places[6], places[7])
    for _ in 0..<depth {
      let n = (
        next(p.0, starts[0]), next(p.1, starts[1]), next(p.2, starts[2]), next(p.3, starts[3]),
        next(p.4, starts[4]), next(p.5, starts[5]), next(p.6, starts[6]), next(p.7, starts[7])
      )
      let low = (p.0 ^ n.0) | (p.1 ^ n.1) | (p.2 ^ n.2) | (p.3 ^ n.3)
      let high = (p.4 ^ n.4) | (p.5 ^ n.5) | (p.6 ^ n.6) | (p.7 ^ n.7)
      p = n
      if low | high == 0 { break }
    }
    (places[0], places[1], places[2], places[3]) = (p.0, p.1, p.2, p.3)
    (places[4], places[5], places[6], places[7]) = (p.4, p.5, p.6, p.7)
  }
}

/// A test of a forest's branches.
private protocol NodeTest {
  /// Returns 0 if a number passes, else 1.
  static func turn(_ node: Forest.Node, _ number: Double, _ sets: [Set<Double>]) -> UInt32
}

private enum OrderedTest: NodeTest {
  /// Computed without a branch instruction, because its direction would be unpredictable.
  @inline(__always)
  static func turn(_ node: Forest.Node, _ number: Double, _ sets: [Set<Double>]) -> UInt32 {
    let fails: UInt32 = number <= node.value ? 0 : 1
    let isMissing: UInt32 = number.isNaN ? 1 : 0
    return fails & ~(isMissing & (node.form >> 30))
  }
}

private enum AnyTest: NodeTest {
  static func turn(_ node: Forest.Node, _ number: Double, _ sets: [Set<Double>]) -> UInt32 {
    if number.isNaN { return node.form & Forest.Node.missingPasses != 0 ? 0 : 1 }
    if node.form & Forest.Node.isMembership != 0 { return sets[Int(node.value)].contains(number) ? 0 : 1 }
    return (node.form & Forest.Node.isEquality != 0 ? number == node.value : number <= node.value) ? 0 : 1
  }
}
