import FoundationEssentials
import Glibc
import KelvinBasics
import KelvinPackaging
import TestSupport
import Testing

/// Manifests and their signatures.
@Suite struct ManifestTests {
  private static let digest = String(repeating: "0123456789abcdef", count: 4)

  /// Returns a manifest with one model, whose members other members replace.
  private static func document(_ members: [String: String] = [:], top: String = "") -> [UInt8] {
    var model = [
      "name": #""digits""#, "version": #""1.2.0""#, "file": #""digits-1.2.0.tar.zst""#, "sha256": "\"\(digest)\"",
      "bytes": "1000", "tags": #"["small"]"#, "date": #""2026-03-14T15:09:00Z""#,
    ]
    model.merge(members) { _, new in new }
    let text = model.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ")
    return Array(#"{"format": "kelvin-models", "version": 1, "models": [{\#(text)}]\#(top)}"#.utf8)
  }

  /// Returns a manifest with versions of one model.
  private static func versions(_ versions: [String], kelvin: [String: String] = [:]) -> [UInt8] {
    let models = versions.map { version in
      let least = kelvin[version].map { #", "kelvin": "\#($0)""# } ?? ""
      return
        #"{"name": "m", "version": "\#(version)", "file": "f-\#(version)", "sha256": "\#(digest)", "bytes": 1\#(least)}"#
    }
    return Array(#"{"format": "kelvin-models", "version": 1, "models": [\#(models.joined(separator: ","))]}"#.utf8)
  }

  @Test func membersAreRead() throws {
    let manifest = try Manifest.read(Self.document(["kelvin": #""0.1.0""#, "later": "{}"]))
    let model = try #require(manifest.models.first)
    #expect(manifest.models.count == 1 && model.name == "digits" && model.version.description == "1.2.0")
    #expect(model.file == "digits-1.2.0.tar.zst" && model.sha256 == Self.digest && model.bytes == 1000)
    #expect(model.tags == ["small"] && model.date == "2026-03-14T15:09:00Z" && model.kelvin?.description == "0.1.0")
    #expect(try manifest.model("digits") == model && manifest.model("digits", version: "1.2.0") == model)
  }

  /// Members that are refused, and a part of the message.
  private static let refused: [(member: String, value: String, part: String)] = [
    ("name", #""../x""#, "name"), ("name", #""a/b""#, "name"), ("name", #""""#, "name"), ("name", #"".x""#, "name"),
    ("name", #""a..b""#, "name"), ("name", #""é""#, "name"), ("name", #""a\u0000""#, "name"), ("name", "1", "name"),
    ("name", #""a ""#, "name"), ("name", "\"\(String(repeating: "a", count: 65))\"", "name"),
    ("version", #""1.2""#, "version"), ("version", #""01.2.0""#, "version"), ("version", #""1.2.0+x""#, "version"),
    ("version", #""1.2.-1""#, "version"), ("version", #""1.2.0-""#, "version"), ("version", #""1.2.0-01""#, "version"),
    ("version", #""1.2.0/../x""#, "version"), ("version", #""9999999999.0.0""#, "version"),
    ("file", #""../x""#, "file"), ("file", #""/x""#, "file"), ("file", #""a/../../x""#, "file"),
    ("file", #""a//b""#, "file"),
    ("file", #""""#, "file"), ("file", #""http://x/y""#, "file"), ("file", #""a\\b""#, "file"),
    ("file", #""a?b""#, "file"),
    ("file", #""a%2e%2e/b""#, "file"), ("file", #""a/.hidden""#, "file"), ("file", #""a/""#, "file"),
    ("sha256", #""12""#, "sha256"), ("sha256", "\"\(digest.uppercased())\"", "sha256"),
    ("bytes", "0", "bytes"), ("bytes", "-1", "bytes"), ("bytes", "1e30", "JSON"), ("bytes", "1.5", "JSON"),
    ("bytes", #""1""#, "bytes"), ("tags", #"["a b"]"#, "tag"), ("tags", "1", "tags"), ("date", #""today""#, "date"),
    ("kelvin", #""new""#, "Kelvin version"),
  ]

  @Test(arguments: refused.indices) func invalidMembersAreRefused(index: Int) {
    let refusal = Self.refused[index]
    let error = #expect(throws: PackagingError.self) {
      try Manifest.read(Self.document([refusal.member: refusal.value]))
    }
    #expect(error?.code == .malformed, "\(String(describing: error))")
    #expect(error?.description.contains(refusal.part) == true, "\(String(describing: error))")
  }

  @Test func otherDocumentsAreRefused() {
    for (text, code) in [
      ("", PackagingError.Code.malformed), ("[]", .malformed), ("{}", .malformed), ("{\"format\": 1}", .malformed),
      (#"{"format": "kelvin-forms", "version": 1, "models": []}"#, .malformed),
      (#"{"format": "kelvin-models", "version": 2, "models": []}"#, .unsupported),
      (#"{"format": "kelvin-models", "version": 1}"#, .malformed),
      (#"{"format": "kelvin-models", "version": 1, "models": [], "expires": "soon"}"#, .malformed),
      (String(repeating: "[", count: 100_000), .malformed), ("<html>", .malformed),
    ] {
      let error = #expect(throws: PackagingError.self) { try Manifest.read(Array(text.utf8)) }
      #expect(error?.code == code, "\(text.prefix(80)): \(String(describing: error))")
    }
    let large = [UInt8](repeating: 0x20, count: Manifest.largest + 1)
    #expect(throws: PackagingError.self) { try Manifest.read(large) }
  }

  @Test func equalVersionsAreRefused() {
    let error = #expect(throws: PackagingError.self) { try Manifest.read(Self.versions(["1.0.0", "1.0.0"])) }
    #expect(error?.code == .malformed && error?.description.contains("twice") == true)
  }

  /// Semantic Versioning 2.0.0, section 11.
  @Test func versionsHaveTheOrderOfTheStandard() throws {
    let ordered = [
      "0.9.10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
      "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0",
    ]
    let shuffled = Array(ordered.reversed())
    #expect(try Manifest.read(Self.versions(shuffled)).models.map(\.version.description) == ordered)
  }

  @Test func newestUsableReleaseIsChosen() throws {
    let manifest = try Manifest.read(
      Self.versions(["1.0.0", "1.1.0", "2.0.0", "3.0.0-beta"], kelvin: ["2.0.0": "1000.0.0"]))
    #expect(try manifest.model("m").version.description == "1.1.0")
    #expect(try manifest.model("m", version: "3.0.0-beta").version.isPrerelease)
    for (version, code, part) in [
      ("2.0.0", PackagingError.Code.unsupported, "needs Kelvin 1000.0.0"), ("4.0.0", .absent, "1.1.0"),
      ("x", .absent, "1.1.0"),
    ] {
      let error = #expect(throws: PackagingError.self) { try manifest.model("m", version: version) }
      #expect(error?.code == code && error?.description.contains(part) == true, "\(String(describing: error))")
    }
    #expect(try Manifest.read(Self.versions(["1.0.0-a", "1.0.0-b"])).model("m").version.description == "1.0.0-b")
    let error = #expect(throws: PackagingError.self) { try manifest.model("n") }
    #expect(error?.code == .absent)
    let none = try Manifest.read(Self.versions(["1.0.0"], kelvin: ["1.0.0": "1000.0.0"]))
    #expect(throws: PackagingError.self) { try none.model("m") }
  }

  @Test func expiredManifestShowsBothTimes() throws {
    let document = Self.document(top: #", "expires": "2026-03-14T15:09:00Z""#)
    let before = try Date("2026-03-14T15:08:59Z", strategy: .iso8601)
    let after = try Date("2031-01-02T03:04:05Z", strategy: .iso8601)
    #expect(try Manifest.read(document, at: before).models.count == 1)
    #expect(try Manifest.read(document, at: nil).models.count == 1)
    let error = #expect(throws: PackagingError.self) { try Manifest.read(document, at: after) }
    #expect(error?.code == .expired)
    for part in ["2026-03-14T15:09:00Z", "2031-01-02T03:04:05Z", "clock"] {
      #expect(error?.description.contains(part) == true, "\(String(describing: error))")
    }
  }

  private static let privateKey = [UInt8](1...32)

  @Test func signaturesOfOtherKeysAndBytesAreRefused() throws {
    let (document, key) = (Self.document(), try SigningKeys.publicKey(of: Self.privateKey))
    let signature = try SigningKeys.sign(document, with: Self.privateKey)
    try Manifest.verify(document, signature: signature, key: key)
    // The signatures of a newer manifest come first, and those of this one follow.
    let newer = try SigningKeys.sign([1, 2, 3], with: Self.privateKey)
    try Manifest.verify(document, signature: newer + signature, key: key)
    let other = try SigningKeys.publicKey(of: [UInt8](2...33))
    for (bytes, signature, key) in [
      (document, signature, other), (document + [0x20], signature, key), (document, newer, key), (document, [], key),
      (document, Array(signature.dropLast()), key), (document, signature + [0], key),
      (document, Array(repeating: signature, count: 9).flatMap { $0 }, key),
    ] {
      let error = #expect(throws: PackagingError.self) {
        try Manifest.verify(bytes, signature: signature, key: key)
      }
      #expect(error?.code == .signature, "\(String(describing: error))")
    }
    let error = #expect(throws: PackagingError.self) { try Manifest.verify(document, signature: signature, key: [1]) }
    #expect(error?.code == .key)
  }

  @Test(.enabled(if: Shell.hasOpenSSL, "needs openssl")) func keysAndSignaturesOfOpenSSLAreTheSame() throws {
    let folder = TemporaryFolder()
    let made = Shell.run(
      "cd '\(folder.path)' && openssl genpkey -algorithm ed25519 -out private.pem && "
        + "openssl pkey -in private.pem -pubout -out public.pem && openssl pkey -in private.pem -pubout -outform DER "
        + "| tail -c 32 > public.raw && printf hello > message && "
        + "openssl pkeyutl -sign -inkey private.pem -rawin -in message -out theirs")
    #expect(made.status == 0, "\(made.output)")
    func file(_ name: String) -> [UInt8] { TemporaryFolder.read("\(folder.path)/\(name)") }
    let (privateKey, publicKey) = (
      try SigningKeys.privateKey(file("private.pem")), try SigningKeys.publicKey(file("public.pem"))
    )
    #expect(publicKey == file("public.raw"))
    #expect(try SigningKeys.publicKey(of: privateKey) == publicKey)
    let signature = try SigningKeys.sign(Array("hello".utf8), with: privateKey)
    #expect(signature == file("theirs"))
    folder.write(signature, "ours")
    let checked = Shell.run(
      "cd '\(folder.path)' && openssl pkeyutl -verify -pubin -inkey public.pem -rawin -in message -sigfile ours")
    #expect(checked.status == 0, "\(checked.output)")
  }

  @Test func keysAreReadInEachForm() throws {
    let key = [UInt8](100..<132)
    let digits = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let base64 = Data(key).base64EncodedString()
    let document = Data([0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00] + key)
      .base64EncodedString()
    for text in [
      digits, " \(digits.uppercased())\n", base64, "\(base64)\n", document,
      "-----BEGIN PUBLIC KEY-----\n\(document)\n-----END PUBLIC KEY-----\n",
    ] {
      #expect(try SigningKeys.publicKey(Array(text.utf8)) == key, "\(text)")
    }
    #expect(try SigningKeys.publicKey(key) == key)
    for text in [
      "", "x", String(digits.dropLast(2)), digits + "00", "-----BEGIN PUBLIC KEY-----\n",
      "-----BEGIN PRIVATE KEY-----\n\(document)\n-----END PRIVATE KEY-----\n",
      "-----END PUBLIC KEY-----\n\(document)\n-----BEGIN PUBLIC KEY-----\n",
    ] {
      let error = #expect(throws: PackagingError.self) { try SigningKeys.publicKey(Array(text.utf8)) }
      #expect(error?.code == .key && error?.description.contains("openssl") == true)
    }
  }
}
