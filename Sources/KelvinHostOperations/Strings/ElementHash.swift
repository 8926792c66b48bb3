package import KelvinGraph

/// A 32-bit hash of each string, or of the bits of each number (`com.microsoft.MurmurHash3`).
///
/// Reference: Austin Appleby, MurmurHash3, the 32-bit variant.
package struct ElementHash: OneInputOperation {
  package static let name = "element_hash"
  package let seed: UInt32
  /// The type of the results: `uint32`, or `int32` for the same bits.
  package let scalar: ScalarType
  package let input: String
  package let output: String

  /// Creates the operation.
  ///
  /// - Precondition: `scalar` has 32 bits.
  package init(seed: UInt32, _ scalar: ScalarType, input: String, output: String) {
    precondition(scalar.byteCount == 4)
    self.seed = seed
    self.scalar = scalar
    self.input = input
    self.output = output
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    [inputs[0].shape.map { .tensor(TensorType(scalar, $0)) } ?? .unknown]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    if case .strings(let strings) = inputs[0] {
      return [result(strings.strings.map { hash(Array($0.utf8)) }, strings.shape)]
    }
    let tensor = try tensor(0, inputs)
    let width = tensor.type.scalar.byteCount
    guard [4, 8].contains(width) else { throw refused(0, "a hash is of elements of 32 or 64 bits, got \(tensor.type)") }
    let hashes = tensor.bytes.withUnsafeBytes { bytes in
      (0..<tensor.count).map { hash(Array(bytes[$0 * width..<($0 + 1) * width])) }
    }
    return [result(hashes, tensor.shape)]
  }

  private func result(_ hashes: [UInt32], _ shape: Shape) -> HostValue {
    .tensor(Tensor(TensorType(scalar, shape), Bytes(hashes)))
  }

  private func hash(_ bytes: [UInt8]) -> UInt32 {
    func turned(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
    func mixed(_ word: UInt32) -> UInt32 { turned(word &* 0xcc9e_2d51, 15) &* 0x1b87_3593 }
    var hash = seed
    for start in stride(from: 0, to: bytes.count, by: 4) {
      let block = bytes[start..<min(start + 4, bytes.count)]
      let word = block.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      hash ^= mixed(word)
      if block.count == 4 { hash = turned(hash, 13) &* 5 &+ 0xe654_6b64 }
    }
    hash ^= UInt32(truncatingIfNeeded: bytes.count)
    hash = (hash ^ hash >> 16) &* 0x85eb_ca6b
    hash = (hash ^ hash >> 13) &* 0xc2b2_ae35
    return hash ^ hash >> 16
  }
}
