import FoundationEssentials
import Kelvin
import KelvinVision
import TestSupport
import Testing

/// Expected poses: NumPy (`Tests/Vision/Poses/generate.py`).
@Suite struct PoseTests {
  private typealias JointName = HumanBodyPoseObservation.JointName

  private static let folder = "\(VisionFixture.folder)/Poses"
  private static let size = ImageSize(width: 129, height: 97)

  private struct Expected: Decodable {
    struct Pose: Decodable {
      var confidence: Double
      /// x, y and score.
      var joints: [String: [Double]]
    }
    struct Poses: Decodable {
      var single: [Pose]
      var multiple: [Pose]
    }
    /// x and y of each person's joints.
    var truth: [[String: [Double]]]
    var random: Poses
    var people: Poses
  }

  private static let expected: Expected? = try? JSONDecoder().decode(
    Expected.self, from: Data(contentsOf: URL(filePath: "\(folder)/expected.json")))
  /// An image of the size that the models take.
  private static let blank = try? PixelBuffer(
    width: size.width, height: size.height, format: .rgb8,
    bytes: [UInt8](repeating: 90, count: size.width * size.height * 3))

  private func request(_ name: String) async throws -> PoseRequest {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let model = try await Model.load(
      contentsOf: URL(filePath: "\(Self.folder)/\(name).onnx"), configuration: configuration)
    var request = try PoseRequest(model: model, normalization: .unit)
    request.minimumConfidence = 0
    return request
  }

  private func compare(_ found: [HumanBodyPoseObservation], _ expected: [Expected.Pose]) {
    #expect(found.count == expected.count)
    for (pose, expected) in zip(found, expected) {
      #expect(abs(Double(pose.confidence) - expected.confidence) < 1e-5)
      #expect(pose.keyPoints.count == 17)
      for (name, numbers) in expected.joints {
        guard let joint = JointName(rawValue: name).flatMap({ pose.joint(for: $0) }) else {
          #expect(Bool(false), "no \(name)")
          continue
        }
        let point = joint.location.toImageCoordinates(Self.size, origin: .upperLeft)
        #expect(joint.jointName == name)
        #expect(abs(point.x - numbers[0]) < 1e-3 && abs(point.y - numbers[1]) < 1e-3, "\(name): \(point), \(numbers)")
        #expect(abs(Double(joint.confidence) - numbers[2]) < 1e-5)
      }
    }
  }

