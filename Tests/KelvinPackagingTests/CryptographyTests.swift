import CKelvinCrypto
import Testing

/// Published test vectors of the functions of CKelvinCrypto.
@Suite struct CryptographyTests {
  /// RFC 8032, section 7.1, tests 1 to 3: private key, public key, message, signature.
  private static let signatures: [[String]] = [
    [
      "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ],
    [
      "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ],
    [
      "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ],
  ]

  @Test(arguments: signatures) func signaturesMatchTheStandard(vector: [String]) {
    let (privateKey, publicKey, message) = (bytes(vector[0]), bytes(vector[1]), bytes(vector[2]))
    var (key, signature) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 64))
    #expect(kelvin_ed25519_public(privateKey, &key) && key == publicKey)
    #expect(kelvin_ed25519_sign(privateKey, message, message.count, &signature) && signature == bytes(vector[3]))
    #expect(kelvin_ed25519_verify(publicKey, message, message.count, signature))
    for place in stride(from: 0, to: 64, by: 7) {
      var wrong = signature
      wrong[place] ^= 1
      #expect(!kelvin_ed25519_verify(publicKey, message, message.count, wrong), "byte \(place)")
    }
    let longer = message + [0]
    #expect(!kelvin_ed25519_verify(publicKey, longer, longer.count, signature))
  }

  /// "The Galois/Counter Mode of Operation", test cases 13, 14 and 16: key, nonce, bound bytes, plain, sealed, tag.
  private static let encryptions: [[String]] = [
    [
      String(repeating: "00", count: 32), String(repeating: "00", count: 12), "", "", "",
      "530f8afbc74536b9a963b4f1c4cb738b",
    ],
    [
      String(repeating: "00", count: 32), String(repeating: "00", count: 12), "", String(repeating: "00", count: 16),
      "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919",
    ],
    [
      "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
      "feedfacedeadbeeffeedfacedeadbeefabaddad2",
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
      "76fc6ece0f4e1768cddf8853bb2d551b",
    ],
  ]

  @Test(arguments: encryptions) func encryptionMatchesTheStandard(vector: [String]) {
    let parts = vector.map(bytes)
    let (key, nonce, bound, plain) = (parts[0], parts[1], parts[2], parts[3])
    var (sealed, tag) = ([UInt8](repeating: 7, count: plain.count), [UInt8](repeating: 7, count: 16))
    #expect(kelvin_gcm_seal(key, nonce, bound, bound.count, plain, plain.count, &sealed, &tag))
    #expect(sealed == parts[4] && tag == parts[5])
    var opened = [UInt8](repeating: 7, count: plain.count)
    #expect(kelvin_gcm_open(key, nonce, bound, bound.count, sealed, sealed.count, &opened, tag) && opened == plain)
    tag[3] ^= 1
    opened = [UInt8](repeating: 7, count: plain.count)
    #expect(!kelvin_gcm_open(key, nonce, bound, bound.count, sealed, sealed.count, &opened, tag))
    #expect(opened.allSatisfy { $0 == 0 })
  }

  /// RFC 5869, test cases 1 and 3: key, salt, purpose, and the first 32 bytes of the result.
  @Test(arguments: [
    [
      String(repeating: "0b", count: 22), "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
      "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf",
    ],
    [
      String(repeating: "0b", count: 22), "", "",
      "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d",
    ],
  ]) func derivedKeysMatchTheStandard(vector: [String]) {
    let (key, salt, purpose) = (bytes(vector[0]), bytes(vector[1]), bytes(vector[2]))
    var derived = [UInt8](repeating: 0, count: 32)
    #expect(kelvin_hkdf(key, key.count, salt, salt.count, purpose, purpose.count, &derived))
    #expect(derived == bytes(vector[3]))
  }

  @Test func wipedBytesAreZero() {
    var secret = [UInt8](repeating: 9, count: 100)
    kelvin_wipe(&secret, 99)
    #expect(secret == [UInt8](repeating: 0, count: 99) + [9])
  }
}
