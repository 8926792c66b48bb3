import KelvinGraph
import KelvinHostOperations
import Testing

/// Host operations that look values up: strings to numbers, numbers to strings, dictionaries to vectors.
@Suite struct TableTests {
  private let colors = Column.strings(["red", "green"])

  private func strings(_ strings: String...) -> HostValue { .strings(StringTensor(strings, [strings.count])) }

  private func tensor(_ value: HostValue?) -> Tensor? { if case .tensor(let tensor)? = value { tensor } else { nil } }
  private func list(_ value: HostValue?) -> StringTensor? {
    if case .strings(let strings)? = value { strings } else { nil }
  }

  @Test func aStringHasAnIndexAndAnIndexAString() throws {
    let index = ValueMap(colors, to: .integers([7, -2]), otherwise: nil, input: "x", output: "y")
    let found = tensor(try index.run([strings("green", "red", "green")])[0])
    #expect(found?.words == [-2, 7, -2] && found?.type == TensorType(.int64, [3]))
    let name = ValueMap(.integers([7, -2]), to: colors, otherwise: .strings(["?"]), input: "x", output: "y")
    #expect(
      list(try name.run([.tensor(Tensor([-2, 7, 1] as [Int64], [3, 1]))])[0])
        == StringTensor(["green", "red", "?"], [3, 1]))
    #expect(try name.types([.tensor(TensorType(.int64, [5, 2]))]) == [.strings([5, 2])])
    #expect(try name.types([.unknown]) == [.unknown])
  }

  @Test func unknownKeyErrorListsKnownKeys() {
    let step = ValueMap(colors, to: .integers([0, 1]), otherwise: nil, input: "color", output: "y")
    #expect { try step.run([strings("red", "pink")]) } throws: { error in
      "\(error)" == "value_map of 'color': 'pink' is not known; give one of 'red', 'green'"
    }
    let many = ValueMap(
      .strings((0..<20).map(String.init)), to: .integers(Array(0..<20)), otherwise: nil, input: "x", output: "y")
    #expect { try many.run([strings("20")]) } throws: { "\($0)".hasSuffix("'7' and 12 more") }
  }

  @Test func valuesOfTheWrongKindAreRefused() {
    let step = ValueMap(colors, to: .integers([0, 1]), otherwise: nil, input: "color", output: "y")
    #expect { try step.run([.tensor(Tensor([1] as [Int64], [1]))]) } throws: {
      "\($0)".contains("expected strings, got a tensor int64")
    }
    #expect { try step.run([.absent]) } throws: { "\($0)".contains("no value was given, expected strings; give one") }
    let codes = ValueMap(.integers([1]), to: .strings(["one"]), otherwise: .strings(["?"]), input: "x", output: "y")
    #expect { try codes.run([strings("1")]) } throws: { "\($0)".contains("expected a tensor, got a string") }
    for number in [Float.nan, 0.5, .infinity] {
      #expect { try codes.run([.tensor(Tensor([number], [1]))]) } throws: { "\($0)".contains("is not a whole number") }
    }
    #expect(list(try? codes.run([.tensor(Tensor([1] as [Float], [1]))])[0])?.strings == ["one"])
  }

  @Test func floatKeysMatchByValueIncludingNaN() throws {
    let step = ValueMap(
      .floats([.nan, -0.0, 2.5]), to: .floats([1, 2, 3]), otherwise: .floats([-1]), input: "x", output: "y")
    let found = try step.run([.tensor(Tensor([-Float.nan, 0, 2.5, 7], [4]))])
    #expect(tensor(found[0])?.floats == [1, 2, 3, -1])
  }

  @Test func unknownCategoryIsZeroOrAnError() throws {
    let ignoring = OneHotVector(colors, ignoresUnknown: true, input: "x", output: "y")
    let found = tensor(try ignoring.run([strings("green", "pink")])[0])
    #expect(found?.floats == [0, 1, 0, 0] && found?.shape == [2, 2])
    #expect(try ignoring.types([.strings([3, 1])]) == [.tensor(TensorType(.float32, [3, 1, 2]))])
    let strict = OneHotVector(colors, ignoresUnknown: false, isOne: true, input: "x", output: "y")
    #expect(tensor(try strict.run([strings("red")])[0])?.shape == [2])
    #expect { try strict.run([strings("pink")]) } throws: {
      "\($0)".contains("'pink' is not a known category; give one of 'red'")
    }
    #expect { try strict.run([strings("red", "red")]) } throws: { "\($0)".contains("2 elements, expected one") }
  }

  @Test func dictionaryVectorFollowsTheVocabulary() throws {
    let type = TensorType(.float64, [3])
    let step = DictionaryVector(.strings(["b", "a", "c"]), type, input: "words", output: "y")
    func run(_ keys: Labels, _ values: [Double]) throws -> [Double]? {
      tensor(try step.run([.dictionary(HostDictionary(keys, values))])[0])?.doubles
    }
    #expect(try run(.strings(["a", "strange", "b"]), [1, 9, 0.1]) == [0.1, 1, 0])
    #expect(try run(.strings([]), []) == [0, 0, 0])
    #expect(try run(.integers([]), []) == [0, 0, 0], "an empty dictionary has no kind")
    #expect(try step.types([.dictionary(isByString: true)]) == [.tensor(type)])
    #expect { try run(.integers([1]), [1]) } throws: {
      "\($0)".contains("its keys are whole numbers, expected strings")
    }
    #expect { try step.run([.sequence([])]) } throws: { "\($0)".contains("expected a dictionary, got a sequence") }
  }

  @Test func stringsAreTakenByTheirIndices() throws {
    let known = StringTensor(["a", "b", "c"], [3])
    let named = StringGather(.constant(known), at: .slot("i"), axis: 0, output: "y")
    #expect(
      list(try named.run([.tensor(Tensor([2, -3] as [Int64], [2, 1]))])[0]) == StringTensor(["c", "a"], [2, 1]))
    #expect(try named.types([.tensor(TensorType(.int64, [4, 2]))]) == [.strings([4, 2])])
    let table = HostValue.strings(StringTensor(["a", "b", "c", "d", "e", "f"], [2, 3]))
    let column = StringGather(.slot("x"), at: .constant([-1, 0]), axis: 1, output: "y")
    #expect(list(try column.run([table])[0]) == StringTensor(["c", "a", "f", "d"], [2, 2]))
    let both = StringGather(.slot("x"), at: .slot("i"), axis: -2, takesList: true, output: "y")
    #expect(
      list(try both.run([table, .tensor(Tensor([1] as [Int64], [1, 1]))])[0]) == StringTensor(["d", "e", "f"], [1, 3]))
    for index in [3, -4] as [Int64] {
      #expect { try named.run([.tensor(Tensor([index], [1]))]) } throws: {
        "\($0)".contains("the index \(index) is outside 3 strings; give 0 to 2")
      }
    }
    #expect { try named.run([.tensor(Tensor([Float.nan], [1]))]) } throws: { "\($0)".contains("is not an index") }
    let wild = StringGather(.slot("x"), at: .constant([0]), axis: 2, output: "y")
    #expect { try wild.run([table]) } throws: { "\($0)".contains("have no axis 2") }
  }

  @Test func stringsChangeTheirShapeAndNothingElse() throws {
    let six = HostValue.strings(StringTensor(["a", "b", "c", "d", "e", "f"], [2, 3]))
    func shape(_ sizes: [Int]?, copiesZeros: Bool = true) throws -> Shape? {
      let change = sizes.map { StringReshape.Change.sizes($0, copiesZeros: copiesZeros) } ?? .kept
      return list(try StringReshape(change, input: .slot("x"), output: "y").run([six])[0])?.shape
    }
    #expect(try shape([-1]) == [6])
    #expect(try shape([0, -1, 1]) == [2, 3, 1])
    #expect(try shape(nil) == [2, 3])
    for sizes in [[4, -1], [-1, -1], [7], [0, 0, 0]] {
      #expect { try shape(sizes) } throws: { "\($0)".contains("strings [2x3] do not fit") }
    }
    #expect(throws: HostOperationError.self) { try shape([0, -1], copiesZeros: false) }
  }
}
