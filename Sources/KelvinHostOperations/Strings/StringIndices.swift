import KelvinBasics
package import KelvinGraph

/// The strings that a model knows, which have the first indices: the index of each is its position. The first string is
/// empty, so that zeros that operators fill in mean ONNX's default string.
package struct KnownStrings: Hashable, Sendable {
  package let strings: [String]
  fileprivate let places: [ExactString: Int64]

  package init(_ strings: [String]) {
    self.strings = strings
    places = Dictionary(zip(strings.exact, Int64(0)...)) { first, _ in first }
  }

  /// The empty string only.
  package static let empty = KnownStrings([""])
  /// No strings, so that indices begin with computed strings.
  package static let none = KnownStrings([])
}

/// Computed strings that have indices.
package enum StringPiece: Hashable, Sendable {
  /// A list of strings with consecutive indices. `start` is the slot of the first index; nil for the index after the
  /// model's own strings.
  case list(String, start: String?)
  /// The slot of a string table.
  case table(String)

  fileprivate var slots: [String] {
    switch self {
    case .list(let list, let start): [start, list].compactMap { $0 }
    case .table(let slot): [slot]
    }
  }
}

/// Turns arrays of strings into arrays of indices, so that graphs move strings like numbers.
///
/// Each operation assigns indices after those of the preceding operations, and its list holds only its own strings. A
/// list is released when no operation reads its indices any more.
package struct StringIndices: HostOperation {
  package static let name = "string_indices"

  /// The assignment of indices to strings.
  package enum Order: Hashable, Sendable {
    /// In the order of the strings. An empty string has the index of the model's empty string.
    case given
    /// In the order of the strings; equal strings share an index, also with strings in an earlier table.
    case distinct
    /// In the order of their UTF-8 bytes, which is that of their scalars; equal strings share an index.
    case sorted
  }

  package let known: KnownStrings
  /// The slot of the first free index; nil for the index after the model's own strings.
  package let start: String?
  /// The slot of the table in which equal strings are searched.
  package let earlier: String?
  package let sources: [HostOperand<StringTensor>]
  package let order: Order
  /// The slot of the strings: a list of the new ones or, for distinct strings, the table that includes them.
  package let list: String
  /// The slot of the first free index after them.
  package let end: String
  /// A slot for each source.
  package let places: [String]

  /// Creates the operation.
  ///
  /// - Precondition: There are as many slots as sources; sorted strings have no predecessors.
  package init(
    behind known: KnownStrings = .empty, from start: String? = nil, after earlier: String? = nil,
    of sources: [HostOperand<StringTensor>], order: Order, list: String, end: String, places: [String]
  ) {
    precondition(sources.count == places.count)
    precondition(order != .sorted || known.strings.isEmpty && start == nil)
    precondition(order == .distinct || earlier == nil)
    self.known = known
    self.start = start
    self.earlier = earlier
    self.sources = sources
    self.order = order
    self.list = list
    self.end = end
    self.places = places
  }

  package var inputs: [String] {
    [start, earlier].compactMap { $0 } + sources.compactMap(\.slot)
  }
  package var outputs: [String] { [list, end] + places }
  /// The piece for operations that read the strings.
  package var piece: StringPiece { order == .distinct ? .table(list) : .list(list, start: start) }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    let shapes = sources.shapes(inputs.suffix(sources.count { $0.slot != nil }))
    return [.unknown, .tensor(TensorType(.int64, []))]
      + shapes.map { $0.map { .tensor(TensorType(.int64, $0)) } ?? .unknown }
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    var position = 0
    let start = try place(start, behind: known, &position, inputs)
    var table = StringTable()
    if earlier != nil {
      table = try self.table(position, inputs)
      position += 1
    }
    let given = try strings(sources, inputs, from: &position)
    guard given.reduce(0, { $0 + $1.strings.count }) <= StringTensor.countLimit else {
      throw refused(0, "they are more than \(StringTensor.countLimit) strings", remedy: "give fewer")
    }
    var list: [String] = []
    func added(_ string: String) -> Int64 {
      list.append(string)
      return Int64(start + list.count - 1)
    }
    let places: [[Int64]]
    switch order {
    case .given:
      places = given.map { source in
        source.strings.map { $0.isEmpty ? known.places[ExactString($0)] ?? added($0) : added($0) }
      }
    case .distinct:
      let added = table.adding(given.map(\.strings), from: start) { known.places[ExactString($0)] }
      return result(.table(added.table), start + added.table.count - table.count, added.places, given)
    case .sorted:
      let all = Set(given.flatMap(\.strings).exact).sorted()
      let ranks = Dictionary(uniqueKeysWithValues: zip(all, Int64(0)...))
      list = all.map(\.string)
      places = given.map { source in source.strings.map { ranks[ExactString($0)] ?? 0 } }
    }
    return result(.strings(StringTensor(list, [list.count])), start + list.count, places, given)
  }

  private func result(_ list: HostValue, _ end: Int, _ places: [[Int64]], _ given: [StringTensor]) -> [HostValue] {
    [list, .tensor(Tensor([Int64(end)], []))] + zip(places, given).map { .tensor(Tensor($0, $1.shape)) }
  }
}

