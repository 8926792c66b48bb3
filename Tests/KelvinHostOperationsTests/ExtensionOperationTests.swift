import KelvinBasics
import KelvinGraph
import KelvinHostOperations
import TestSupport
import Testing

/// Host operations of onnxruntime-extensions beyond what the models of `Tests/Vectors/Extensions` show.
@Suite struct ExtensionOperationTests {
  private let one = HostSlots(inputs: ["x", "w", "v"], outputs: ["y"])

  private func strings(_ strings: String...) -> HostValue { .strings(StringTensor(strings, [strings.count])) }
  private func integers(_ integers: [Int64]) -> HostValue { .tensor(Tensor(integers, [integers.count])) }
  private func list(_ value: HostValue?) -> [String]? {
    if case .strings(let strings)? = value { strings.strings } else { nil }
  }
  private func tensor(_ value: HostValue?) -> Tensor? { if case .tensor(let tensor)? = value { tensor } else { nil } }

  private func reason(_ step: some HostOperation, _ inputs: [HostValue]) -> String {
    do throws(HostOperationError) {
      _ = try step.run(inputs)
      return "nothing"
    } catch { return error.description }
  }

  /// Each expression, a string, the replacement and the result.
  @Test(
    arguments: [
      ("a|ab", "abab", "-", "-b-b"), ("ab|a", "abab", "-", "--"), ("a{1,2}?", "aaa", "-", "---"),
      ("(?U)a{1,2}", "aaa", "-", "---"), ("(?U)a{1,2}?", "aaa", "-", "--"), ("(a)|(b)", "ab", #"[\2\1]"#, "[a][b]"),
      ("((a)|b)*", "abab", #"\1\2"#, "ba"), ("^", "ab", "x", "xab"), ("b*", "abc", "-", "-a-c-"),
      (#"\p{Lu}\P{Lu}"#, "AbCD1", "x", "xCx"), (#"[^\pN]+"#, "a1b²c", "x", "x1x²x"), ("(?:a)(b)", "ab", #"\1"#, "b"),
    ])
  func replacementsAreThoseOfThePreferredMatch(pattern: String, text: String, rewrite: String, result: String) throws {
    let step = StringReplacement(.re2, isGlobal: true, one)
    #expect(list(try step.run([strings(text), strings(pattern), strings(rewrite)])[0]) == [result])
  }

  @Test func invalidExpressionsAreNamed() {
    let step = StringReplacement(.re2, isGlobal: true, one)
    #expect(reason(step, [strings("a"), strings("("), strings("")]).contains("cannot be read"))
    #expect(reason(step, [strings("a"), strings(""), strings("")]).contains("the expression is empty"))
    #expect(reason(step, [strings("a"), strings("a"), strings(#"\x"#)]).contains("backslash"))
    let bytes = StringReplacement(.ecmaScript(foldsCase: false), isGlobal: true, one)
    #expect(reason(bytes, [strings("ä"), strings("."), strings("-$&")]).contains("match whole characters"))
    #expect(reason(bytes, [strings("a"), strings("(?=a)"), strings("")]).contains("cannot be read"))
  }

  @Test func aLongStringIsReplacedInTime() throws {
    let text = String(repeating: "a", count: 20_000)
    let step = StringReplacement(.re2, isGlobal: true, one)
    #expect(list(try step.run([strings(text), strings("(a*)*b"), strings("")])[0]) == [text])
  }

  @Test func valuesOfOtherKindsAndRangesAreRefused() {
    let text = strings("a")
    #expect(reason(StringChange(.lower, one), [integers([1])]).contains("expected strings"))
    #expect(reason(StringMeasure(.bucket(.gnu), one), [text, integers([0])]).contains("there are 0 buckets"))
    #expect(reason(StringReduction(one), [text, text, integers([1])]).contains("no axis 1"))
    #expect(reason(StringReduction(one), [text, strings("a", "b"), integers([0])]).contains("expected one string"))
    #expect(reason(StringSparseSplit(one), [strings("ä"), strings(""), integers([0])]).contains("not ASCII"))
    #expect(reason(StringSparseSplit(one), [text, strings("ä"), integers([0])]).contains("not ASCII"))
    #expect(reason(StringFilter(one), [text, integers([1, 0])]).contains("expected a mask"))
    #expect(reason(RaggedPlaces(one), [integers([0, 2, 1])]).contains("do not ascend"))
    #expect(reason(RaggedPlaces(one), [integers([0, 1 << 60])]).contains("more than"))
    #expect(reason(RaggedPlaces(one), [integers([])]).contains("do not ascend"))
    let ragged = [integers([0]), integers([1]), integers([0]), integers([0, 2])]
    #expect(reason(RaggedMatrix(one), ragged).contains("rows end at 2 of 1 elements"))
    let rows = HostValue.tensor(Tensor([1, 2] as [Float], [2, 1]))
    #expect(reason(SegmentSums(one), [rows, integers([0, 2])]).contains("not in order"))
    #expect(reason(SegmentSums(one), [rows, integers([1 << 40, 1 << 40])]).contains("segments"))
    let singular = HostValue.tensor(Tensor([1, 2, 2, 4] as [Float], [2, 2]))
    #expect(reason(MatrixInverse(one), [singular]).contains("no inverse"))
  }

  @Test func vocabularyDocumentsAreReadByTheirBytes() {
    let document = VocabularyDocument(" {\"e\u{301}\": 1, \"\u{E9}\" : 2,\"\\u00e9\":3, \"\\ud83e\\udda6\\n\": -4 } ")
    #expect(document?.numbers == ["e\u{301}": 1, "\u{E9}": 3, "🦦\n": -4])
    let invalid = [
      "", "{", "{}x", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a:1}"#, #"{"\ud83e":1}"#, #"{"\x":1}"#, "[1]",
    ]
    for text in invalid {
      #expect(VocabularyDocument(text) == nil, "\(text)")
    }
  }

  @Test func damagedCharacterMapsEnd() {
    var generator = SeededGenerator(seed: 3)
    for size in 0..<200 {
      var bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
      if size > 8 { bytes.replaceSubrange(0..<4, with: [UInt8(size / 8 * 4), 0, 0, 0]) }
      var settings = SentencePieces.Settings()
      settings.map = CharacterMap(bytes)
      settings.pieces = [SentencePieces.Piece()]
      settings.pieces[0].kind = .unknown
      guard let model = SentencePieces(settings) else { continue }
      let flags = HostValue.tensor(Tensor([0] as [Int64], [1]))
      let step = SentencePieceTokens(model, HostSlots(inputs: ["x"], outputs: ["a", "b", "c"]))
      #expect(throws: Never.self) { try step.run([strings("größe 🦦", ""), flags, flags, flags, flags, flags]) }
    }
  }

  @Test func sentencePiecesNeedAnUnknownPieceAndBytes() {
    var settings = SentencePieces.Settings()
    #expect(SentencePieces(settings) == nil)
    settings.pieces = [SentencePieces.Piece()]
    settings.pieces[0].kind = .unknown
    settings.fallsBackToBytes = true
    #expect(SentencePieces(settings) == nil)
  }

  private func image(_ height: Int, _ width: Int) -> HostValue {
    let bytes = (0..<height * width * 3).map { UInt8($0 % 251) }
    return .tensor(Tensor(TensorType(.uint8, [height, width, 3]), Bytes(bytes)))
  }

  @Test(arguments: [true, false]) func encodedImagesDecodeToTheirPixels(isBlueFirst: Bool) throws {
    let encoding = ImageEncoding(isJPEG: false, isBlueFirst: isBlueFirst, HostSlots(inputs: ["x"], outputs: ["y"]))
    let file = try encoding.run([image(3, 5)])
    let decoded = try ImageDecoding(isBlueFirst ? .bgr : .rgb, input: "y", output: "z").run(file)
    #expect(tensor(decoded[0]) == tensor(image(3, 5)))
    let jpeg = ImageEncoding(isJPEG: true, isBlueFirst: true, HostSlots(inputs: ["x"], outputs: ["y"]))
    let start = try #require(tensor(try jpeg.run([image(3, 5)])[0])).bytes.withUnsafeBytes { Array($0.prefix(2)) }
    #expect(start == [0xFF, 0xD8])
    #expect(reason(jpeg, [integers([1])]).contains("expected an image"))
  }

  /// The colors of an image of 6 x 7 pixels, row by row; 0 for none, and the number of the color otherwise.
  private func drawn(
    _ form: BoxDrawing.Form, _ thickness: Int, _ boxes: [[Float]], classes: Bool = true
  ) throws -> [String] {
    let black = HostValue.tensor(Tensor(TensorType(.uint8, [6, 7, 3]), Bytes([UInt8](repeating: 0, count: 126))))
    let table = HostValue.tensor(Tensor(boxes.flatMap { $0 }, [boxes.count, 6]))
    let slots = HostSlots(inputs: ["x", "b"], outputs: ["y"])
    let step = BoxDrawing(form, thickness: thickness, colorsClasses: classes, slots)
    let bytes = try #require(tensor(try step.run([black, table])[0])).bytes.withUnsafeBytes { Array($0) }
    let names: [[UInt8]: String] = [[0, 0, 0]: ".", [0, 0, 255]: "r", [0, 255, 255]: "y"]
    return (0..<6).map { row in
      (0..<7).map { names[Array(bytes[(row * 7 + $0) * 3..<(row * 7 + $0) * 3 + 3])] ?? "?" }.joined()
    }
  }

  @Test func boxesAreDrawnByTheirScores() throws {
    let frame = ["rrrrr..", "r...r..", "r...r..", "rrrrr..", ".......", "......."]
    #expect(try drawn(.edges, 1, [[0, 0, 4, 3, 0.5, 0]]) == frame)
    #expect(try drawn(.cornerAndSize, 1, [[0, 0, 4, 3, 0.5, 9]]) == frame)
    #expect(try drawn(.centreAndSize, 1, [[2, 1.5, 4, 3, 0.5, 9]]) == frame)
    #expect(try drawn(.edges, 1, [[0, 0, 4, 3, 0.9, 1], [0, 0, 4, 3, 0.5, 0]]) == frame)
    let outside = try drawn(.edges, 1, [[9, 9, 12, 12, 1, 0], [.nan, 0, -5, .infinity, 1, 0]])
    #expect(outside.joined().allSatisfy { $0 == "." })
    let filled = try drawn(.edges, 9, [[1, 1, 3, 3, 0.5, 0], [4, 1, 6, 3, 0.4, 0]], classes: false)
    #expect(filled == [".......", ".rr.yy.", ".rr.yy.", ".......", ".......", "......."])
  }

  @Test func soundOfOtherFormatsIsRefused() {
    let step = WaveSamples(rate: 16_000, mixesPairs: false, HostSlots(inputs: ["x"], outputs: ["y"]))
    func bytes(_ text: String) -> HostValue {
      .tensor(Tensor(TensorType(.uint8, [text.utf8.count]), Bytes(Array(text.utf8))))
    }
    #expect(reason(step, [bytes("fLaC")]).contains("convert it to WAV"))
    #expect(reason(step, [bytes("RIFF1234WAVEdata\u{1}\u{0}\u{0}\u{0}")]).contains("convert it to 16 bits"))
    #expect(reason(step, [bytes("RIFF1234WAVEfmt \u{7f}\u{7f}\u{7f}\u{7f}ab")]).contains("convert it to 16 bits"))
    #expect(reason(step, [integers([1])]).contains("expected the bytes"))
    #expect(reason(WaveSamples(rate: nil, mixesPairs: false, step.slots), [bytes("RIFF")]).contains("not a WAV"))
  }
}
