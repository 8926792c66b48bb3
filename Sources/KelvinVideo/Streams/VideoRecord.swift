import Glibc
import Kelvin
import KelvinBasics
import KelvinMeasuring
import KelvinReport
import KelvinThermal
package import KelvinVision

/// The course of an analysis. Its size does not grow with the number of frames.
public struct VideoRecord: Sendable {
  /// The times of the answers of some seconds.
  struct Interval: Sendable, Hashable {
    /// Seconds since the analysis began.
    var start: Double
    var answered = 0
    /// Frames that arrived and were not answered.
    var missed = 0
    /// The part of the missed frames that the governor left out.
    var skipped = 0
    var late = 0
    var latencies = LatencyHistogram.Summary()
  }

  /// A change of the governor.
  struct Step: Sendable, Hashable {
    var action: FrameStreamAction
    var effect: FrameStreamEffect?

    /// Seconds since the stream began.
    var at: Double { action.time.inSeconds }
  }

  /// A source so far.
  struct Source: Sendable {
    var name: String
    var isLive: Bool
    var answered = 0
    var late = 0
    var errors = 0
    var firstError: VisionError?
    var lastFrame = -1
    var latency = LatencyHistogram()
    /// Every `pointStride`-th answer.
    var points: [ReportSeries.Point] = []
    var pointStride = 1
    /// Seconds since the analysis began at the first and the latest answer.
    var first: Double?
    var last = 0.0
    var intervals: [Interval] = []
    var intervalSeconds = 1.0
    var seen = SeenLabels()
    var tracks: [Int: VideoTrack] = [:]
    /// Tracks that were left out, because there were too many.
    var otherTracks = 0
    var outcome: VideoAnalysis.Outcome?
  }

  /// The largest number of intervals, readings and steps that are kept; the oldest steps and every second reading are
  /// dropped, and intervals are joined.
  private static let most = 600
  private static let mostTracks = 1000
  private static let mostPoints = 4000

  var sources: [Source]
  /// Readings of heat; times are seconds since the analysis began.
  var heat: [ReportSeries.Heat] = []
  /// The sensor or the model of `heat`.
  private(set) var heatSource = ""
  /// The highest headroom so far; nil without a reading.
  private(set) var peakHeadroom: Double?
  /// The latest temperature; nil unless a sensor measures it.
  private(set) var celsius: Double?
  var steps: [Step] = []
  var otherSteps = 0
  private var heatSeconds = 1.0
  private let keepsTrackImages: Bool
  let tracks: Bool
  let kind: VideoRequest.Kind
  let simulatedHeat: Benchmark.SimulatedHeat?
  /// The minimum confidence of objects or poses; nil where the model sets it.
  let minimumConfidence: Float?

  /// The number of frames with an error in all sources, and the first error; nil without one.
  package var failures: (count: Int, first: VisionError)? {
    sources.lazy.compactMap(\.firstError).first.map { (sources.reduce(0) { $0 + $1.errors }, $0) }
  }

  init(_ sources: [(name: String, isLive: Bool)], of request: VideoRequest, _ options: VideoAnalysis.Options) {
    let names = Self.distinct(sources.map(\.name))
    self.sources = zip(names, sources).map { Source(name: $0, isLive: $1.isLive) }
    (keepsTrackImages, tracks) = (options.keepsTrackImages, options.tracks)
    (kind, simulatedHeat) = (request.kind, options.stream.simulatedHeat)
    minimumConfidence =
      switch request {
      case .detection(let request): request.minimumConfidence
      case .pose(let request): request.minimumConfidence
      case .classification, .segmentation: nil
      }
  }

  /// Returns names that differ: the second source of a name gets ` (2)`.
  package static func distinct(_ names: [String]) -> [String] {
    names.enumerated().map { index, name in
      let earlier = names[..<index].count { $0 == name }
      return earlier == 0 ? name : "\(name) (\(earlier + 1))"
    }
  }

  /// - Parameter now: seconds since the analysis began.
  mutating func add(_ answer: VideoAnalysis.Answer, _ image: PixelBuffer?, at now: Double) {
    let seconds = answer.latency.inSeconds
    let missed = max(0, answer.frame - sources[answer.source].lastFrame - 1)
    sources[answer.source].lastFrame = answer.frame
    sources[answer.source].answered += 1
    sources[answer.source].late += answer.isLate ? 1 : 0
    sources[answer.source].latency.add(seconds)
    sources[answer.source].addPoint(now, seconds, most: Self.mostPoints)
    sources[answer.source].first = sources[answer.source].first ?? now
    sources[answer.source].last = now
    let skipped = min(missed, Int(Double(missed + 1) * (1 - answer.share) + 1e-9))
    sources[answer.source].addInterval(
      now, missed: missed, skipped: skipped, isLate: answer.isLate, latency: seconds, most: Self.most)
    if case .success(let observations) = answer.result {
      sources[answer.source].seen.add(observations, tracksOnly: tracks)
    }
    switch answer.result {
    case .success(.objects(let objects)):
      for object in objects {
        guard let id = object.id else { continue }
        let box = object.observation.boundingBox
        note(
          id, object.observation.labels.first?.identifier ?? "", Double(object.observation.confidence), answer,
          image, box)
      }
    case .success(.poses(let poses)):
      for pose in poses {
        guard let id = pose.id else { continue }
        note(id, "person", Double(pose.observation.confidence), answer, image, pose.observation.surroundingBox)
      }
    case .success: break
    case .failure(let error):
      sources[answer.source].errors += 1
      sources[answer.source].firstError = sources[answer.source].firstError ?? error
    }
  }

