/// A loop among a function's parts. Its sizes are known only per iteration, so that its body has its own parts, whose
/// graphs are specialized for the values of an iteration.
///
/// The body has its own slots: the inputs of an iteration, and the slots around the loop, which it may read.
package struct LoopPart: Sendable {
  /// A slot whose value is carried from one iteration to the next.
  package struct Carried: Sendable {
    /// The slot around the loop that holds the initial value.
    package let start: String
    /// The body's slots for the value at the start and at the end of an iteration.
    package let given: String
    package let left: String
    /// The slot around the loop for the final value; nil if nothing reads it.
    package let result: String?

    package init(start: String, given: String, left: String, result: String?) {
      self.start = start
      self.given = given
      self.left = left
      self.result = result
    }
  }

  /// A slot from which each iteration takes a slice. The number of slices limits the number of iterations.
  package struct Scanned: Sendable {
    /// The slot around the loop.
    package let whole: String
    /// The slot in the body, without the axis.
    package let slice: String
    /// The axis of the slices; a negative one counts from the end.
    package let axis: Int
    /// Whether the slices are taken in reverse order.
    package let isBackwards: Bool

    package init(whole: String, slice: String, axis: Int, isBackwards: Bool) {
      self.whole = whole
      self.slice = slice
      self.axis = axis
      self.isBackwards = isBackwards
    }
  }

  /// A slot whose values of all iterations become the rows of one tensor.
  package struct Rows: Sendable {
    /// The slot in the body.
    package let row: String
    /// The slot around the loop.
    package let result: String
    /// The type of a row, for the empty result of a loop without iterations.
    package let rowType: TensorType
    /// The axis of the rows in the result; a negative one counts from the end.
    package let axis: Int
    /// Whether the rows are in reverse order.
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
  /// The slot with the greatest number of iterations, negative for no limit; nil if only `scanned` limits them.
  package let limit: String?
  /// The slot that tells whether there is a first iteration; nil if there always is.
  package let condition: String?
  /// The body's slot for the index of the iteration, an int64 of the shape `tripShape`; nil if it has none.
  package let trip: String?
  package let tripShape: Shape
  /// The body's slot that tells whether there is another iteration; nil if only the limit ends the loop.
  package let goesOn: String?
  package let carried: [Carried]
  package let scanned: [Scanned]
  package let rows: [Rows]
  /// The slots around the loop that the body reads.
  package let captured: [String]
  package var body: [FunctionPart]

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

  /// The slots around the loop that it reads, without duplicates.
  package var inputs: [String] {
    var seen: Set<String> = []
    let read = [limit, condition].compactMap { $0 } + carried.map(\.start) + scanned.map(\.whole) + captured
    return read.filter { seen.insert($0).inserted }
  }

  /// The slots around the loop that it writes.
  package var outputs: [String] { carried.compactMap(\.result) + rows.map(\.result) }

  /// The body's slots that are set at the start of an iteration.
  package var given: Set<String> { Set([trip].compactMap { $0 } + carried.map(\.given) + scanned.map(\.slice)) }

  /// The body's slots that are read at the end of an iteration.
  package var left: Set<String> { Set([goesOn].compactMap { $0 } + carried.map(\.left) + rows.map(\.row)) }
}
