package import KelvinGraph

/// The samples of a WAV file as float32 `[1, samples]` (`AudioDecoder` of onnxruntime-extensions). Inputs: the bytes of
/// the file, and optionally the name of its format. Integers of 8, 16, 24 and 32 bits are divided by half of their
/// range. Other formats and other sampling rates are refused.
package struct WaveSamples: SlotOperation {
  package static let name = "wave_samples"
  /// The sampling rate in hertz that the file must have; nil for any.
  package let rate: Int?
  /// Whether pairs of samples of a file with several channels are averaged.
  package let mixesPairs: Bool
  package let slots: HostSlots
  /// The greatest number of samples of a result, of which the library keeps as many.
  private static let sampleLimit = 480_000

  package init(rate: Int?, mixesPairs: Bool, _ slots: HostSlots) {
    self.rate = rate
    self.mixesPairs = mixesPairs
    self.slots = slots
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let file = try tensor(0, inputs)
    guard file.type.scalar == .uint8, file.shape.rank == 1 || file.shape.rank == 2 && file.shape[0] == 1 else {
      throw refused(0, "expected the bytes [n] or [1, n] of a file, got \(file.type)")
    }
    let format = inputs.count > 1 ? try string(1, inputs) : ""
    let bytes = file.bytes.withUnsafeBytes { Array($0) }
    guard ["", "default", "wav"].contains(format), bytes.starts(with: "RIFF".utf8), bytes.count >= 12 else {
      throw refused(0, "the file is not a WAV file", remedy: "convert it to WAV")
    }
    guard let wave = WaveFile(bytes) else {
      throw refused(0, "the file is not of 8 to 32 bit integers or of floats", remedy: "convert it to 16 bits")
    }
    if let rate, rate != wave.rate {
      throw refused(0, "the file has \(wave.rate) samples per second, expected \(rate)", remedy: "resample it")
    }
    var samples = wave.samples
    if mixesPairs, wave.channelCount > 1 {
      samples = (0..<samples.count / 2).map { (samples[2 * $0] + samples[2 * $0 + 1]) / 2 }
    }
    samples = Array(samples.prefix(Self.sampleLimit))
    return [.tensor(Tensor(samples, [1, samples.count]))]
  }
}

/// A RIFF file of uncompressed sound.
///
/// Reference: Microsoft, "Multiple channel audio data and WAVE files" (2007).
private struct WaveFile {
  private(set) var rate = 0
  private(set) var channelCount = 0
  private(set) var samples: [Float] = []

  /// Reads a file; nil for another encoding.
  init?(_ bytes: [UInt8]) {
    func word(_ offset: Int, _ count: Int) -> Int { (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) } }
    var (place, bits, isFloat) = (12, 0, false)
    while place + 8 <= bytes.count {
      let (name, size) = (bytes[place..<place + 4], word(place + 4, 4))
      let start = place + 8
      if name == Array("fmt ".utf8)[...], size >= 16, start + size <= bytes.count {
        var code = word(start, 2)
        // The code of the extended form is behind its other fields.
        if code == 0xFFFE, size >= 26 { code = word(start + 24, 2) }
        guard code == 1 || code == 3 else { return nil }
        isFloat = code == 3
        (channelCount, rate, bits) = (word(start + 2, 2), word(start + 4, 4), word(start + 14, 2))
      } else if name == Array("data".utf8)[...] {
        guard (1...16).contains(channelCount), isFloat ? bits == 32 : [8, 16, 24, 32].contains(bits) else { return nil }
        let count = min(size, bytes.count - start) / (bits / 8 * channelCount) * channelCount
        samples = (0..<count).map { Self.sample(word(start + $0 * bits / 8, bits / 8), bits, isFloat) }
        return
      }
      place = start + size + size % 2
    }
    return nil
  }

  private static func sample(_ word: Int, _ bits: Int, _ isFloat: Bool) -> Float {
    if isFloat { return Float(bitPattern: UInt32(word)) }
    // Bytes have no sign.
    if bits == 8 { return Float(word) / 127.5 - 1 }
    return Float((word << (64 - bits)) >> (64 - bits)) / Float(1 << (bits - 1))
  }
}
