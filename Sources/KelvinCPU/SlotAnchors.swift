/// Which slots lie within others, so that nothing is copied: a view in what it shows, the operands of a concatenation
/// in its result.
struct SlotAnchors {
  /// A slot of its own memory, and bytes from its beginning.
  struct Anchor: Hashable {
    var slot: Int
    var offset: Int

    func advanced(by count: Int) -> Anchor { Anchor(slot: slot, offset: offset + count) }
  }

  /// Bytes of a line of the caches: kernels are slower on memory that begins elsewhere.
  static let line = 64

  private let program: CPUProgram
  /// The slot next further out and the place in it; nil for slots of their own.
  private var containers: [Anchor?]

  /// Results are looked at from the largest on, so that what is concatenated again and again, each time with more, lies
  /// where the last concatenation wants it.
  ///
  /// - Parameter isFixed: whether a slot's memory is not the segment's own to place.
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
  }

  /// Where a slot lies, all the way out.
  subscript(_ slot: Int) -> Anchor {
    var anchor = Anchor(slot: slot, offset: 0)
    while let container = containers[anchor.slot] {
      anchor = container.advanced(by: anchor.offset)
    }
    return anchor
  }

  /// Where all parts of a step's result lie already, side by side; nil where they do not.
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
