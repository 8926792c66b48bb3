/// How groups of invocations share the rows of a tensor. One invocation for each row leaves most of a GPU idle if rows
/// are few, and reads distant memory if the elements of a row are neighbours.
package struct RowGroups: Hashable, Sendable {
  /// The key of offers that share rows, and the key of those that read blocks of channels.
  package static let implementation = "groups"
  package static let blockedImplementation = "\(implementation) in blocks"
  /// The limits below which one invocation for each row is as good: the elements of a row, the number of rows, and the
  /// neighbouring rows that are read together.
  private static let (fewElements, manyLines, manyNeighbours) = (32, 1 << 14, 16)
  /// The number of groups that keep a GPU busy, and the least number of elements that an invocation has in a part.
  private static let (wanted, least) = (256, 16)

  package let lines: ReductionRows
  /// Neighbouring rows of a group: a power of two.
  package let columns: Int
  /// The number of parts of a row. Each part belongs to one group and has `partLength` elements, except for the last.
  package let parts: Int
  package let partLength: Int

  /// - Parameter group: invocations of a group, a power of two, which limits the number of parts: a group later
  ///   combines one part with each invocation. Nil if rows are not cut.
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

  /// Returns nil if one invocation for each row is as good.
  fileprivate init?(worthwhile lines: ReductionRows, group: Int) {
    guard lines.length >= Self.fewElements, lines.count > 0,
      lines.inner < Self.manyNeighbours || lines.count < Self.manyLines
    else { return nil }
    self.init(lines, group: group)
  }

  /// The rows along which parts are combined.
  var ofParts: ReductionRows { ReductionRows(outer: lines.outer, length: parts, inner: lines.inner) }

  private var tiles: Int { (lines.inner + columns - 1) / columns }
  /// The number of groups.
  package var count: Int { lines.length == 0 ? 0 : lines.outer * parts * tiles }
  /// The parameters as kernels declare them (`Shaders/shared/lines.kernel`).
  package var parameters: [Int] {
    [lines.outer, lines.length, lines.inner, columns, tiles, parts, partLength, lines.laneBits]
  }
}

/// The pass of a kernel that needs row statistics, two numbers for each part.
package enum RowPass: Hashable, Sendable {
  /// The pass that computes the statistics of parts.
  case statistics
  /// The pass that reads the statistics, or does without them if a row is one part.
  case result
}

extension KernelContext {
  /// Returns how groups share rows; nil if the target has no kernels for it, or if one invocation for each row is as
  /// good.
  func groups(sharing lines: ReductionRows) -> RowGroups? {
    target.lineGroup.flatMap { RowGroups(worthwhile: lines, group: $0) }
  }

  /// The extra cost of an implementation with one invocation for each row over one that shares rows.
  func extraCost(of groups: RowGroups) -> Double { Double(groups.lines.count * groups.lines.length) }
}

extension Lowering {
  /// Returns memory for the statistics of rows, which a pass computes if rows are in parts.
  func statistics(
    of groups: RowGroups, _ x: Storage, _ call: (RowPass) -> KernelDispatch<Target.Program>
  ) -> Storage {
    let statistics = temporary(wide: 2 * groups.lines.count * groups.parts)
    return groups.parts > 1 ? run(call(.statistics), [x], statistics) : statistics
  }
}
