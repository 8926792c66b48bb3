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

/// Computed texts that have places one after another.
package struct TextPiece: Hashable, Sendable {
  /// The slot with the first one's place; nil behind the texts that the model knows.
  package let start: String?
  /// The slot with the texts.
  package let list: String

  package init(start: String?, list: String) {
    self.start = start
    self.list = list
  }

  fileprivate var slots: [String] { [start, list].compactMap { $0 } }
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
    /// As they come, equal ones one place, also those of earlier pieces.
    case distinct
    /// By their bytes in UTF-8, and so by their scalars; equal ones one place.
    case sorted
  }

  package let known: KnownTexts
  /// The slot with the first place that is free; nil behind the texts that the model knows.
  package let start: String?
  /// In which equal texts are looked for.
  package let earlier: [TextPiece]
  package let sources: [StepOperand<TextTensor>]
  package let order: Order
  /// The slot for the texts.
  package let list: String
  /// The slot for the first place that is free behind them.
  package let end: String
  /// A slot for each source.
  package let places: [String]

  /// - Precondition: there are as many slots as sources; nothing comes before what is sorted.
  package init(
    behind known: KnownTexts = .empty, from start: String? = nil, after earlier: [TextPiece] = [],
    of sources: [StepOperand<TextTensor>], order: Order, list: String, end: String, places: [String]
  ) {
    precondition(sources.count == places.count)
    precondition(order != .sorted || known.texts.isEmpty && start == nil && earlier.isEmpty)
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
    [start].compactMap { $0 } + earlier.flatMap(\.slots) + sources.compactMap(\.slot)
  }
  package var outputs: [String] { [list, end] + places }

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
    let earlier = try pieces(earlier, behind: known, &position, inputs)
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
      var found: [ExactText: Int64] = [:]
      for (start, texts) in earlier {
        found.merge(zip(texts.map(ExactText.init), Int64(start)...)) { first, _ in first }
      }
      places = given.map { source in
        source.texts.map { text in
          let text = ExactText(text)
          if let place = known.places[text] ?? found[text] { return place }
          let place = added(text.text)
          found[text] = place
          return place
        }
      }
    case .sorted:
      let all = Set(given.flatMap(\.texts).map(ExactText.init)).sorted()
      let ranks = Dictionary(uniqueKeysWithValues: zip(all, Int64(0)...))
      list = all.map(\.text)
      places = given.map { source in source.texts.map { ranks[ExactText($0)] ?? 0 } }
    }
    return [.texts(TextTensor(list, [list.count])), .tensor(Tensor([Int64(start + list.count)], []))]
      + zip(places, given).map { .tensor(Tensor($0, $1.shape)) }
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
    let pieces = [(0, known.texts)] + (try pieces(pieces, behind: known, &position, inputs))
    let places = try tensor(position, inputs)
    guard TextTensor.takes(places.shape) else {
      throw refused(position, "\(places.type) is more than \(TextTensor.countLimit) texts", remedy: "give fewer")
    }
    var found: [String] = []
    found.reserveCapacity(places.count)
    var piece = 0
    for place in places.integers {
      if !(pieces[piece].start..<pieces[piece].start + pieces[piece].texts.count).contains(place) {
        piece = max(0, pieces.partitioningIndex { $0.start > place } - 1)
      }
      let (start, texts) = pieces[piece]
      guard texts.indices.contains(place - start) else {
        throw refused(position, "there is no text at \(place)")
      }
      found.append(texts[place - start])
    }
    return [.texts(TextTensor(found, places.shape))]
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

  fileprivate func pieces(
    _ pieces: [TextPiece], behind known: KnownTexts, _ position: inout Int, _ inputs: [HostValue]
  ) throws(StepError) -> [(start: Int, texts: [String])] {
    var read: [(start: Int, texts: [String])] = []
    for piece in pieces {
      let start = try place(piece.start, behind: known, &position, inputs)
      read.append((start, try texts(position, inputs).texts))
      position += 1
    }
    return read
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

/// A text that equals no other of the same characters in other scalars, as Swift's own do.
private struct ExactText: Hashable, Comparable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }
  static func < (a: Self, b: Self) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
