package import KelvinGraph

/// Arrays of texts as arrays of their places in one list, so that graphs move them as they move numbers.
///
/// The list grows from step to step: places in a list that another one begins with are places in that one too. Its first
/// text is the empty one, so that what operators fill with zeros is filled with what ONNX has for texts that nobody gives.
package struct TextPlaces: HostStep {
  package static let name = "text_places"

  /// How texts get their places.
  package enum Order: Hashable, Sendable {
    /// As they come. Empty ones have place 0 all the same.
    case given
    /// As they come, equal ones one place.
    case distinct
    /// By their bytes in UTF-8, and so by their scalars; equal ones one place.
    case sorted
  }

  /// What the list begins with, in its order: nothing where it is sorted.
  package let beginning: StepOperand<TextTensor>
  package let sources: [StepOperand<TextTensor>]
  package let order: Order
  /// The list's slot.
  package let list: String
  /// A slot for each source.
  package let places: [String]

  /// - Precondition: there are as many slots as sources; a beginning that is known starts with an empty text.
  package init(
    after beginning: StepOperand<TextTensor> = .constant(Self.empty), of sources: [StepOperand<TextTensor>],
    order: Order,
    list: String, places: [String]
  ) {
    precondition(sources.count == places.count)
    self.beginning = beginning
    self.sources = sources
    self.order = order
    self.list = list
    self.places = places
  }

  /// The list of no texts.
  package static let empty = TextTensor([""], [1])

  package var inputs: [String] { ([beginning] + sources).compactMap(\.slot) }
  package var outputs: [String] { [list] + places }

  package func types(_ inputs: [HostType]) throws(StepError) -> [HostType] {
    var pending = inputs[...]
    if beginning.slot != nil { pending.removeFirst() }
    var types: [HostType] = [.unknown]
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
    func value(_ operand: StepOperand<TextTensor>) throws(StepError) -> TextTensor {
      switch operand {
      case .constant(let texts): return texts
      case .slot:
        position += 1
        return try texts(position - 1, inputs)
      }
    }
    var list = try value(beginning).texts
    var given: [TextTensor] = []
    for source in sources { given.append(try value(source)) }
    guard given.reduce(list.count, { $0 + $1.texts.count }) <= TextTensor.countLimit else {
      throw refused(0, "they are more than \(TextTensor.countLimit) texts", remedy: "give fewer")
    }
    let places: [[Int64]]
    switch order {
    case .given:
      places = given.map { source in
        source.texts.map { text in
          if text.isEmpty { return 0 }
          list.append(text)
          return Int64(list.count - 1)
        }
      }
    case .distinct:
      var known = Dictionary(zip(list.map(ExactText.init), Int64(0)...)) { first, _ in first }
      places = given.map { source in
        source.texts.map { text in
          if let place = known[ExactText(text)] { return place }
          list.append(text)
          known[ExactText(text)] = Int64(list.count - 1)
          return Int64(list.count - 1)
        }
      }
    case .sorted:
      let all = Set((list + given.flatMap(\.texts)).map(ExactText.init)).sorted()
      let ranks = Dictionary(uniqueKeysWithValues: zip(all, Int64(0)...))
      list = all.map(\.text)
      places = given.map { source in source.texts.map { ranks[ExactText($0)] ?? 0 } }
    }
    return [.texts(TextTensor(list, [list.count]))] + zip(places, given).map { .tensor(Tensor($0, $1.shape)) }
  }
}

/// The texts at places of a list (see ``TextPlaces``), in the places' shape.
package struct TextsAtPlaces: HostStep {
  package static let name = "texts_at_places"
  package let list: StepOperand<TextTensor>
  package let places: String
  package let output: String

  package init(_ list: StepOperand<TextTensor>, at places: String, output: String) {
    self.list = list
    self.places = places
    self.output = output
  }

  package var inputs: [String] { [list.slot, places].compactMap { $0 } }
  package var outputs: [String] { [output] }

  package func types(_ inputs: [HostType]) throws(StepError) -> [HostType] {
    guard case .tensor(let type)? = inputs.last else { return [.unknown] }
    return [.texts(type.shape)]
  }

  package func run(_ inputs: [HostValue]) throws(StepError) -> [HostValue] {
    let list: TextTensor
    switch self.list {
    case .constant(let known): list = known
    case .slot: list = try texts(0, inputs)
    }
    let places = try tensor(inputs.count - 1, inputs)
    guard TextTensor.takes(places.shape) else {
      throw refused(
        inputs.count - 1, "\(places.type) is more than \(TextTensor.countLimit) texts", remedy: "give fewer")
    }
    var found: [String] = []
    found.reserveCapacity(places.count)
    for place in places.integers {
      guard list.texts.indices.contains(place) else {
        throw refused(inputs.count - 1, "there is no text at \(place) of \(list.texts.count)")
      }
      found.append(list.texts[place])
    }
    return [.texts(TextTensor(found, places.shape))]
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
