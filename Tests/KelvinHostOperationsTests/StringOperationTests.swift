import KelvinGraph
import KelvinHostOperations
import Testing

/// Host operations on strings beyond those of the models of `Tests/Vectors/Parts` show.
@Suite struct StringOperationTests {
  private func strings(_ strings: [String]) -> HostValue { .strings(StringTensor(strings, [strings.count])) }
  private func list(_ value: HostValue?) -> StringTensor? {
    if case .strings(let strings)? = value { strings } else { nil }
  }
  private func tensor(_ value: HostValue?) -> Tensor? { if case .tensor(let tensor)? = value { tensor } else { nil } }

  /// Each pattern with strings that it matches from end to end, and some that it does not.
  @Test(
    arguments: [
      ("", [""], ["a"]),
      ("a*b+c?", ["b", "aabbc", "bc"], ["", "ac", "abcc"]),
      ("a{2}", ["aa"], ["a", "aaa"]),
      ("(ab){1,3}?", ["ab", "ababab"], ["", "abababab"]),
      ("x{,3}", ["x{,3}"], ["xx"]),
      ("a{2,}", ["aa", "aaaaa"], ["a"]),
      ("cat|dog|", ["cat", "dog", ""], ["catdog"]),
      ("(a|b)*c", ["c", "abbac"], ["abca"]),
      ("[a-c-]+", ["a-c"], ["d"]),
      ("[^a-c]", ["d", "ß"], ["a", ""]),
      ("[]x]+", ["]x"], ["["]),
      ("[[:alpha:]_]+", ["ab_"], ["a1"]),
      ("[[:^digit:]]", ["a"], ["1"]),
      (#"\d\D\w\W\s\S"#, ["1a_- x"], ["aa_- x"]),
      (#"[\d.]+"#, ["1.5"], ["1,5"]),
      (#"[\D]"#, ["x"], ["5"]),
      (#"\x41\x{1F600}\101"#, ["A😀A"], ["A"]),
      (#"\Qa.b*\E+"#, ["a.b***"], ["axb*"]),
      (#"^a$"#, ["a"], ["a\n"]),
      (#"\Aa\z"#, ["a"], ["b"]),
      (#"(?m)a$\n^b"#, ["a\nb"], ["ab"]),
      (#"a\b.*"#, ["a b", "a"], ["ab"]),
      (#"a\B.*"#, ["ab"], ["a b", "a"]),
      (".", ["ä", "😀"], ["\n", "ab"]),
      ("(?s).", ["\n"], [""]),
      ("(?i)größe", ["GRÖßE", "größe"], ["grösse"]),
      ("a(?i)b(?-i)c", ["aBc"], ["ABc", "aBC"]),
      ("(?i:a)b", ["Ab"], ["AB"]),
      ("(?P<year>[0-9]{4})-(?<m>[0-9]{2})", ["2026-11"], ["2026-1"]),
      (#"[\w.]+@[\w.]+\.[a-z]+"#, ["a.b@c.de"], ["a.b@c", "@c.de"]),
      ("(a*)*b", ["aab"], [String(repeating: "a", count: 2000)]),
      ("((a{0,20}){0,20}){0,20}x", ["aaax"], [String(repeating: "a", count: 500)]),
    ] as [(String, [String], [String])])
  func anExpressionMatchesFromEndToEnd(pattern: String, matching: [String], others: [String]) throws {
    let expression = try RegularExpression(pattern)
    for string in matching { #expect(expression.matches(string), "'\(pattern)' does not match '\(string)'") }
    for string in others { #expect(!expression.matches(string), "'\(pattern)' matches '\(string.prefix(20))'") }
  }

  @Test(
    arguments: [
      "(", ")", "a)", "[", "[a", "*", "a**", "a{2}{3}", "a{1001}", "a{3,2}", "\\", #"\1"#, #"\p{Greek}"#, #"\x4"#,
      #"\x{110000}"#, "(?<>a)", "(?=a)", "(?i", "[b-a]", "[[:nothing:]]", "a+++",
      String(repeating: "(", count: 100_000), String(repeating: "(?:", count: 300) + String(repeating: ")", count: 300),
      "((((a{1000}){1000}){1000}){1000})", "(((((){1000}){1000}){1000}){1000})", "(|(|(|(|){1000}){1000}){1000}){1000}",
    ])
  func invalidOrTooLargeExpressionIsRefused(pattern: String) {
    #expect(throws: RegularExpression.SyntaxError.self) { try RegularExpression(pattern) }
  }

  @Test func occurrencesAreLeftmostAndLongest() throws {
    func found(_ pattern: String, in string: String) throws -> [String] {
      let scalars = Array(string.unicodeScalars)
      return try RegularExpression(pattern).occurrences(in: scalars).map { range in
        scalars[range].map { String($0) }.joined()
      }
    }
    #expect(try found("a|ab|abc", in: "xabcab") == ["abc", "ab"])
    #expect(try found("b|abcd", in: "abce") == ["b"])
    #expect(try found("[0-9]*", in: "a12b3") == ["12", "3"])
    #expect(try found(#"\b\w\w+\b"#, in: "an a to") == ["an", "to"])
    #expect(try found("x", in: "") == [])
  }

  @Test func stringsBesideEachOtherAreOfOneShapeButForTheirAxis() throws {
    let step = StringJoin(
      [.slot("x"), .constant(StringTensor(["a", "b"], [2, 1])), .slot("z")], axis: -1, output: "y")
    #expect(try step.types([.strings([2, 3]), .strings([2, 0])]) == [.strings([2, 4])])
    #expect(try step.types([.unknown, .strings([2, 0])]) == [.unknown])
    #expect(try step.types([.strings([2, 3]), .strings([3, 1])]) == [.unknown])
    let uneven = [StringTensor(["c", "d"], [2, 1]), StringTensor(["e"], [1, 1])].map { HostValue.strings($0) }
    #expect { try step.run(uneven) } throws: { "\($0)".contains("differ outside axis 1") }
  }

  @Test func axesOfStringsThatAreNotThereAreRefused() throws {
    for change in [
      StringReshape.Change.flattened(at: 4), .removed([1]), .removed([3]), .inserted([5]), .inserted([0, 0]),
    ] {
      let step = StringReshape(change, input: .slot("x"), output: "y")
      #expect { try step.types([.strings([1, 2, 1])]) } throws: { "\($0)".contains("have no axes") }
    }
    let step = StringReshape(.removed(nil), input: .slot("x"), output: "y")
    #expect(try step.types([.strings([1, 2, 1])]) == [.strings([2])])
  }

  @Test func stringsAreSplitAtAnyWhiteSpaceAndAtDelimitersOfSeveralScalars() throws {
    func parts(_ string: String, at delimiter: String? = nil, atMost splits: Int? = nil) throws -> [String]? {
      let step = StringSplit(at: delimiter, atMost: splits, input: "x", parts: "y", counts: "n")
      return list(try step.run([strings([string])])[0])?.strings
    }
    #expect(try parts("\ta\u{a0}b\n\nc ") == ["a", "b", "c"])
    #expect(try parts(" a  b c ", atMost: 1) == ["a", "b c "])
    #expect(try parts("a", atMost: 0) == ["a"])
    #expect(try parts("a--b----c--", at: "--") == ["a", "b", "", "c", ""])
    #expect(try parts("a--b--c", at: "--", atMost: 1) == ["a", "b--c"])
    #expect(try parts("---", at: "--") == ["", "-"])
    // The accent is not part of the delimiter's letter.
    #expect(try parts("ae\u{301}b", at: "e") == ["a", "\u{301}b"])
  }

  @Test func tooManySplitPartsAreRefused() {
    let step = StringSplit(at: ",", atMost: nil, input: "x", parts: "y", counts: "n")
    let long = String(repeating: ",", count: 20_000)
    #expect { try step.run([strings([long] + [String](repeating: "", count: 1000))]) } throws: {
      "\($0)".contains("1001 strings of up to 20001 parts are more than")
    }
  }

  @Test func moreStringsThanMemoryTakesAreNotGathered() throws {
    let row = StringTensor([String](repeating: "a", count: 4096), [1, 4096])
    let many = Tensor([Int64](repeating: 0, count: 4097), [4097])
    let gather = StringGather(.constant(row), at: .slot("i"), axis: 0, output: "y")
    #expect(try gather.types([.tensor(TensorType(.int64, [4096]))]) == [.strings([4096, 4096])])
    #expect { try gather.run([.tensor(many)]) } throws: {
      "\($0)".contains("[4097x4096] is more than 16777216 strings; give fewer indices")
    }
    let large = Tensor([Int64](repeating: 0, count: 4097 * 4096), [4097, 4096])
    let placed = StringsAtIndices(and: [], at: "p", output: "y")
    #expect { try placed.run([.tensor(large)]) } throws: { "\($0)".contains("is more than 16777216 strings") }
    let labels = ValueMap(.integers([0]), to: .strings(["a"]), otherwise: nil, input: "x", output: "y")
    #expect { try labels.run([.tensor(large)]) } throws: { "\($0)".contains("is more than 16777216 strings") }
    let vectors = OneHotVector(.integers([0, 1]), ignoresUnknown: false, input: "x", output: "y")
    #expect { try vectors.types([.strings([1 << 28])]) } throws: { "\($0)".contains("is more than 268435456 numbers") }
  }

  @Test func stringsThatGrowBeyondMemoryAreNotWritten() throws {
    let step = StringConcatenation(StringPair(.slot("x"), .slot("x")), output: "y")
    let long = String(repeating: "a", count: 1 << 16)
    let many = strings([String](repeating: long, count: (1 << 13) + 1))
    #expect { try step.run([many, many]) } throws: { "\($0)".contains("8193 strings are more than 1073741824 bytes") }
  }

  @Test func stringsThatDoNotFitEachOtherAreNotJoined() throws {
    let step = StringConcatenation(StringPair(.slot("x"), .constant(StringTensor(["a", "b"], [2]))), output: "y")
    #expect(try step.types([.strings([3, 1])]) == [.strings([3, 2])])
    #expect(try step.types([.unknown]) == [.unknown])
    #expect { try step.run([strings(["1", "2", "3"])]) } throws: {
      "\($0)".contains("strings [3] and [2] do not broadcast; give sizes that are equal or 1")
    }
  }

  @Test func stringsAreEqualScalarByScalar() throws {
    let composed = StringTensor(["\u{e9}", "e\u{301}", "a"], [3])
    let step = StringEquality(StringPair(.slot("x"), .constant(composed)), output: "y")
    #expect(try step.types([.strings([2, 1])]) == [.tensor(TensorType(.bool, [2, 3]))])
    #expect(
      tensor(try step.run([.strings(StringTensor(["\u{e9}", "a"], [2, 1]))])[0])?.doubles == [1, 0, 0, 0, 0, 1])
  }

  @Test func bitPatternsArePreserved() throws {
    let step = TensorBits(as: .int32, input: "x", output: "y")
    let bits = Tensor([1.5, -0.0, .nan, .infinity] as [Float], [4])
    let found = tensor(try step.run([.tensor(bits)])[0])
    #expect(found?.words == [0x3FC0_0000, Int64(Int32.min), 0x7FC0_0000, 0x7F80_0000])
    #expect { try step.types([.tensor(TensorType(.float64, [1]))]) } throws: {
      "\($0)".contains("the bits of float64[1] cannot be read as int32")
    }
  }

  @Test func stringsAreNumbersAsFarAsTheySpellSome() throws {
    func numbers(_ given: [String], _ scalar: ScalarType) throws -> Tensor? {
      tensor(try StringsToNumbers(scalar, input: "x", output: "y").run([strings(given)])[0])
    }
    let special = try #require(try numbers(["inf", "-INF", "nan", "1e400"], .float32)).floats
    #expect(special[0] == .infinity && special[1] == -.infinity && special[2].isNaN && special[3] == .infinity)
    #expect(try numbers(["100.9", "-0.5", "18446744073709551615"], .uint64)?.words == [100, 0, -1])
    for string in ["", "1,5", " 1", "one"] {
      #expect { try numbers([string], .float32) } throws: { "\($0)".contains("'\(string)' is not a valid float32") }
    }
    #expect { try numbers(["1e30"], .int64) } throws: { "\($0)".contains("is not a valid int64") }
  }

  @Test func numbersAreStringsWithEnoughDigits() throws {
    let step = NumbersToStrings(input: "x", output: "y")
    #expect(
      list(try step.run([.tensor(Tensor([0.1, -2, 1e-7] as [Float], [3]))])[0])?.strings == ["0.1", "-2.0", "1e-07"])
    let large = Tensor(TensorType(.uint64, [1]), wrapping: [-1])
    #expect(list(try step.run([.tensor(large)])[0])?.strings == ["18446744073709551615"])
  }

  @Test func longSkipsStayCheapOnShortInputs() throws {
    let terms = [TermCounts.Term(words: [0, 1], column: 0, weight: 1)]
    let step = TermCounts(
      terms, of: .integers([1, 2]), lengths: 1...2, skips: 1 << 20, measure: .count, columns: 1, input: "x", output: "y"
    )
    #expect(tensor(try step.run([.tensor(Tensor([1, 7, 2] as [Int64], [3]))])[0])?.floats == [1])
    #expect(tensor(try step.run([.tensor(Tensor([] as [Int64], [0]))])[0])?.floats == [0])
  }

  @Test func keyOutsideARowIsRefused() {
    let step = DictionaryRow(.float32, length: 3, input: "x", output: "y")
    for key in [-1, 3] as [Int64] {
      #expect { try step.run([.dictionary(HostDictionary(.integers([key]), [1]))]) } throws: {
        "\($0)".contains("the key \(key) is outside 3 elements; give keys from 0 to 2")
      }
    }
  }
}
