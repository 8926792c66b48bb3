package import KelvinGraph

/// Texts that a model knows, which have the first places: a text's own is its index. The first one is empty, so that what
/// operators fill with zeros is filled with what ONNX has for texts that nobody gives.
package struct KnownTexts: Hashable, Sendable {
  package let texts: [String]
  fileprivate let places: [ExactText: Int64]

  package init(_ texts: [String]) {
    self.texts = texts
    places = Dictionary(zip(texts.map(ExactText.init), Int64(0)...)) { first, _ in first }
  }

  /// The empty text alone.
  package static let empty = KnownTexts([""])
  /// None, so that places begin with what is computed.
  package static let none = KnownTexts([])
}

/// Computed texts that have places.
package enum TextPiece: Hashable, Sendable {
  /// A list of them, one after another. `start` is the slot with the first one's place; nil behind the texts that the model
  /// knows.
  case list(String, start: String?)
  /// The slot with a directory of them.
  case directory(String)

  fileprivate var slots: [String] {
    switch self {
    case .list(let list, let start): [start, list].compactMap { $0 }
    case .directory(let slot): [slot]
    }
  }
}

/// Arrays of texts as arrays of their places, so that graphs move them as they move numbers.
///
/// Each step gives places behind those of the steps before it, and has its own texts alone in its list: what texts take is
/// as much as there are of them, and a list is done with when nothing reads its places any more.
package struct TextPlaces: HostStep {
  package static let name = "text_places"

  /// How texts get their places.
  package enum Order: Hashable, Sendable {
    /// As they come. Empty ones have the empty text's place all the same.
    case given
    /// As they come, equal ones one place, also those that are in an earlier directory.
    case distinct
    /// By their bytes in UTF-8, and so by their scalars; equal ones one place.
    case sorted
  }

  package let known: KnownTexts
  /// The slot with the first place that is free; nil behind the texts that the model knows.
  package let start: String?
  /// The slot with the directory in which equal texts are looked for.
  package let earlier: String?
  package let sources: [StepOperand<TextTensor>]
  package let order: Order
  /// The slot for the texts: a list of those that are new, or where they are distinct the directory with them.
  package let list: String
  /// The slot for the first place that is free behind them.
  package let end: String
  /// A slot for each source.
  package let places: [String]

  /// - Precondition: there are as many slots as sources; nothing comes before what is sorted.
  package init(
    behind known: KnownTexts = .empty, from start: String? = nil, after earlier: String? = nil,
    of sources: [StepOperand<TextTensor>], order: Order, list: String, end: String, places: [String]
  ) {
    precondition(sources.count == places.count)
    precondition(order != .sorted || known.texts.isEmpty && start == nil)
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
  /// What reads the texts reads.
  package var piece: TextPiece { order == .distinct ? .directory(list) : .list(list, start: start) }

  package func types(_ inputs: [HostType]) throws(StepError) -> [HostType] {
    var pending = inputs.suffix(sources.count { $0.slot != nil })
    var types: [HostType] = [.unknown, .tensor(TensorType(.int64, []))]
    for source in sources {
      switch source {
      case .constant(let texts): types.append(.tensor(TensorType(.int64, texts.shape)))
      case .slot:
        guard case .texts(let shape)? = pending.popFirst() else {
          types.append(.unknown)
          continue
        }
        types.append(.tensor(TensorType(.int64, shape)))
      }
    }
    return types
  }

  package func run(_ inputs: [HostValue]) throws(StepError) -> [HostValue] {
    var position = 0
    let start = try place(start, behind: known, &position, inputs)
    var directory = TextDirectory()
    if earlier != nil {
      directory = try self.directory(position, inputs)
      position += 1
    }
    var given: [TextTensor] = []
    for source in sources {
      switch source {
      case .constant(let texts): given.append(texts)
      case .slot:
        given.append(try texts(position, inputs))
        position += 1
      }
    }
    guard given.reduce(0, { $0 + $1.texts.count }) <= TextTensor.countLimit else {
      throw refused(0, "they are more than \(TextTensor.countLimit) texts", remedy: "give fewer")
    }
    var list: [String] = []
    func added(_ text: String) -> Int64 {
      list.append(text)
      return Int64(start + list.count - 1)
    }
    let places: [[Int64]]
    switch order {
    case .given:
      places = given.map { source in
        source.texts.map { $0.isEmpty ? known.places[ExactText($0)] ?? added($0) : added($0) }
      }
    case .distinct:
      let added = directory.adding(given.map(\.texts), from: start) { known.places[ExactText($0)] }
      return result(.directory(added.directory), start + added.directory.count - directory.count, added.places, given)
    case .sorted:
      let all = Set(given.flatMap(\.texts).map(ExactText.init)).sorted()
      let ranks = Dictionary(uniqueKeysWithValues: zip(all, Int64(0)...))
      list = all.map(\.text)
      places = given.map { source in source.texts.map { ranks[ExactText($0)] ?? 0 } }
    }
    return result(.texts(TextTensor(list, [list.count])), start + list.count, places, given)
  }

  private func result(_ list: HostValue, _ end: Int, _ places: [[Int64]], _ given: [TextTensor]) -> [HostValue] {
    [list, .tensor(Tensor([Int64(end)], []))] + zip(places, given).map { .tensor(Tensor($0, $1.shape)) }
  }
}

/// The texts at places (see ``TextPlaces``), in the places' shape.
package struct TextsAtPlaces: HostStep {
  package static let name = "texts_at_places"
  package let known: KnownTexts
  /// Those that may have one of the places, in the order of their places.
  package let pieces: [TextPiece]
  package let places: String
  package let output: String

  package init(of known: KnownTexts = .empty, and pieces: [TextPiece], at places: String, output: String) {
    self.known = known
    self.pieces = pieces
    self.places = places
    self.output = output
  }

  package var inputs: [String] { pieces.flatMap(\.slots) + [places] }
  package var outputs: [String] { [output] }

  package func types(_ inputs: [HostType]) throws(StepError) -> [HostType] {
    guard case .tensor(let type)? = inputs.last else { return [.unknown] }
    return [.texts(type.shape)]
  }

  package func run(_ inputs: [HostValue]) throws(StepError) -> [HostValue] {
    var position = 0
    var lists = [(start: 0, texts: known.texts)]
    var directories: [TextDirectory] = []
    for piece in pieces {
      switch piece {
      case .directory: directories.append(try directory(position, inputs))
      case .list(_, let start):
        let start = try place(start, behind: known, &position, inputs)
        lists.append((start, try texts(position, inputs).texts))
      }
      position += 1
    }
    let places = try tensor(position, inputs)
    guard TextTensor.takes(places.shape) else {
      throw refused(position, "\(places.type) is more than \(TextTensor.countLimit) texts", remedy: "give fewer")
    }
    var list = 0
    /// The text of a list.
    func listed(_ place: Int) -> String? {
      if !(lists[list].start..<lists[list].start + lists[list].texts.count).contains(place) {
        list = max(0, lists.partitioningIndex { $0.start > place } - 1)
      }
      let (start, texts) = lists[list]
      return texts.indices.contains(place - start) ? texts[place - start] : nil
    }
    let numbers = places.integers
    var found = numbers.map(listed)
    for directory in directories {
      let missing = found.indices.filter { found[$0] == nil }
      for (index, text) in zip(missing, directory.texts(at: missing.map { numbers[$0] })) { found[index] = text }
    }
    let texts = try zip(numbers, found).map { place, text throws(StepError) in
      guard let text else { throw refused(position, "there is no text at \(place)") }
      return text
    }
    return [.texts(TextTensor(texts, places.shape))]
  }
}

extension HostStep {
  /// The place in a slot, or the first one behind the texts that the model knows.
  fileprivate func place(
    _ slot: String?, behind known: KnownTexts, _ position: inout Int, _ inputs: [HostValue]
  ) throws(StepError) -> Int {
    guard slot != nil else { return known.texts.count }
    let places = try tensor(position, inputs).integers
    guard places.count == 1, (0...Int.max >> 1).contains(places[0]) else {
      throw refused(position, "expected one place, got \(places.prefix(8))")
    }
    position += 1
    return places[0]
  }

  fileprivate func directory(_ position: Int, _ inputs: [HostValue]) throws(StepError) -> TextDirectory {
    guard case .directory(let directory) = inputs[position] else {
      throw refused(position, "expected \(HostType.directory), got \(inputs[position].type)")
    }
    return directory
  }
}

extension Array {
  /// The first index whose element, and each behind it, holds; the count where none does.
  fileprivate func partitioningIndex(where holds: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
