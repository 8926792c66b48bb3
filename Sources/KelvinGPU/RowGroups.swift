/// Lines of a tensor that groups of invocations share, and how: on a card an invocation for each line leaves most of
/// it idle where lines are few, and reads what lies far apart where their elements are neighbours.
package struct RowGroups: Hashable, Sendable {
  /// The key of offers that are carried out so, and of those among them that read blocks of channels.
  package static let implementation = "groups"
  package static let blockedImplementation = "\(implementation) in blocks"
  /// Below which lines an invocation for each is as good: as many elements, or as many lines of which neighbours are read
  /// together.
  private static let (fewElements, manyLines, manyNeighbours) = (32, 1 << 14, 16)
  /// Groups that keep a card busy, and elements of a part that an invocation has at least.
  private static let (wanted, least) = (256, 16)

  package let lines: ReductionRows
  /// Neighbouring lines of a group: a power of two.
  package let columns: Int
  /// A line is cut into so many, each a group's, of `partLength` elements but for the last.
  package let parts: Int
  package let partLength: Int

  /// - Parameter group: invocations of a group, a power of two, which bound parts: a group has one for each; nil where no
  ///   line is cut.
  init(_ lines: ReductionRows, group: Int?) {
    self.lines = lines
    var columns = 1
    while columns < min(lines.inner, Self.manyNeighbours, group ?? 1) { columns *= 2 }
    self.columns = columns
    let groups = lines.outer * ((lines.inner + columns - 1) / columns)
    guard let group, groups > 0 else {
      (parts, partLength) = (1, lines.length)
      return
    }
    let rows = group / columns
    let wanted = min(Self.wanted / groups, lines.length / (Self.least * rows), rows)
    let length = (lines.length + max(wanted, 1) - 1) / max(wanted, 1)
    partLength = wanted > 1 ? (length + rows - 1) / rows * rows : lines.length
    parts = wanted > 1 ? (lines.length + partLength - 1) / partLength : 1
  }

  /// Nil where an invocation for each line is as good.
  fileprivate init?(worthwhile lines: ReductionRows, group: Int) {
    guard lines.length >= Self.fewElements, lines.count > 0,
      lines.inner < Self.manyNeighbours || lines.count < Self.manyLines
    else { return nil }
    self.init(lines, group: group)
  }

  /// The lines that parts are combined along.
  var ofParts: ReductionRows { ReductionRows(outer: lines.outer, length: parts, inner: lines.inner) }

  private var tiles: Int { (lines.inner + columns - 1) / columns }
  /// How many groups there are.
  package var count: Int { lines.length == 0 ? 0 : lines.outer * parts * tiles }
  /// As kernels declare them (`Shaders/shared/lines.kernel`).
  package var parameters: [Int] {
    [lines.outer, lines.length, lines.inner, columns, tiles, parts, partLength, lines.laneBits]
  }
}

/// How statistics of lines, two numbers for each part, come into a kernel that needs them.
package enum RowPass: Hashable, Sendable {
  /// The kernel makes those of parts.
  case statistics
  /// It reads them, or makes do without where a line is one part.
  case result
}

extension KernelContext {
  /// How groups share lines; nil where the target has none that do, or an invocation for each line is as good.
  func groups(sharing lines: ReductionRows) -> RowGroups? {
    target.lineGroup.flatMap { RowGroups(worthwhile: lines, group: $0) }
  }

  /// What a way that leaves lines to single invocations costs more than one that shares them.
  func handicap(of groups: RowGroups) -> Double { Double(groups.lines.count * groups.lines.length) }
}

extension Lowering {
  /// Memory for the statistics of lines, which a pass makes where there are parts.
  func statistics(
    of groups: RowGroups, _ x: Storage, _ call: (RowPass) -> KernelDispatch<Target.Program>
  ) -> Storage {
    let statistics = temporary(wide: 2 * groups.lines.count * groups.parts)
    return groups.parts > 1 ? run(call(.statistics), [x], statistics) : statistics
  }
}
