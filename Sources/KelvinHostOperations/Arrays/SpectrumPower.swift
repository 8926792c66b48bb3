import Glibc
package import KelvinGraph

/// The power of the short-time Fourier transform (`StftNorm` of onnxruntime-extensions):
///
/// ```text
/// y[0, k, t] = |sum over n of w[n] x[t hop + n - l / 2] exp(-2 pi i k n / size)|^2
/// ```
///
/// `l` is the length of the window, and the signal is 0 outside. Inputs: a signal `[1, samples]`, the size of the
/// transform, the hop, the window, and the size of the transform again.
package struct SpectrumPower: SlotOperation {
  package static let name = "spectrum_power"
  /// Whether only the frequencies up to half the sampling rate are computed.
  package let isOneSided: Bool
  package let slots: HostSlots
  /// The greatest size of a transform.
  private static let limit = 1 << 13

  package init(isOneSided: Bool, _ slots: HostSlots) {
    self.isOneSided = isOneSided
    self.slots = slots
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (signal, window) = (try tensor(0, inputs), try tensor(3, inputs).floats)
    let (size, hop) = (try integer(1, inputs), try integer(2, inputs))
    guard signal.shape.rank > 1, signal.count == signal.shape[1] else {
      throw refused(0, "expected a signal [1, samples], got \(signal.type)")
    }
    guard (2...Self.limit).contains(size), try integer(4, inputs) == size else {
      throw refused(1, "the sizes of a transform are 2 to \(Self.limit) and equal, got \(size)")
    }
    guard hop > 0, (1...size).contains(window.count) else {
      throw refused(3, "expected a hop from 1 on and a window of 1 to \(size) numbers, got \(hop) and \(window.count)")
    }
    let rows = isOneSided ? size / 2 + 1 : size
    let columns = signal.count / hop + 1
    let shape = try checked([1, rows, columns], at: 0)
    let samples = signal.floats
    let turns = (0..<size).map { 2 * Double.pi * Double($0) / Double(size) }
    let (cosines, sines) = (turns.map { cos($0) }, turns.map { sin($0) })
    var powers = [Float](repeating: 0, count: shape.count)
    for column in 0..<columns {
      let start = column * hop - window.count / 2
      let frame = window.indices.map { index in
        samples.indices.contains(start + index) ? Double(window[index] * samples[start + index]) : 0
      }
      for row in 0..<rows {
        var (real, imaginary, place) = (0.0, 0.0, 0)
        for sample in frame {
          real += sample * cosines[place]
          imaginary += sample * sines[place]
          place = (place + row) % size
        }
        powers[row * columns + column] = Float(real * real + imaginary * imaginary)
      }
    }
    return [.tensor(Tensor(powers, shape))]
  }
}