/// Returns the strings of indices (see ``StringIndices``), in the shape of the indices.
package struct StringsAtIndices: OneOutputOperation {
  package static let name = "strings_at_indices"
  package let known: KnownStrings
  /// The pieces that may contain the indices, in ascending order of these.
  package let pieces: [StringPiece]
  package let places: String
  package let output: String

  package init(of known: KnownStrings = .empty, and pieces: [StringPiece], at places: String, output: String) {
    self.known = known
    self.pieces = pieces
    self.places = places
    self.output = output
  }

  package var inputs: [String] { pieces.flatMap(\.slots) + [places] }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    guard case .tensor(let type)? = inputs.last else { return [.unknown] }
    return [.strings(type.shape)]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    var position = 0
    var lists = [(start: 0, strings: known.strings)]
    var tables: [StringTable] = []
    for piece in pieces {
      switch piece {
      case .table: tables.append(try table(position, inputs))
      case .list(_, let start):
        let start = try place(start, behind: known, &position, inputs)
        lists.append((start, try strings(position, inputs).strings))
      }
      position += 1
    }
    let places = try tensor(position, inputs)
    guard StringTensor.takes(places.shape) else {
      throw refused(position, "\(places.type) is more than \(StringTensor.countLimit) strings", remedy: "give fewer")
    }
    var list = 0
    /// Returns the string of an index in a list.
    func listed(_ place: Int) -> String? {
      if !(lists[list].start..<lists[list].start + lists[list].strings.count).contains(place) {
        list = max(0, lists.partitioningIndex { $0.start > place } - 1)
      }
      let (start, strings) = lists[list]
      return strings.indices.contains(place - start) ? strings[place - start] : nil
    }
    let numbers = places.integers
    var found = numbers.map(listed)
    for table in tables {
      let missing = found.indices.filter { found[$0] == nil }
      for (index, string) in zip(missing, table.strings(at: missing.map { numbers[$0] })) { found[index] = string }
    }
    let strings = try zip(numbers, found).map { place, string throws(HostOperationError) in
      guard let string else { throw refused(position, "there is no string at \(place)") }
      return string
    }
    return [.strings(StringTensor(strings, places.shape))]
  }
}

extension HostOperation {
  /// Returns the index in a slot, or the first one after the model's own strings.
  fileprivate func place(
    _ slot: String?, behind known: KnownStrings, _ position: inout Int, _ inputs: [HostValue]
  ) throws(HostOperationError) -> Int {
    guard slot != nil else { return known.strings.count }
    let places = try tensor(position, inputs).integers
    guard places.count == 1, (0...Int.max >> 1).contains(places[0]) else {
      throw refused(position, "expected one position, got \(places.prefix(8))")
    }
    position += 1
    return places[0]
  }

  fileprivate func table(_ position: Int, _ inputs: [HostValue]) throws(HostOperationError) -> StringTable {
    guard case .table(let table) = inputs[position] else {
      throw refused(position, "expected \(HostType.table), got \(inputs[position].type)")
    }
    return table
  }
}

extension Array {
  /// Returns the first index from which on all elements satisfy a predicate; the count if there is none.
  fileprivate func partitioningIndex(where holds: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
