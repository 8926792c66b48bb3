import KelvinDevices
import KelvinGraph
import Testing

/// SHA-256 against the examples of its standard, FIPS 180-4.
@Suite struct DigestTests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
  ])
  func digestsMatchTheStandard(text: String, digest: String) {
    #expect(Digest(text).description == digest)
    #expect(Digest(Bytes(Array(text.utf8))) == Digest(text))
  }

  @Test func digestOfPartsEqualsDigestOfWhole() {
    let text = Array("what is hashed in parts".utf8)
    for place in text.indices {
      let digest = text.withUnsafeBytes { whole in
        Digest(of: [whole[..<place], whole[place...]].map { UnsafeRawBufferPointer(rebasing: $0) })
      }
      #expect(digest == Digest(text), "cut at \(place)")
    }
  }

  @Test func blobWithAnyFlippedBitIsRejected() {
    let origin = Digest("origin")
    let blob = CheckedBlob.encoded([1, 2, 3], origin: origin)
    #expect(CheckedBlob.payload(of: Bytes(blob), origin: origin) == [1, 2, 3])
    #expect(CheckedBlob.payload(of: Bytes(blob), origin: Digest("other")) == nil)
    for bit in 0..<blob.count * 8 {
      var damaged = blob
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(CheckedBlob.payload(of: Bytes(damaged), origin: origin) == nil, "bit \(bit)")
    }
  }
}