  @Test(arguments: ["random", "people", "people_last"])
  func decodedPosesMatchTheVectors(name: String) async throws {
    let document = try #require(Self.expected)
    let expected = name == "random" ? document.random : document.people
    var request = try await request(name)
    #expect(request.remarks.isEmpty)
    compare(try await request.perform(on: try #require(Self.blank)), expected.multiple)
    request.isSingle = true
    compare(try await request.perform(on: try #require(Self.blank)), expected.single)
    request.isSingle = false
    request.maximumPoseCount = 2
    compare(try await request.perform(on: try #require(Self.blank)), Array(expected.multiple.prefix(2)))
    request.maximumPoseCount = 10
    request.minimumConfidence = Float(expected.multiple[1].confidence) - 1e-4
    let sure = expected.multiple.filter { Float($0.confidence) >= request.minimumConfidence }
    compare(try await request.perform(on: try #require(Self.blank)), sure)
  }

  @Test func everyPersonIsFound() async throws {
    let found = try await request("people").perform(on: try #require(Self.blank))
    let truth = try #require(Self.expected).truth
    #expect(found.count == truth.count)
    for person in truth {
      let isFound = found.contains { pose in
        person.allSatisfy { name, place in
          guard let joint = JointName(rawValue: name).flatMap({ pose.joint(for: $0) }) else { return false }
          let point = joint.location.toImageCoordinates(Self.size, origin: .upperLeft)
          return abs(point.x - place[0]) < 1e-2 && abs(point.y - place[1]) < 1e-2
        }
      }
      #expect(isFound)
    }
  }

  @Test func jointsAreCorrectUnderEveryOrientation() async throws {
    var request = try await request("people")
    request.isSingle = true
    let nose = try #require(Self.expected).people.single[0].joints["nose"] ?? []
    // Stored on its side, so that the upright image has the size that the model takes.
    let stored = try PixelBuffer(
      width: Self.size.height, height: Self.size.width, format: .gray8,
      bytes: [UInt8](repeating: 9, count: Self.size.width * Self.size.height))
    for (image, orientation) in [(stored, ImageOrientation.right), (stored, .leftMirrored)] {
      let pose = try await request.perform(on: image, orientation: orientation)[0]
      let point = try #require(pose.joint(for: .nose)).location.toImageCoordinates(Self.size, origin: .upperLeft)
      #expect(abs(point.x - nose[0]) < 1e-3 && abs(point.y - nose[1]) < 1e-3)
    }
    // Twice as wide and as high, of which the model sees the lower right quarter.
    let large = try PixelBuffer(
      width: 258, height: 194, format: .gray8, bytes: [UInt8](repeating: 9, count: 258 * 194))
    request.regionOfInterest = NormalizedRect(x: 0.5, y: 0, width: 0.5, height: 0.5)
    let pose = try await request.perform(on: large)[0]
    let point = try #require(pose.joint(for: .nose)).location
      .toImageCoordinates(ImageSize(width: 258, height: 194), origin: .upperLeft)
    #expect(abs(point.x - 129 - nose[0]) < 1e-3 && abs(point.y - 97 - nose[1]) < 1e-3)
  }

  @Test func modelWithoutDisplacementsFindsOnePerson() async throws {
    let request = try await request("lone")
    #expect(request.remarks.count == 1)
    compare(try await request.perform(on: try #require(Self.blank)), try #require(Self.expected).people.single)
  }

  @Test func poseHasJointsByNameAndGroup() {
    func joint(_ name: JointName, _ x: Double, _ y: Double, _ confidence: Float) -> (JointName, Joint) {
      (name, Joint(jointName: name.rawValue, location: NormalizedPoint(x: x, y: y), confidence: confidence))
    }
    let pose = HumanBodyPoseObservation(
      joints: Dictionary(
        uniqueKeysWithValues: [
          joint(.leftShoulder, 0.25, 0.5, 0.75), joint(.rightShoulder, 0.75, 0.25, 0.5), joint(.leftHip, 0.5, 0.5, 1),
        ]), confidence: 0.5)
    #expect(pose.joint(for: .neck)?.location == NormalizedPoint(x: 0.5, y: 0.375))
    #expect(pose.joint(for: .neck)?.confidence == 0.5)
    #expect(pose.joint(for: .root) == nil && pose.joint(for: .nose) == nil)
    #expect(pose.availableJointNames == [.leftShoulder, .rightShoulder, .leftHip, .neck])
    #expect(pose.availableJointsGroupNames == [.torso, .leftArm, .rightArm, .leftLeg])
    #expect(Set(pose.allJoints(in: .torso).keys) == [.neck, .leftShoulder, .rightShoulder, .leftHip])
    #expect(pose.recognizedPoints(.leftArm) == pose.allJoints(in: .leftArm) && pose.allJoints().count == 4)
    #expect(pose.recognizedPoint(.leftHip) == pose.joint(for: .leftHip))
  }

  @Test func drawingShowsConfidentJointsAndLines() throws {
    let image = try #require(Self.blank)
    func pose(_ wrist: Float) -> HumanBodyPoseObservation {
      func joint(_ name: JointName, _ x: Double, _ y: Double, _ confidence: Float) -> (JointName, Joint) {
        let place = NormalizedPoint(imagePoint: ImagePoint(x: x, y: y), in: Self.size, origin: .upperLeft)
        return (name, Joint(jointName: name.rawValue, location: place, confidence: confidence))
      }
      return HumanBodyPoseObservation(
        joints: Dictionary(
          uniqueKeysWithValues: [
            joint(.leftElbow, 20, 40, 1), joint(.leftWrist, 100, 40, wrist), joint(.nose, .nan, .infinity, 1),
            joint(.leftEye, -1e300, 1e300, 1), joint(.leftEar, 1e300, 1e300, 1),
          ]), confidence: 1)
    }
    func orange(_ drawn: PixelBuffer, _ x: Int, _ y: Int) -> Bool {
      let at = (y * drawn.width + x) * 3
      return Array(drawn.bytes[at..<at + 3]) == [0xE6, 0x9F, 0x00]
    }
    let sure = try image.drawing([pose(0.9)], hasNames: false)
    #expect(orange(sure, 20, 40) && orange(sure, 60, 40) && orange(sure, 100, 40) && !orange(sure, 60, 50))
    let unsure = try image.drawing([pose(0.1)], hasNames: false)
    #expect(orange(unsure, 20, 40) && !orange(unsure, 60, 40) && !orange(unsure, 100, 40))
    let named = try image.drawing([pose(0.1)])
    #expect(named != unsure)
  }

  @Test func nonPoseModelIsRefused() async throws {
    let detector = try await VisionFixture.container("segmenter.mlpackage").model
    let error = #expect(throws: VisionError.self) { try PoseRequest(model: detector) }
    #expect(error?.description.contains("expected outputs 'heatmap' of 17 channels") == true)
  }

  @Test(.enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
  func realModelFindsAFaceInAPhoto() async throws {
    let container = try await VisionFixture.container(SharedFiles.path("models/fritz_human_pose_small.mlmodel"))
    var request = try PoseRequest(model: container.model)
    #expect(request.remarks.isEmpty)
    request.isSingle = true
    request.minimumConfidence = 0
    request.cropAndScaleAction = .scaleToFill
    let found = try await request.perform(on: URL(filePath: SharedFiles.path("images/photos/squat.bmp")))
    let pose = try #require(found.first)
    func place(_ name: JointName) throws -> ImagePoint {
      let joint = try #require(pose.joint(for: name))
      // The file's scores are behind a logistic function already.
      #expect(joint.confidence > 0.15 && joint.confidence < 0.5)
      return joint.location.toImageCoordinates(ImageSize(width: 500, height: 610), origin: .upperLeft)
    }
    let (nose, left, right) = (try place(.nose), try place(.leftEye), try place(.rightEye))
    // The face, as a face detector has it, is 51 wide and 68 high at (251, 166).
    for point in [nose, left, right] {
      #expect((245..<310).contains(point.x) && (166..<234).contains(point.y), "\(point)")
    }
    #expect(left.x > nose.x && nose.x > right.x && left.y < nose.y && right.y < nose.y)
  }
}
