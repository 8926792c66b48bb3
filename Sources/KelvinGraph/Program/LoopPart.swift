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

  /// A slot whose values of all trips become one, a row each.
  package struct Rows: Sendable {
    /// In the body.
    package let row: String
    /// Around the loop.
    package let result: String
    /// What there is without a trip: no rows of this type.
    package let rowType: TensorType

    package init(row: String, result: String, rowType: TensorType) {
      self.row = row
      self.result = result
      self.rowType = rowType
    }
  }

  package let name: String
  /// The slot with how many trips there are at most, a negative number for any; nil where nothing limits them.
  package let limit: String?
  /// The slot with whether there is a first trip; nil where there is one.
  package let condition: String?
  /// The body's slot for the number of the trip, an int64 of this shape.
  package let trip: String
  package let tripShape: Shape
  /// The body's slot with whether there is another trip.
  package let goesOn: String
  package let carried: [Carried]
  package let rows: [Rows]
  /// What the body reads of the slots around the loop.
  package let captured: [String]
  package let body: [FunctionPart]

  package init(
    name: String, limit: String?, condition: String?, trip: String, tripShape: Shape, goesOn: String,
    carried: [Carried],
    rows: [Rows], captured: [String], body: [FunctionPart]
  ) {
    self.name = name
    self.limit = limit
    self.condition = condition
    self.trip = trip
    self.tripShape = tripShape
    self.goesOn = goesOn
    self.carried = carried
    self.rows = rows
    self.captured = captured
    self.body = body
  }

  /// The slots around the loop that it reads, each once.
  package var inputs: [String] {
    var seen: Set<String> = []
    return ([limit, condition].compactMap { $0 } + carried.map(\.start) + captured).filter { seen.insert($0).inserted }
  }

  /// The slots around the loop that it writes.
  package var outputs: [String] { carried.compactMap(\.result) + rows.map(\.result) }

  /// The body's slots that are looked at when a trip ends.
  package var left: Set<String> { Set([goesOn] + carried.map(\.left) + rows.map(\.row)) }
}