  private mutating func note(
    _ id: Int, _ label: String, _ confidence: Double, _ answer: VideoAnalysis.Answer, _ image: PixelBuffer?,
    _ box: NormalizedRect?
  ) {
    let index = answer.source
    if sources[index].tracks[id] == nil, sources[index].tracks.count >= Self.mostTracks {
      sources[index].otherTracks = max(sources[index].otherTracks, id - Self.mostTracks)
      return
    }
    var track = sources[index].tracks[id] ?? VideoTrack(id: id, label: label, first: answer.time)
    track.add(
      label, confidence: confidence, at: answer.time,
      image: keepsTrackImages ? image.flatMap { image in box.map { (image, answer.orientation, $0) } } : nil)
    sources[index].tracks[id] = track
  }

  /// Adds a change that the record does not have yet. Changes and their effects come in separate sequences, so an
  /// effect may come before its change.
  mutating func add(_ action: FrameStreamAction) {
    guard index(of: action) == nil else { return }
    steps.append(Step(action: action))
    if steps.count > Self.most {
      steps.removeFirst()
      otherSteps += 1
    }
  }

  mutating func finish(_ source: Int, _ outcome: VideoAnalysis.Outcome) { sources[source].outcome = outcome }

  mutating func add(_ effect: FrameStreamEffect) {
    add(effect.action)
    guard let index = index(of: effect.action) else { return }
    steps[index].effect = effect
  }

  private func index(of action: FrameStreamAction) -> Int? {
    steps.lastIndex { $0.action.clockTime == action.clockTime && $0.action.change == action.change }
  }

  mutating func add(_ report: ThermalReport, at now: Double) {
    peakHeadroom = max(peakHeadroom ?? report.headroom, report.headroom)
    guard now >= (heat.last?.at ?? -.infinity) + heatSeconds else { return }
    heatSource = report.sourceDescription
    celsius = report.celsius
    heat.append(
      ReportSeries.Heat(
        at: now, state: report.state, headroom: report.headroom, clockRatio: report.clockRatio, watts: report.watts))
    guard heat.count > Self.most else { return }
    heat = heat.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
    heatSeconds *= 2
  }
}

extension VideoRecord.Source {
  fileprivate mutating func addPoint(_ now: Double, _ latency: Double, most: Int) {
    if (answered - 1).isMultiple(of: pointStride) { points.append((now, latency)) }
    guard points.count > most else { return }
    points = points.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
    pointStride *= 2
  }

  fileprivate mutating func addInterval(
    _ now: Double, missed: Int, skipped: Int, isLate: Bool, latency: Double, most: Int
  ) {
    let start = (now / intervalSeconds).rounded(.down) * intervalSeconds
    if intervals.last?.start != start { intervals.append(VideoRecord.Interval(start: start)) }
    let index = intervals.count - 1
    intervals[index].answered += 1
    intervals[index].missed += missed
    intervals[index].skipped += skipped
    intervals[index].late += isLate ? 1 : 0
    intervals[index].latencies.add(latency)
    guard intervals.count > most else { return }
    intervalSeconds *= 2
    var joined: [VideoRecord.Interval] = []
    for interval in intervals {
      let start = (interval.start / intervalSeconds).rounded(.down) * intervalSeconds
      if joined.last?.start != start { joined.append(VideoRecord.Interval(start: start)) }
      let index = joined.count - 1
      joined[index].answered += interval.answered
      joined[index].missed += interval.missed
      joined[index].skipped += interval.skipped
      joined[index].late += interval.late
      joined[index].latencies.add(interval.latencies)
    }
    intervals = joined
  }

  /// Answers per second in the whole intervals since a time, and the seconds of these; nil without one.
  func rate(since start: Double) -> (perSecond: Double, seconds: Double)? {
    let whole = intervals.filter { $0.start + intervalSeconds <= last }
    let latest = whole.filter { $0.start >= start }
    let counted = latest.isEmpty ? Array(whole.suffix(1)) : latest
    guard let first = counted.first, let final = counted.last else { return nil }
    let seconds = final.start + intervalSeconds - first.start
    return (Double(counted.reduce(0) { $0 + $1.answered }) / seconds, seconds)
  }

  /// Answers per second; nil before the second answer.
  var rate: Double? {
    guard let first, answered > 1, last > first else { return nil }
    return Double(answered - 1) / (last - first)
  }
}

/// The counts of latencies in classes that are 1 % wide, from 1 µs to 1000 s.
struct LatencyHistogram: Sendable, Hashable {
  /// The mean and the largest of some latencies, in seconds.
  struct Summary: Sendable, Hashable {
    private(set) var count = 0
    private var sum = 0.0
    private(set) var largest = 0.0

    var mean: Double { count > 0 ? sum / Double(count) : 0 }

    mutating func add(_ seconds: Double) {
      count += 1
      sum += seconds
      largest = max(largest, seconds)
    }

    mutating func add(_ other: Summary) {
      count += other.count
      sum += other.sum
      largest = max(largest, other.largest)
    }
  }

  private static let (least, ratio) = (1e-6, 1.01)
  private static let classes = 2084

  private var counts = [Int](repeating: 0, count: classes)
  private(set) var summary = Summary()

  mutating func add(_ seconds: Double) {
    summary.add(seconds)
    let place = log(max(seconds, Self.least) / Self.least) / log(Self.ratio)
    counts[min(Int(place), Self.classes - 1)] += 1
  }

  /// Returns the latency below which a share of all lies, within 1 %; nil without latencies.
  func quantile(_ share: Double) -> Double? {
    guard summary.count > 0 else { return nil }
    var rest = Int((share * Double(summary.count)).rounded(.up))
    for (index, count) in counts.enumerated() {
      rest -= count
      if rest <= 0 { return min(Self.least * pow(Self.ratio, Double(index) + 0.5), summary.largest) }
    }
    return summary.largest
  }
}
