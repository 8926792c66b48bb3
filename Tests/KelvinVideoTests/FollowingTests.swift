import FoundationEssentials
import KelvinVideo
import KelvinVision
import TestSupport
import Testing

@Suite("Following and smoothing of observations")
struct FollowingTests {
  private static let size = ImageSize(width: 640, height: 480)

  private func object(_ label: String, x: Double, confidence: Float = 0.9) -> RecognizedObjectObservation {
    RecognizedObjectObservation(
      labels: [.init(identifier: label, confidence: confidence)],
      boundingBox: NormalizedRect(x: x, y: 0.4, width: 0.1, height: 0.2))
  }

  @Test("moving objects keep their numbers, whatever the order of a frame's objects")
  func objects() {
    var tracker = ObjectTracker()
    var numbers: [String: Set<Int>] = [:]
    for frame in 0..<60 {
      let shift = Double(frame) * 0.005
      var seen = [object("cup", x: 0.1 + shift), object("bottle", x: 0.8 - shift)]
      if frame.isMultiple(of: 2) { seen.reverse() }
      for tracked in tracker.update(seen, in: Self.size, at: .milliseconds(33 * frame)) {
        let label = tracked.observation.labels[0].identifier
        if let id = tracked.id { numbers[label, default: []].insert(id) }
      }
    }
    #expect(numbers["cup"]?.count == 1 && numbers["bottle"]?.count == 1 && numbers["cup"] != numbers["bottle"])
  }

  @Test("labels that differ only in their Unicode form are different classes")
  func exactLabels() {
    var tracker = ObjectTracker()
    _ = tracker.update([object("é", x: 0.1)], in: Self.size, at: .zero)
    let next = tracker.update([object("e\u{301}", x: 0.1)], in: Self.size, at: .milliseconds(33))
    #expect(next[0].id != 1)
  }

  @Test("an object without a usable box has no number")
  func unusable() {
    var tracker = ObjectTracker()
    let nowhere = RecognizedObjectObservation(
      labels: [], boundingBox: NormalizedRect(x: .nan, y: 0, width: 1, height: 1))
    for frame in 0..<5 {
      #expect(tracker.update([nowhere], in: Self.size, at: .milliseconds(33 * frame))[0].id == nil)
    }
  }

  private func pose(_ x: Double) -> HumanBodyPoseObservation {
    let places: [(HumanBodyPoseObservation.JointName, Double, Double)] = [
      (.nose, x, 0.8), (.leftHip, x - 0.05, 0.4), (.rightHip, x + 0.05, 0.4),
    ]
    return HumanBodyPoseObservation(
      joints: Dictionary(
        uniqueKeysWithValues: places.map {
          ($0.0, Joint(jointName: $0.0.rawValue, location: NormalizedPoint(x: $0.1, y: $0.2), confidence: 0.9))
        }), confidence: 0.9)
  }

  @Test("noise of a person at rest is smoothed, and the joints keep their names and confidences")
  func poses() throws {
    var tracker = PoseTracker()
    var random = SystemRandomNumberGenerator()
    var (raw, smoothed): ([Double], [Double]) = ([], [])
    for frame in 0..<90 {
      let x = 0.5 + Double.random(in: -0.01...0.01, using: &random)
      let tracked = tracker.update([pose(x)], in: Self.size, at: .milliseconds(33 * frame))
      let nose = try #require(tracked[0].observation.keyPoints[.nose])
      #expect(nose.confidence == 0.9 && tracked[0].observation.keyPoints.count == 3)
      guard frame > 30 else { continue }
      #expect(tracked[0].id == 1)
      raw.append(abs(x - 0.5))
      smoothed.append(abs(nose.location.x - 0.5))
    }
    #expect(smoothed.reduce(0, +) < 0.5 * raw.reduce(0, +))
  }

  @Test("a class that flickers is not shown, and one that stays is")
  func classes() {
    var smoother = ClassificationSmoother()
    var shown: [String] = []
    for frame in 0..<120 {
      let isFlicker = frame < 60 && frame % 10 == 5
      let cat: Float = isFlicker || frame >= 60 ? 0.9 : 0.1
      let classes = smoother.update(
        [.init(identifier: "cat", confidence: cat), .init(identifier: "dog", confidence: 1 - cat)],
        at: .milliseconds(33 * frame))
      #expect(abs(classes.reduce(0) { $0 + $1.confidence } - 1) < 1e-4)
      shown.append(classes[0].identifier)
    }
    #expect(Set(shown[..<60]) == ["dog"], "\(shown)")
    #expect(shown[119] == "cat")
    #expect(zip(shown, shown.dropFirst()).count { $0 != $1 } == 1)
  }

  @Test("parameters are read from JSON, and a missing key keeps its default")
  func parameters() throws {
    let json = #"{"tracking": {"secondsKept": 2, "labelsMustAgree": false}, "poses": {"cutoff": 0.5}}"#
    let parameters = try StreamParameters(json: Data(json.utf8))
    #expect(parameters != StreamParameters())
    #expect(parameters.leastConfidence == StreamParameters().leastConfidence)
    #expect(try StreamParameters(json: Data("{}".utf8)) == StreamParameters())
  }

  @Test(
    "an unknown key, a value out of range and a document that is not JSON are refused by name",
    arguments: [
      (#"{"traking": {}}"#, "'traking' is not known; there are tracking, classes, poses"),
      (#"{"tracking": {"score": 1}}"#, "tracking: the key 'score' is not known"),
      (#"{"tracking": {"highScore": 2}}"#, "tracking: highScore is 2"),
      (#"{"tracking": {"lowScore": 0.9}}"#, "lowScore is 0.9 and highScore is 0.5"),
      (#"{"classes": {"seconds": -1}}"#, "classes: seconds is -1"),
      (#"{"poses": {"cutoff": "much"}}"#, "poses.cutoff"), ("[]", "the parameters"), ("{", "the parameters"),
      (#"{"tracking": {"updatesUntilConfirmed": 0}}"#, "updatesUntilConfirmed is 0"),
    ])
  func refusedParameters(_ json: String, _ part: String) {
    let error = #expect(throws: VideoError.self) { try StreamParameters(json: Data(json.utf8)) }
    #expect(error?.description.contains(part) == true, "\(String(describing: error))")
    #expect(error?.code == .request)
  }
}
