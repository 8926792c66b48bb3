/// The slots that are part of other slots, so that nothing is copied: a view in its source, the operands of a
/// concatenation in its result, an input that is updated in the result.
struct SlotAnchors {
  /// A slot with its own memory, and an offset in it in bytes.
  struct Anchor: Hashable {
    var slot: Int
    var offset: Int

    func advanced(by count: Int) -> Anchor { Anchor(slot: slot, offset: offset + count) }
  }

  /// Bytes of a cache line; kernels are slower on memory with another alignment.
  static let line = 64

  private let program: CPUProgram
  /// The enclosing slot of each slot and the offset in it; nil for slots with their own memory.
  private var containers: [Anchor?]

  /// Results are processed from the largest on. Values that are concatenated repeatedly are then placed in the last
  /// result.
  ///
  /// - Parameter isFixed: whether the segment cannot choose a slot's memory.
  init(_ program: CPUProgram, isFixed: (Int) -> Bool) {
    self.program = program
    containers = Array(repeating: nil, count: program.slots.count)
    for step in program.steps {
      guard let offset = step.kernel.viewOffset else { continue }
      containers[step.outputs[0]] = self[step.inputs[0]].advanced(by: offset)
    }
    let leaving = Set(program.outputs.map { self[$0].slot })
    func isFree(_ slot: Int) -> Bool { containers[slot] == nil && !leaving.contains(slot) && !isFixed(slot) }
    let joins = program.steps.indices.filter { !program.steps[$0].kernel.partOffsets.isEmpty }
    func size(_ step: Int) -> Int { program.slots[program.steps[step].outputs[0]].byteCount }
    for step in joins.sorted(by: { (size($0), $0) > (size($1), $1) }).map({ program.steps[$0] }) {
      let result = step.outputs[0]
      if isFree(result), let anchor = common(step) {
        containers[result] = anchor
        continue
      }
      for (input, offset) in zip(step.inputs, step.kernel.partOffsets) {
        let anchor = self[input]
        guard let offset, offset % Self.line == 0, isFree(anchor.slot), anchor.slot != self[result].slot,
          program.slots[anchor.slot].byteCount == program.slots[input].byteCount
        else { continue }
        containers[anchor.slot] = self[result].advanced(by: offset)
      }
    }
    for step in program.steps {
      guard let input = step.kernel.updatedInput else { continue }
      let (anchor, result) = (self[step.inputs[input]], step.outputs[0])
      guard isFree(anchor.slot), anchor.slot != self[result].slot, isReadOnce(anchor.slot),
        program.slots[anchor.slot].byteCount == program.slots[result].byteCount
      else { continue }
      containers[anchor.slot] = Anchor(slot: result, offset: 0)
    }
  }

  /// Whether one step reads a slot and the slots in it, once.
  private func isReadOnce(_ slot: Int) -> Bool {
    var count = 0
    for step in program.steps where step.kernel.viewOffset == nil {
      for input in step.inputs where self[input].slot == slot { count += 1 }
      if count > 1 { return false }
    }
    return true
  }

  /// Returns the outermost slot that contains a slot, and the offset in it.
  subscript(_ slot: Int) -> Anchor {
    var anchor = Anchor(slot: slot, offset: 0)
    while let container = containers[anchor.slot] {
      anchor = container.advanced(by: anchor.offset)
    }
    return anchor
  }

  /// Returns the position of all parts of a step's result if they are already contiguous; nil otherwise.
  private func common(_ step: CPUProgram.Step) -> Anchor? {
    var found: Anchor?
    for (input, offset) in zip(step.inputs, step.kernel.partOffsets) {
      guard let offset else { return nil }
      let anchor = self[input]
      let begin = anchor.advanced(by: -offset)
      guard found == nil || found == begin else { return nil }
      found = begin
    }
    guard let found, found.slot != step.outputs[0], found.offset >= 0,
      found.offset + program.slots[step.outputs[0]].byteCount <= program.slots[found.slot].byteCount
    else { return nil }
    return found
  }
}
