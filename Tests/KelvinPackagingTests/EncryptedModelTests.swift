import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinPackaging
import TestSupport
import Testing

/// Encrypted models. The layout of the file comes from docs/design/packaging.md.
@Suite struct EncryptedModelTests {
  private static let digits = "\(SharedFiles.projectRoot)/Examples/Digits"
  private static let keyBytes = Data(1...32)
  private let folder = TemporaryFolder()

  private static func key(_ bytes: Data = keyBytes) throws(ModelError) -> ModelKey { try ModelKey(bytes) }

  private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

  /// Returns the path and the bytes of the encrypted example.
  private func encrypted(_ model: String = "Digits.mlpackage") throws -> (path: String, bytes: [UInt8]) {
    let copy = path("copy.kelvinmodel")
    let count = try ModelEncryption.encrypt("\(Self.digits)/\(model)", to: copy, key: try Self.key())
    let bytes = TemporaryFolder.read(copy)
    #expect(bytes.count == count)
    return (copy, bytes)
  }

  private func failure(_ bytes: [UInt8], key: Data = keyBytes) -> ModelError? {
    let file = URL(filePath: folder.write(bytes, "damaged.kelvinmodel"))
    do throws(ModelError) { _ = try ModelAsset(encrypted: file) { try Self.key(key) } } catch { return error }
    return nil
  }

  private static func probabilities(_ model: Model) throws -> [ClassLabel: Double] {
    let name = try #require(model.modelDescription.predictedProbabilitiesName)
    let image = URL(filePath: "\(digits)/images/9_0125.png")
    let input = ["image": try FeatureValue(imageAt: image, cropAndScale: .centerCrop)]
    return try #require(model.prediction(from: input)[name]?.dictionaryValue)
  }

  @Test(arguments: ["Digits.mlpackage", "Digits.onnx"]) func decryptedModelGivesEqualNumbers(model: String) async throws
  {
    let (copy, _) = try encrypted(model)
    #expect(EncryptedModels.recognizes(copy) && !EncryptedModels.recognizes("\(Self.digits)/\(model)"))
    let asset = try ModelAsset(encrypted: URL(filePath: copy)) { try Self.key() }
    let original = try await ModelAsset(url: URL(filePath: "\(Self.digits)/\(model)")).modelDescription
    #expect(try await asset.modelDescription.inputNames == original.inputNames)
    guard model.hasSuffix("mlpackage") else { return }
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let decrypted = try await Model.load(asset: asset, configuration: configuration)
    let plain = try Model(contentsOf: URL(filePath: "\(Self.digits)/\(model)"), configuration: configuration)
    #expect(try Self.probabilities(decrypted) == Self.probabilities(plain))
  }

  /// Weights of the example, as they would be in any file that is not encrypted.
  private static let patterns: [[UInt8]] = {
    let weights = TemporaryFolder.read("\(digits)/Digits.mlpackage/Data/com.apple.CoreML/weights/weight.bin")
    return stride(from: 4096, to: weights.count - 64, by: weights.count / 8).map { Array(weights[$0..<$0 + 16]) }
      .filter { Set($0).count > 8 }
  }()

  private static func contains(_ bytes: [UInt8], _ pattern: [UInt8]) -> Bool {
    bytes.indices.dropLast(pattern.count - 1).contains { start in
      bytes[start] == pattern[0] && bytes[start..<start + pattern.count].elementsEqual(pattern)
    }
  }

