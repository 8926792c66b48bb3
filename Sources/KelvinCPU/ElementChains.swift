import CKelvinKernels

/// Neighbouring element-wise steps of a program that run chunk by chunk, so that the values between them stay in a
/// cache.
struct ElementChains {
  /// The items of an element-wise task over `[outer, inner]`: an outer index and a chunk of inner elements.
  struct Chunks: Hashable {
    var outer: Int
    var inner: Int
    /// The number of pointers at the beginning of the task's arguments.
    var pointers: Int

    func hasItems(of other: Chunks) -> Bool { outer == other.outer && inner == other.inner }
  }

  /// The longest chain. Each of its values takes a chunk of a thread's memory.
  private static let longest = 8

  /// The steps of each chain of at least two.
  private(set) var ranges: [Range<Int>] = []
  /// For each step, the number of its chain or of itself. Slots of one stage are alive at the same time.
  private(set) var stages: [Int] = []

  init(_ steps: [CPUProgram.Step]) {
    var start = 0
    while start < steps.count {
      var end = start + 1
      while end < steps.count, end - start < Self.longest, Self.extends(steps[start..<end], steps[end]) { end += 1 }
      if end - start > 1 { ranges.append(start..<end) }
      let number = (stages.last ?? 0) + 1
      stages += (start..<end).map { _ in number }
      start = end
    }
  }

  /// Whether a step has the same items as a chain, and reads one of its results.
  private static func extends(_ chain: ArraySlice<CPUProgram.Step>, _ next: CPUProgram.Step) -> Bool {
    guard let own = chain.first?.kernel.chunks, let other = next.kernel.chunks, own.hasItems(of: other) else {
      return false
    }
    return chain.contains { $0.outputs.contains { next.inputs.contains($0) } }
  }

  /// Bytes of each thread that the longest chain uses.
  var threadByteCount: Int { 4 * Int(ck_map_chunk) * ((ranges.map(\.count).max() ?? 1) - 1) }

  /// Returns the slots that only the steps of a chain use, apart from the last step's results.
  func inner(_ range: Range<Int>, of program: CPUProgram, roots: [Int]) -> [Int] {
    let slots = program.steps[range].dropLast().flatMap(\.outputs)
    return slots.filter { slot in
      let isShared = roots.indices.contains { $0 != slot && roots[$0] == slot } || roots[slot] != slot
      let isReadLater = program.steps.indices.contains { step in
        !range.contains(step) && program.steps[step].inputs.contains(slot)
      }
      return !isShared && !isReadLater && !program.outputs.contains(slot)
    }
  }
}
