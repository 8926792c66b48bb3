import KelvinDevices
import KelvinMeasurements
import KelvinRuntime

/// Measures copies between two devices' buffers, made as a session makes them.
struct TransferProbe {
  static let sizes = [4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20]

  struct Outcome {
    var fit: TransferFit
    /// Whether the value is in memory that both devices address, so that nothing is copied.
    var isShared: Bool
    var samples: Int
    var isNoisy: Bool
  }

  let clock: any MeasurementClock
  /// Seconds for all sizes together.
  let budget: Double

  /// - Parameters:
  ///   - from: the source device; may be the host.
  ///   - to: the target device; may be the host.
  func measure(from: any Device, to: any Device) throws(DeviceError) -> Outcome {
    // Sessions also make all copies on one thread.
    try DriverThread.perform { [self] () throws(DeviceError) in try copies(from, to) }
  }

  private func copies(_ from: any Device, _ to: any Device) throws(DeviceError) -> Outcome {
    let free = TransferFit([])
    let probe = (
      from: try from.makeBuffer(byteCount: bufferAlignment), to: try to.makeBuffer(byteCount: bufferAlignment)
    )
    let touchesHost = from.info.isHost || to.info.isHost
    if touchesHost, probe.from.hostPointer != nil, probe.to.hostPointer != nil {
      return Outcome(fit: free, isShared: true, samples: 0, isNoisy: false)
    }
    var points: [TransferFit.Point] = []
    var samples = 0
    var isNoisy = false
    for size in Self.sizes {
      // A device whose memory is too small for the largest sizes is measured with the others.
      guard let source = try? from.makeBuffer(byteCount: size), let target = try? to.makeBuffer(byteCount: size),
        let staging = try? HostBuffer(byteCount: size)
      else { break }
      let deadline = clock.now() + budget / Double(Self.sizes.count)
      var seconds: [Double] = []
      try Self.copy(source, target, staging, size)
      while seconds.count < 5 || (seconds.count < 200 && clock.now() < deadline) {
        seconds.append(try clock.time { () throws(DeviceError) in try Self.copy(source, target, staging, size) })
      }
      guard let statistics = try? LatencyStatistics(seconds) else { continue }
      points.append(.init(bytes: size, seconds: statistics.median))
      samples += seconds.count
      if statistics.relativeUncertainty > 0.1 { isNoisy = true }
    }
    let fit = TransferFit(points)
    return Outcome(fit: fit, isShared: false, samples: samples, isNoisy: isNoisy || fit.largestError > 0.5)
  }

  private static func copy(
    _ source: any Buffer, _ target: any Buffer, _ staging: HostBuffer, _ byteCount: Int
  ) throws(DeviceError) {
    if let memory = source.hostPointer {
      try target.write(UnsafeRawBufferPointer(start: memory, count: byteCount), at: 0)
    } else if let memory = target.hostPointer {
      try source.read(into: UnsafeMutableRawBufferPointer(start: memory, count: byteCount), at: 0)
    } else {
      let memory = UnsafeMutableRawBufferPointer(start: staging.hostPointer, count: byteCount)
      try source.read(into: memory, at: 0)
      try target.write(UnsafeRawBufferPointer(memory), at: 0)
    }
  }
}
