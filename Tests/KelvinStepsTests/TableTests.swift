import KelvinGraph
import KelvinSteps
import Testing

/// Steps that look values up: texts to numbers, numbers to texts, dictionaries to vectors.
@Suite struct TableTests {
  private let colors = Column.texts(["red", "green"])

  private func texts(_ texts: String...) -> HostValue { .texts(TextTensor(texts, [texts.count])) }

  private func tensor(_ value: HostValue?) -> Tensor? { if case .tensor(let tensor)? = value { tensor } else { nil } }
  private func list(_ value: HostValue?) -> TextTensor? { if case .texts(let texts)? = value { texts } else { nil } }

  @Test func aTextHasAnIndexAndAnIndexAText() throws {
    let index = ValueMap(colors, to: .integers([7, -2]), otherwise: nil, input: "x", output: "y")
    let found = tensor(try index.run([texts("green", "red", "green")])[0])
    #expect(found?.words == [-2, 7, -2] && found?.type == TensorType(.int64, [3]))
    let name = ValueMap(.integers([7, -2]), to: colors, otherwise: .texts(["?"]), input: "x", output: "y")
    #expect(
      list(try name.run([.tensor(Tensor([-2, 7, 1] as [Int64], [3, 1]))])[0])
        == TextTensor(["green", "red", "?"], [3, 1]))
    #expect(try name.types([.tensor(TensorType(.int64, [5, 2]))]) == [.texts([5, 2])])
    #expect(try name.types([.unknown]) == [.unknown])
  }

  @Test func whatIsNotInTheTableIsRefusedWithWhatIs() {
    let step = ValueMap(colors, to: .integers([0, 1]), otherwise: nil, input: "color", output: "y")
    #expect { try step.run([texts("red", "pink")]) } throws: { error in
      "\(error)" == "value_map of 'color': 'pink' is not known; give one of 'red', 'green'"
    }
    let many = ValueMap(
      .texts((0..<20).map(String.init)), to: .integers(Array(0..<20)), otherwise: nil, input: "x", output: "y")
    #expect { try many.run([texts("20")]) } throws: { "\($0)".hasSuffix("'7' and 12 more") }
  }

  @Test func valuesOfTheWrongKindAreRefused() {
    let step = ValueMap(colors, to: .integers([0, 1]), otherwise: nil, input: "color", output: "y")
    #expect { try step.run([.tensor(Tensor([1] as [Int64], [1]))]) } throws: {
      "\($0)".contains("expected texts, got a tensor int64")
    }
    #expect { try step.run([.absent]) } throws: { "\($0)".contains("no value was given, expected texts; give one") }
    let codes = ValueMap(.integers([1]), to: .texts(["one"]), otherwise: .texts(["?"]), input: "x", output: "y")
    #expect { try codes.run([texts("1")]) } throws: { "\($0)".contains("expected a tensor, got a text") }
    for number in [Float.nan, 0.5, .infinity] {
      #expect { try codes.run([.tensor(Tensor([number], [1]))]) } throws: { "\($0)".contains("is not a whole number") }
    }
    #expect(list(try? codes.run([.tensor(Tensor([1] as [Float], [1]))])[0])?.texts == ["one"])
  }

  @Test func floatsAreFoundByTheirValueAndNotANumberByItself() throws {
    let step = ValueMap(
      .floats([.nan, -0.0, 2.5]), to: .floats([1, 2, 3]), otherwise: .floats([-1]), input: "x", output: "y")
    let found = try step.run([.tensor(Tensor([-Float.nan, 0, 2.5, 7], [4]))])
    #expect(tensor(found[0])?.floats == [1, 2, 3, -1])
  }

  @Test func aCategoryIsOneOfAVectorAndAnUnknownOneNothingOrAnError() throws {
    let ignoring = OneHotVector(colors, ignoresUnknown: true, input: "x", output: "y")
    let found = tensor(try ignoring.run([texts("green", "pink")])[0])
    #expect(found?.floats == [0, 1, 0, 0] && found?.shape == [2, 2])
    #expect(try ignoring.types([.texts([3, 1])]) == [.tensor(TensorType(.float32, [3, 1, 2]))])
    let strict = OneHotVector(colors, ignoresUnknown: false, isOne: true, input: "x", output: "y")
    #expect(tensor(try strict.run([texts("red")])[0])?.shape == [2])
    #expect { try strict.run([texts("pink")]) } throws: { "\($0)".contains("'pink' is no category; give one of 'red'") }
    #expect { try strict.run([texts("red", "red")]) } throws: { "\($0)".contains("2 elements, expected one") }
  }

  @Test func aDictionaryIsAVectorInTheOrderOfTheVocabulary() throws {
    let type = TensorType(.float64, [3])
    let step = DictionaryVector(.strings(["b", "a", "c"]), type, input: "words", output: "y")
    func run(_ keys: Labels, _ values: [Double]) throws -> [Double]? {
      tensor(try step.run([.dictionary(HostDictionary(keys, values))])[0])?.doubles
    }
    #expect(try run(.strings(["a", "strange", "b"]), [1, 9, 0.1]) == [0.1, 1, 0])
    #expect(try run(.strings([]), []) == [0, 0, 0])
    #expect(try run(.integers([]), []) == [0, 0, 0], "an empty dictionary has no kind")
    #expect(try step.types([.dictionary(isByText: true)]) == [.tensor(type)])
    #expect { try run(.integers([1]), [1]) } throws: { "\($0)".contains("its keys are whole numbers, expected texts") }
    #expect { try step.run([.sequence([])]) } throws: { "\($0)".contains("expected a dictionary, got a sequence") }
  }

  @Test func textsAreTakenByTheirIndices() throws {
    let known = TextTensor(["a", "b", "c"], [3])
    let named = TextGather(.constant(known), at: .slot("i"), axis: 0, output: "y")
    #expect(list(try named.run([.tensor(Tensor([2, -3] as [Int64], [2, 1]))])[0]) == TextTensor(["c", "a"], [2, 1]))
    #expect(try named.types([.tensor(TensorType(.int64, [4, 2]))]) == [.texts([4, 2])])
    let table = HostValue.texts(TextTensor(["a", "b", "c", "d", "e", "f"], [2, 3]))
    let column = TextGather(.slot("x"), at: .constant([-1, 0]), axis: 1, output: "y")
    #expect(list(try column.run([table])[0]) == TextTensor(["c", "a", "f", "d"], [2, 2]))
    let both = TextGather(.slot("x"), at: .slot("i"), axis: -2, takesList: true, output: "y")
    #expect(
      list(try both.run([table, .tensor(Tensor([1] as [Int64], [1, 1]))])[0]) == TextTensor(["d", "e", "f"], [1, 3]))
    for index in [3, -4] as [Int64] {
      #expect { try named.run([.tensor(Tensor([index], [1]))]) } throws: {
        "\($0)".contains("the index \(index) is outside 3 texts; give 0 to 2")
      }
    }
    #expect { try named.run([.tensor(Tensor([Float.nan], [1]))]) } throws: { "\($0)".contains("is not an index") }
    let wild = TextGather(.slot("x"), at: .constant([0]), axis: 2, output: "y")
    #expect { try wild.run([table]) } throws: { "\($0)".contains("have no axis 2") }
  }

  @Test func textsChangeTheirShapeAndNothingElse() throws {
    let six = HostValue.texts(TextTensor(["a", "b", "c", "d", "e", "f"], [2, 3]))
    func shape(_ sizes: [Int]?, copiesZeros: Bool = true) throws -> Shape? {
      let change = sizes.map { TextReshape.Change.sizes($0, copiesZeros: copiesZeros) } ?? .kept
      return list(try TextReshape(change, input: .slot("x"), output: "y").run([six])[0])?.shape
    }
    #expect(try shape([-1]) == [6])
    #expect(try shape([0, -1, 1]) == [2, 3, 1])
    #expect(try shape(nil) == [2, 3])
    for sizes in [[4, -1], [-1, -1], [7], [0, 0, 0]] {
      #expect { try shape(sizes) } throws: { "\($0)".contains("texts [2x3] do not fit") }
    }
    #expect(throws: StepError.self) { try shape([0, -1], copiesZeros: false) }
  }
}
