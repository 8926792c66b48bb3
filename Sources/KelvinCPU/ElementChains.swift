import CKelvinKernels

/// Neighbouring element-wise steps of a program that run strip by strip, so that the values between them stay in a
/// cache.
///
/// All results of a chain have the same number of elements, so a step reads a value of the chain either element by
/// element or, through a view, in part; steps of the latter kind are not in the chain.
struct ElementChains {
  /// The only task of an element-wise kernel, whose items are strips of `ck_strip` elements of the result.
  struct Strips: Hashable {
    /// The number of elements of the result.
    var count: Int
    /// For each pointer at the beginning of the task's arguments, the bytes of an element.
    var elements: [Int]

    init(_ count: Int, _ elements: [Int]) { (self.count, self.elements) = (count, elements) }
  }

  /// The values of a chain that only its steps use, as strips in the memory of a thread.
  struct Inner {
    /// For each task, the offsets of its operands among them, by slot.
    var places: [[Int: Int]] = []
    var byteCount = 0
  }

  /// The most tasks of a chain.
  private static let longest = 32

  /// The steps of each chain of at least two tasks. Some are views, which have none.
  private(set) var ranges: [Range<Int>] = []

  init(_ steps: [CPUProgram.Step], slots: [CPUProgram.Slot]) {
    var start = 0
    while start < steps.count {
      guard let strips = steps[start].kernel.strips else {
        start += 1
        continue
      }
      // The slots of the chain's values, and of parts of them.
      var (values, parts) = (Set(steps[start].outputs), Set<Int>())
      var (end, tasks, next) = (start + 1, 1, start + 1)
      while next < steps.count, tasks < Self.longest {
        let step = steps[next]
        if step.kernel.viewOffset != nil {
          let (input, output) = (step.inputs[0], step.outputs[0])
          if values.contains(input), slots[input].byteCount == slots[output].byteCount {
            values.insert(output)
          } else if values.contains(input) || parts.contains(input) {
            parts.insert(output)
          }
        } else if step.kernel.strips?.count == strips.count, parts.isDisjoint(with: step.inputs) {
          values.formUnion(step.outputs)
          (end, tasks) = (next + 1, tasks + 1)
        } else {
          break
        }
        next += 1
      }
      if tasks > 1 { ranges.append(start..<end) }
      start = end
    }
  }

  /// Returns the values that only a chain uses.
  ///
  /// - Parameter lastReads: for each slot with its own memory, the last step that reads it or a view of it; nil for
  ///   parts of other slots.
  static func inner(_ range: Range<Int>, of program: CPUProgram, lastReads: [Int?], roots: [Int]) -> Inner {
    let widest = range.compactMap { program.steps[$0].kernel.strips?.elements.last }.max() ?? 0
    var (inner, places, free) = (Inner(), [Int: Int](), [Int]())
    for index in range where program.steps[index].kernel.strips != nil {
      let step = program.steps[index]
      for slot in step.outputs {
        guard let last = lastReads[slot], last < range.upperBound else { continue }
        if free.isEmpty {
          free.append(inner.byteCount)
          inner.byteCount += Int(ck_strip) * widest
        }
        places[slot] = free.removeLast()
      }
      let operands = step.inputs + step.outputs
      inner.places.append(
        Dictionary(operands.compactMap { slot in places[roots[slot]].map { (slot, $0) } }) { place, _ in place })
      // The strip of a value is free after its last read.
      for slot in Set(operands.map { roots[$0] }).sorted() where lastReads[slot].map({ $0 <= index }) ?? false {
        if let place = places.removeValue(forKey: slot) { free.append(place) }
      }
    }
    return inner
  }
}
