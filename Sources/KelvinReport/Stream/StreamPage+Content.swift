extension StreamPage {
  /// The content of the page, without layout.
  package struct Content: Sendable {
    package var title: String
    /// A summary in one sentence.
    package var summary: String
    /// Facts about all streams: the model, the units, the machine, the governor's limits.
    package var facts: [ReportFact]
    package var streams: [Stream]
    /// One-shot latency beside sustained throughput.
    package var comparison: ReportTable?
    package var notes: [String] = []
    package var kelvinVersion: String
    /// The date and time, formatted.
    package var generated: String

    package init(
      title: String, summary: String, facts: [ReportFact] = [], streams: [Stream], comparison: ReportTable? = nil,
      kelvinVersion: String, generated: String
    ) {
      (self.title, self.summary, self.facts, self.streams) = (title, summary, facts, streams)
      (self.comparison, self.kelvinVersion, self.generated) = (comparison, kelvinVersion, generated)
    }
  }

  /// One source of frames. All times are in seconds from the start of the run.
  package struct Stream: Sendable {
    /// The name of the source.
    package var name: String
    /// Facts about the stream: frames, rate, latency, age of answers.
    package var facts: [ReportFact] = []
    /// Events of the source: a changed size, a damaged packet.
    package var remarks: [String] = []
    /// The latency of each answer, by the time of the answer.
    package var latencies: [ReportSeries.Point] = []
    /// The seconds within which an answer is wanted.
    package var deadline: Double?
    /// The frames of consecutive intervals.
    package var rates: [FrameRate] = []
    package var heat: [ReportSeries.Heat] = []
    /// The sensor or the model of `heat`.
    package var heatSource = ""
    /// Whether `heat` is simulated.
    package var isSimulated = false
    package var steps: [Step] = []
    package var tracks: [TrackSummary] = []
    /// The number of tracks, or of frames without tracks, of each class.
    package var counts: [(label: String, count: Int)] = []

    package init(name: String) { self.name = name }
  }

  /// The frames of an interval.
  package struct FrameRate: Sendable, Hashable {
    /// The start of the interval.
    package var at: Double
    /// The length of the interval.
    package var seconds: Double
    package var answered: Int
    /// Frames that were replaced by newer ones before the model was free.
    package var dropped: Int
    /// Frames that the governor left out.
    package var skipped: Int

    package init(at: Double, seconds: Double = 1, answered: Int, dropped: Int = 0, skipped: Int = 0) {
      (self.at, self.seconds) = (at, seconds)
      (self.answered, self.dropped, self.skipped) = (answered, dropped, skipped)
    }
  }

  /// A change of the setting, such as by a governor.
  package struct Step: Sendable {
    package var at: Double
    /// The change: `1 thread`.
    package var change: String
    /// The cause in words.
    package var cause: String
    /// The measured effect in words; empty if it was not measured.
    package var effect: String

    package init(at: Double, change: String, cause: String, effect: String = "") {
      (self.at, self.change, self.cause, self.effect) = (at, change, cause, effect)
    }
  }

  /// An object that was followed.
  package struct TrackSummary: Sendable {
    package var id: Int
    /// The name of the class; empty if it is not known.
    package var label: String
    package var firstTime: Double
    package var lastTime: Double
    package var frameCount: Int
    /// A base64-encoded JPEG; nil where there is none.
    package var thumbnail: String?
    /// The size of the thumbnail in pixels.
    package var width: Int
    package var height: Int

    package init(
      id: Int, label: String, firstTime: Double, lastTime: Double, frameCount: Int, thumbnail: String? = nil,
      width: Int = 0, height: Int = 0
    ) {
      (self.id, self.label, self.firstTime, self.lastTime) = (id, label, firstTime, lastTime)
      (self.frameCount, self.thumbnail, self.width, self.height) = (frameCount, thumbnail, width, height)
    }
  }
}
