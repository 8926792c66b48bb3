package import KelvinGraph

/// A number for each string (`StringLength`, `StringToHashBucket` and `StringToHashBucketFast` of
/// onnxruntime-extensions).
package struct StringMeasure: SlotOperation {
  package static let name = "string_measure"

  package enum Measure: Hashable, Sendable {
    /// The number of Unicode scalars.
    case length
    /// A hash modulo the number of buckets, which is the second input.
    case bucket(StringHash)
  }

  package let measure: Measure
  package let slots: HostSlots

  package init(_ measure: Measure, _ slots: HostSlots) {
    self.measure = measure
    self.slots = slots
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    [inputs[0].shape.map { .tensor(TensorType(.int64, $0)) } ?? .unknown]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let strings = try strings(0, inputs)
    switch measure {
    case .length: return [.tensor(Tensor(strings.strings.map { Int64($0.unicodeScalars.count) }, strings.shape))]
    case .bucket(let hash):
      let count = try integer(1, inputs)
      guard count > 0 else { throw refused(1, "there are \(count) buckets", remedy: "give at least 1") }
      let buckets = strings.strings.map { Int64(hash.value(Array($0.utf8)) % UInt64(count)) }
      return [.tensor(Tensor(buckets, strings.shape))]
    }
  }
}

/// A 64-bit hash of bytes: a variant of MurmurHash2.
///
/// References: Austin Appleby, MurmurHash64A; TensorFlow's `Hash64`, and `std::hash` of the GNU C++ library.
package enum StringHash: Hashable, Sendable {
  case tensorFlow, gnu

  func value(_ bytes: [UInt8]) -> UInt64 {
    let factor: UInt64 = 0xc6a4_a793_5bd1_e995
    func mixed(_ word: UInt64) -> UInt64 { word ^ word >> 47 }
    let seed: UInt64 = self == .gnu ? 0xc70f_6907 : 0xDE_CAFC_AFFE
    var hash = seed ^ (UInt64(bytes.count) &* factor)
    let whole = bytes.count / 8 * 8
    for start in stride(from: 0, to: bytes.count, by: 8) {
      let block = bytes[start..<min(start + 8, bytes.count)]
      let word = block.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      hash = (hash ^ (block.count == 8 ? mixed(word &* factor) &* factor : word)) &* factor
    }
    // TensorFlow's hash also multiplies for an empty rest.
    if self == .tensorFlow, whole == bytes.count { hash = hash &* factor }
    return mixed(mixed(hash) &* factor)
  }
}
