package import KelvinGraph

/// The options of a `FrameStream`.
public struct FrameStreamOptions: Hashable, Sendable {
  /// The number of frames that may wait. When one more arrives, the oldest waiting frame is dropped. At least 1.
  public var queue: Int
  /// The time after a frame's arrival until which its result is useful; nil for no limit. A frame whose result would
  /// be late is skipped if a newer frame could be in time. If the model is always too slow, frames run nevertheless
  /// and every answer is marked late. A governor changes to a faster plan, or to fewer frames, when more than a tenth
  /// of the answers are late.
  public var deadline: Duration?
  /// The number of unread answers and actions to keep for each reader; older ones are dropped. At least 1.
  public var buffer: Int
  /// Whether a governor may react when the machine gets hot: with a cheaper plan, fewer threads, a lower precision if
  /// `precision` is automatic, or by skipping frames.
  public var isGoverned: Bool
  /// The expected frame rate, if known. The governor then avoids settings that cannot keep up with it.
  public var framesPerSecond: Double?
  /// The class of this machine for the thermal model: one of `ThermalMonitor.envelopes` or the path of an envelope
  /// file. Nil to assume a class.
  public var thermalEnvelope: String?
  /// The simulated heat of another machine in place of this machine's, for a governor; nil for this machine's.
  public var simulatedHeat: Benchmark.SimulatedHeat?
  /// The most power of the whole machine in watts, to which a governor keeps; nil for no limit. The machine needs
  /// counters of its power, or `simulatedHeat`.
  public var maximumWatts: Double?
  /// Whether answers hold the images that they are about. An image is kept until its last answer is released.
  public var keepsImages: Bool
  /// The most frames to predict at the same time, at least 1: each with its share of the CPU's threads, or in batches of
  /// half as many, for a model that takes batches and whose plan predicts a gain. Above 1, the stream measures with its
  /// first frames whether it answers more per second so, and reports the outcome as an action.
  /// Answers keep the order of their frames, but each takes longer. Nil for one, or, if the model alternates between
  /// plans, for up to two for each; `VideoAnalysis` then tries up to the number of the CPU's threads for files. Not for
  /// a governor.
  public var mostFramesAtOnce: Int?
  /// The size of the upright frames, if known. A model with a flexible image input is then timed at the size that it
  /// gets.
  package var frameSize: ImageFeature.Size?

  /// - Parameters: as the properties.
  public init(
    queue: Int = 1, deadline: Duration? = nil, buffer: Int = 16, isGoverned: Bool = false,
    framesPerSecond: Double? = nil, thermalEnvelope: String? = nil, simulatedHeat: Benchmark.SimulatedHeat? = nil,
    maximumWatts: Double? = nil, keepsImages: Bool = false, mostFramesAtOnce: Int? = nil
  ) {
    self.queue = queue
    self.deadline = deadline
    self.buffer = buffer
    self.isGoverned = isGoverned
    self.framesPerSecond = framesPerSecond
    self.thermalEnvelope = thermalEnvelope
    self.simulatedHeat = simulatedHeat
    self.maximumWatts = maximumWatts
    self.keepsImages = keepsImages
    self.mostFramesAtOnce = mostFramesAtOnce
  }
}
