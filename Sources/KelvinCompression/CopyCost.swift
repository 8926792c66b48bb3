import KelvinBasics

/// The time and the memory of a copy of a model on the devices of a machine.
public struct CopyCost: Hashable, Sendable, Codable {
  /// A device.
  public struct Device: Hashable, Sendable, Codable {
    /// The identifier of the device: `cpu`.
    public var device: String
    /// The median time of a prediction in seconds.
    public var seconds: Double
    /// The most resident bytes of a process that loads the copy without a cache and predicts; nil if the system does not
    /// report them.
    public var peakMemory: Int?

    /// Creates the cost on a device.
    ///
    /// - Parameters:
    ///   - device: The identifier of the device.
    ///   - seconds: The median time of a prediction in seconds.
    ///   - peakMemory: The most resident bytes of the process; nil if they are not known.
    public init(device: String, seconds: Double, peakMemory: Int?) {
      (self.device, self.seconds, self.peakMemory) = (device, seconds, peakMemory)
    }
  }

  /// `original`, `copy`, or the form of all weights.
  public var name: String
  /// The number of bytes of the model's files.
  public var byteCount: Int
  /// The devices that were measured.
  public var devices: [Device]

  /// Creates a cost.
  ///
  /// - Parameters:
  ///   - name: `original`, `copy`, or the form of all weights.
  ///   - byteCount: The number of bytes of the model's files.
  ///   - devices: The devices that were measured.
  public init(name: String, byteCount: Int, devices: [Device] = []) {
    (self.name, self.byteCount, self.devices) = (name, byteCount, devices)
  }

  /// Medians of two processes differ by less than this share if nothing else changes.
  private static let noise = 1.1

  /// Returns a sentence for each smaller copy that takes longer than the first on a device.
  static func slower(_ costs: [CopyCost]) -> [String] {
    guard let first = costs.first else { return [] }
    return costs.dropFirst().filter { $0.byteCount < first.byteCount }.flatMap { cost in
      cost.devices.compactMap { device in
        guard let before = first.devices.first(where: { $0.device == device.device }),
          device.seconds > noise * before.seconds
        else { return nil }
        let times = [device.seconds, before.seconds].map(HumanReadable.seconds)
        return "\(cost.name) is smaller than the \(first.name), but slower on \(device.device): \(times[0]) "
          + "against \(times[1])."
      }
    }
  }
}