  @Test func nothingPlainIsOnTheDisk() async throws {
    #expect(Self.patterns.count > 3)
    let weights = TemporaryFolder.read("\(Self.digits)/Digits.mlpackage/Data/com.apple.CoreML/weights/weight.bin")
    for pattern in Self.patterns { #expect(Self.contains(weights, pattern)) }
    let (copy, bytes) = try encrypted()
    for pattern in Self.patterns { #expect(!Self.contains(bytes, pattern)) }
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.cacheDirectory = URL(filePath: path("cache"))
    configuration.usesCache = true
    let asset = try ModelAsset(encrypted: URL(filePath: copy)) { try Self.key() }
    _ = try Self.probabilities(try await Model.load(asset: asset, configuration: configuration))
    _ = try await ComputePlan.load(asset: asset, configuration: configuration)
    #expect(access(path("cache"), F_OK) != 0)
    #expect(TemporaryFolder.entries(folder.path) == ["copy.kelvinmodel"])
    // The same configuration fills the cache for a model that is not encrypted.
    _ = try Model(contentsOf: URL(filePath: "\(Self.digits)/Digits.mlpackage"), configuration: configuration)
    #expect(!TemporaryFolder.files(path("cache")).isEmpty)
  }

  @Test func copiesOfOneModelDiffer() throws {
    let (copy, first) = try encrypted()
    unlink(copy)
    let (_, second) = try encrypted()
    #expect(first.count == second.count)
    let equal = zip(first.dropFirst(56), second.dropFirst(56)).count { $0 == $1 }
    #expect(equal < first.count / 100)
  }

  @Test func wrongKeyAndDamageOfTheStartAreOneError() throws {
    let (_, bytes) = try encrypted()
    let wrong = failure(bytes, key: Data(2...33))
    #expect(
      wrong?.code == .parameters && wrong?.description.contains("key does not match, or the file is damaged") == true)
    // The salt, and the first chunk.
    for place in [24, 40, 55, 56, 70] {
      var damaged = bytes
      damaged[place] ^= 0x80
      #expect(failure(damaged)?.description == wrong?.description, "byte \(place)")
    }
    #expect(failure(bytes) == nil)
  }

  /// Every byte is authenticated: of the header, of each chunk and of each tag.
  @Test func eachChangedByteIsFound() throws {
    let (_, bytes) = try encrypted()
    let places =
      Array(0..<200) + stride(from: 200, to: bytes.count, by: bytes.count / 150) + (bytes.count - 40..<bytes.count)
    for place in Tier.sample(120, of: places) {
      var damaged = bytes
      damaged[place] ^= 1
      let error = failure(damaged)
      #expect(error != nil, "byte \(place)")
      #expect([.io, .parameters, .unsupported].contains(error?.code), "\(String(describing: error))")
    }
  }

  /// The offsets of the chunks with their tags, by the layout of the file. The first stream is the table.
  private static func chunks(_ bytes: [UInt8], sizes: [Int]) -> [Range<Int>] {
    func number(_ range: Range<Int>) -> Int { bytes[range].reversed().reduce(0) { $0 << 8 | Int($1) } }
    let (chunk, table) = (number(12..<16), number(16..<24))
    var (ranges, offset) = ([Range<Int>](), 56)
    for size in [table] + sizes {
      var left = size
      repeat {
        let count = min(left, chunk)
        ranges.append(offset..<offset + count + 16)
        offset += count + 16
        left -= count
      } while left > 0
    }
    #expect(offset == bytes.count)
    return ranges
  }

  @Test func exchangedAndMissingChunksAreFound() throws {
    let (_, bytes) = try encrypted()
    let source = "\(Self.digits)/Digits.mlpackage/Data/com.apple.CoreML"
    let sizes = ["model.mlmodel", "weights/weight.bin"].map { TemporaryFolder.read("\(source)/\($0)").count }
    let chunks = Self.chunks(bytes, sizes: sizes)
    #expect(chunks.count >= 4)
    for chunk in chunks {
      #expect(failure(Array(bytes[..<chunk.lowerBound])) != nil)
      #expect(failure(Array(bytes[..<chunk.upperBound])) != nil || chunk.upperBound == bytes.count)
      #expect(failure(Array(bytes[..<chunk.lowerBound] + bytes[chunk.upperBound...])) != nil)
    }
    let full = chunks.filter { $0.count == (1 << 16) + 16 }
    #expect(full.count >= 2)
    for (first, second) in zip(full, full.dropFirst()) {
      var swapped = bytes
      swapped.replaceSubrange(first, with: bytes[second])
      swapped.replaceSubrange(second, with: bytes[first])
      let error = failure(swapped)
      #expect(error?.code == .io && error?.description.contains("chunk") == true, "\(String(describing: error))")
    }
    #expect(failure(bytes + [0])?.description.contains("cut short or extended") == true)
  }

  @Test func chunksOfAnotherCopyAreFound() throws {
    let (copy, first) = try encrypted()
    unlink(copy)
    let (_, second) = try encrypted()
    let middle = first.count / 2
    #expect(failure(Array(first[..<middle] + second[middle...])) != nil)
    #expect(failure(Array(first[..<56] + second[56...])) != nil)
  }

  @Test func keysAreThirtyTwoBytesOrDigits() throws {
    let (copy, _) = try encrypted()
    let digits = Self.keyBytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    for text in [digits, "\(digits.uppercased())\n"] {
      _ = try ModelAsset(encrypted: URL(filePath: copy)) { try ModelKey(Data(text.utf8)) }
    }
    for bad in [Data(), Data(1...31), Data(1...33), Data("\(digits)0".utf8), Data("x\(digits.dropFirst())".utf8)] {
      let error = #expect(throws: ModelError.self) { try ModelKey(bad) }
      #expect(error?.code == .parameters && error?.description.contains("--generate-key") == true)
    }
    let written = path("new.key")
    let random = try ModelKey.random()
    try random.write(to: written)
    var status = stat()
    #expect(stat(written, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(TemporaryFolder.read(written).count == 65)
    #expect(throws: PackagingError.self) { try random.write(to: written) }
    let again = path("again.kelvinmodel")
    _ = try ModelEncryption.encrypt("\(Self.digits)/Digits.onnx", to: again, key: random)
    _ = try ModelAsset(encrypted: URL(filePath: again)) { try ModelKey(Data(TemporaryFolder.read(written))) }
  }

  private struct Unavailable: Error {}

  @Test func errorsOfTheKeyAreReported() throws {
    let (copy, _) = try encrypted()
    let error = #expect(throws: ModelError.self) {
      try ModelAsset(encrypted: URL(filePath: copy)) { throw Unavailable() }
    }
    #expect(error?.code == .parameters && error?.description.contains("Unavailable") == true)
    // The key is asked for only if the file is an encrypted model.
    let other = #expect(throws: ModelError.self) {
      try ModelAsset(encrypted: URL(filePath: "\(Self.digits)/Digits.onnx")) {
        Issue.record("the key was asked for")
        return try Self.key()
      }
    }
    #expect(other?.code == .io && other?.description.contains("kelvin encrypt") == true)
    let later = failure(Array("KELVENC1".utf8) + [9] + [UInt8](repeating: 1, count: 100))
    #expect(later?.code == .unsupported)
  }

  @Test func modelsThatMemoryCannotHoldAreRefused() throws {
    folder.write("mine", "copy.kelvinmodel")
    #expect(throws: ModelError.self) {
      try ModelEncryption.encrypt("\(Self.digits)/Digits.onnx", to: path("copy.kelvinmodel"), key: try Self.key())
    }
    #expect(TemporaryFolder.read(path("copy.kelvinmodel")) == Array("mine".utf8))
    let compiled = "\(SharedFiles.projectRoot)/Tests/Vectors/Compiled/accumulate.mlmodelc"
    let error = #expect(throws: ModelError.self) {
      try ModelEncryption.encrypt(compiled, to: path("other.kelvinmodel"), key: try Self.key())
    }
    #expect(error?.description.contains("cannot be encrypted") == true, "\(String(describing: error))")
    #expect(TemporaryFolder.entries(folder.path) == ["copy.kelvinmodel"])
  }

  @Test func encryptedModelsAreNotIsolated() async throws {
    let (copy, _) = try encrypted()
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.isolation = .worker
    let asset = try ModelAsset(encrypted: URL(filePath: copy)) { try Self.key() }
    let error = await #expect(throws: ModelError.self) {
      try await Model.load(asset: asset, configuration: configuration)
    }
    #expect(error?.code == .unsupported)
  }
}
