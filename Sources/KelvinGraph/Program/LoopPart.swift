/// A loop among a function's parts: its sizes are known trip by trip, so that its body is parts of its own, whose graphs
/// are specialised by what a trip brings to them.
///
/// The body has slots of its own: those around the loop, which it may read, and before them what a trip is given.
package struct LoopPart: Sendable {
  /// A slot whose value passes from trip to trip.
  package struct Carried: Sendable {
    /// What it begins with, around the loop.
    package let start: String
    /// What a trip begins with and what it leaves, in the body.
    package let given: String
    package let left: String
    /// What the last trip leaves, around the loop; nil where nothing reads it.
    package let result: String?

    package init(start: String, given: String, left: String, result: String?) {
      self.start = start
      self.given = given
      self.left = left
      self.result = result
    }
  }

  /// A slot of which each trip is given a slice: there are as many trips at most.
  package struct Scanned: Sendable {
    /// Around the loop.
    package let whole: String
    /// In the body, without the axis.
    package let slice: String
    /// The axis along which slices lie, counted from behind where it is negative.
    package let axis: Int
    /// Whether the last slice comes first.
    package let isBackwards: Bool

    package init(whole: String, slice: String, axis: Int, isBackwards: Bool) {
      self.whole = whole
      self.slice = slice
      self.axis = axis
      self.isBackwards = isBackwards
    }
  }

  /// A slot whose values of all trips become one, a row each.
  package struct Rows: Sendable {
    /// In the body.
    package let row: String
    /// Around the loop.
    package let result: String
    /// What there is without a trip: no rows of this type.
    package let rowType: TensorType
    /// The axis of the result along which rows lie, counted from behind where it is negative.
    package let axis: Int
    /// Whether the last trip's row comes first.
    package let isBackwards: Bool

    package init(row: String, result: String, rowType: TensorType, axis: Int = 0, isBackwards: Bool = false) {
      self.row = row
      self.result = result
      self.rowType = rowType
      self.axis = axis
      self.isBackwards = isBackwards
    }
  }

  package let name: String
  /// The slot with how many trips there are at most, a negative number for none; nil where nothing but `scanned` limits
  /// them.
  package let limit: String?
  /// The slot with whether there is a first trip; nil where there is one.
  package let condition: String?
  /// The body's slot for the number of the trip, an int64 of this shape; nil where it has none.
  package let trip: String?
  package let tripShape: Shape
  /// The body's slot with whether there is another trip; nil where only the limit says.
  package let goesOn: String?
  package let carried: [Carried]
  package let scanned: [Scanned]
  package let rows: [Rows]
  /// What the body reads of the slots around the loop.
  package let captured: [String]
  package let body: [FunctionPart]

  package init(
    name: String, limit: String?, condition: String?, trip: String?, tripShape: Shape, goesOn: String?,
    carried: [Carried], scanned: [Scanned] = [], rows: [Rows], captured: [String], body: [FunctionPart]
  ) {
    self.name = name
    self.limit = limit
    self.condition = condition
    self.trip = trip
    self.tripShape = tripShape
    self.goesOn = goesOn
    self.carried = carried
    self.scanned = scanned
    self.rows = rows
    self.captured = captured
    self.body = body
  }

  /// The slots around the loop that it reads, each once.
  package var inputs: [String] {
    var seen: Set<String> = []
    let read = [limit, condition].compactMap { $0 } + carried.map(\.start) + scanned.map(\.whole) + captured
    return read.filter { seen.insert($0).inserted }
  }

  /// The slots around the loop that it writes.
  package var outputs: [String] { carried.compactMap(\.result) + rows.map(\.result) }

  /// The body's slots that a trip is given values for.
  package var given: Set<String> { Set([trip].compactMap { $0 } + carried.map(\.given) + scanned.map(\.slice)) }

  /// The body's slots that are looked at when a trip ends.
  package var left: Set<String> { Set([goesOn].compactMap { $0 } + carried.map(\.left) + rows.map(\.row)) }
}
