import FoundationEssentials
import Kelvin
import KelvinBasics

extension DetectionHead {
  /// The largest accepted file in bytes. A head is a few lines and the names of classes.
  private static let largestDocument = 1 << 20
  private static let largestCount = 100_000

  private enum Field: String, CodingKey, CaseIterable {
    case format, version, family, outputs, boxes, scores, classes, count, layout, box, unit, activation, objectness
    case strides, anchors, labels, background, normalization, confidence, iou, perClass, maximum
  }

  /// The fields that are valid for some families only.
  private static let particular: [Field: Set<Family>] = [
    .outputs: [.yolov3, .yolov5, .yolov8, .yolov10, .yolox],
    .layout: [.yolov3, .yolov5, .yolov8, .yolov10, .yolox],
    .boxes: [.boxes, .detr], .scores: [.boxes, .detr], .classes: [.boxes], .count: [.boxes],
    .box: [.yolov5, .yolov8, .yolov10, .boxes, .detr], .unit: [.yolov5, .yolov8, .yolov10, .boxes, .detr],
    .objectness: [.yolov5, .yolov8, .yolox], .background: [.boxes, .detr],
    .strides: [.yolov3, .yolov5, .yolox], .anchors: [.yolov3, .yolov5],
  ]

  /// A decoded document; decoding throws a `Refusal` for invalid fields.
  private struct Document: Decodable {
    var head: DetectionHead

    init(from decoder: any Decoder) throws {
      let known = Set(Field.allCases.map(\.rawValue))
      let keys = try decoder.container(keyedBy: JSONKey.self).allKeys.map(\.stringValue)
      if let stranger = keys.filter({ !known.contains($0) }).min() {
        throw Refusal(
          "the field '\(stranger)' is not known; there are \(Field.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      let fields = try decoder.container(keyedBy: Field.self)
      func choice<Value: RawRepresentable & CaseIterable>(_ field: Field, _ type: Value.Type) throws -> Value?
      where Value.RawValue == String {
        guard let text = try fields.decodeIfPresent(String.self, forKey: field) else { return nil }
        guard let value = Value(rawValue: text) else {
          throw Refusal(
            field, "expected \(Value.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))", "\"\(text)\"")
        }
        return value
      }
      func number<Value: Decodable & Comparable>(_ field: Field, _ range: ClosedRange<Value>) throws -> Value? {
        guard let value = try fields.decodeIfPresent(Value.self, forKey: field) else { return nil }
        guard range.contains(value) else {
          throw Refusal(field, "expected a number from \(range.lowerBound) to \(range.upperBound)", "\(value)")
        }
        return value
      }
      let format = try fields.decode(String.self, forKey: .format)
      guard format == "kelvin-head" else { throw Refusal(.format, "expected \"kelvin-head\"", "\"\(format)\"") }
      let version = try fields.decode(Int.self, forKey: .version)
      guard version == 1 else { throw Refusal(.version, "this Kelvin reads version 1", "\(version)") }
      guard let family = try choice(.family, Family.self) else {
        throw Refusal(
          "the field 'family' is missing; expected \(Family.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))"
        )
      }
      for field in Field.allCases where keys.contains(field.rawValue) {
        guard let families = DetectionHead.particular[field], !families.contains(family) else { continue }
        throw Refusal("the field '\(field.rawValue)' does not apply to family '\(family.rawValue)'; remove it")
      }
      var head = DetectionHead(family)
      head.outputs = try fields.decodeIfPresent([String].self, forKey: .outputs)
      head.boxesOutput = try fields.decodeIfPresent(String.self, forKey: .boxes)
      head.scoresOutput = try fields.decodeIfPresent(String.self, forKey: .scores)
      head.classesOutput = try fields.decodeIfPresent(String.self, forKey: .classes)
      head.countOutput = try fields.decodeIfPresent(String.self, forKey: .count)
      head.layout = try choice(.layout, Layout.self)
      head.boxForm = try choice(.box, BoxForm.self) ?? head.boxForm
      head.unit = try choice(.unit, Unit.self) ?? head.unit
      head.activation = try choice(.activation, Activation.self)
      head.hasObjectness = try fields.decode(.objectness, or: head.hasObjectness)
      head.background = try choice(.background, Background.self) ?? head.background
      head.normalization = try choice(.normalization, PixelNormalization.self)
      head.minimumConfidence = try number(.confidence, 0...1) ?? head.minimumConfidence
      head.maximumOverlap = try number(.iou, 0...1) ?? head.maximumOverlap
      head.isPerClass = try fields.decode(.perClass, or: head.isPerClass)
      head.maximumCount = try number(.maximum, 1...largestCount) ?? head.maximumCount
      if let strides = try fields.decodeIfPresent([Int].self, forKey: .strides) {
        guard (1...16).contains(strides.count), strides.allSatisfy({ (1...4096).contains($0) }) else {
          throw Refusal(.strides, "expected up to 16 numbers from 1 to 4096", "\(strides)")
        }
        head.strides = strides
      }
      if let anchors = try fields.decodeIfPresent([[[Double]]].self, forKey: .anchors) {
        head.anchors = try DetectionHead.anchors(anchors)
      }
      if DetectionHead.particular[.anchors]?.contains(family) == true, head.anchors.count != head.strides.count {
        throw Refusal(
          .anchors, "expected anchors for each of \(head.strides.count) strides", "\(head.anchors.count) lists")
      }
      head.labels = try fields.decodeIfPresent([String].self, forKey: .labels)
      if head.labels?.isEmpty == true { throw Refusal(.labels, "expected names of classes", "none") }
      self.head = head
    }
  }

  private static func anchors(_ lists: [[[Double]]]) throws -> [[Anchor]] {
    try lists.enumerated().map { map, list in
      guard (1...64).contains(list.count), list.count == lists[0].count else {
        throw Refusal(.anchors, "expected as many anchors for each stride", "\(list.count) in list \(map)")
      }
      return try list.map { sides in
        guard sides.count == 2, sides.allSatisfy({ $0 > 0 && $0 <= 1e6 }) else {
          throw Refusal(.anchors, "expected [width, height] in pixels", "\(sides) in list \(map)")
        }
        return Anchor(width: sides[0], height: sides[1])
      }
    }
  }

  /// The reason why a document is invalid.
  private struct Refusal: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
    init(_ field: Field, _ expectation: String, _ found: String) {
      reason = "field '\(field.rawValue)': \(expectation), got \(found)"
    }
  }

  init(file path: String) throws(VisionError) {
    func refuse(_ reason: String) -> VisionError {
      .invalidModel("'\(path)' does not describe a detection head: \(reason)")
    }
    let data: Data
    do throws(ModelError) { data = try LocalFile.read(path) } catch { throw .invalidModel(error.description) }
    guard data.count <= Self.largestDocument else {
      throw refuse("\(data.count) bytes, expected at most \(Self.largestDocument); is this the right file?")
    }
    let document: Document
    do { document = try JSONText.decode(Document.self, from: data) } catch let error as Refusal {
      throw refuse(error.reason)
    } catch let error as DecodingError {
      throw refuse(Self.describe(error))
    } catch { throw refuse("\(error)") }
    self = document.head
  }

  private static func describe(_ error: DecodingError) -> String {
    func place(_ context: DecodingError.Context) -> String {
      let path = context.codingPath.map { key in key.intValue.map { "[\($0)]" } ?? key.stringValue }.joined()
      return path.isEmpty ? "the document" : "field '\(path)'"
    }
    switch error {
    case .keyNotFound(let key, _): return "the field '\(key.stringValue)' is missing"
    case .typeMismatch(let type, let context):
      return "\(place(context)): expected \(words[ObjectIdentifier(type)] ?? "\(type)")"
    case .valueNotFound(let type, let context):
      return "\(place(context)): expected \(words[ObjectIdentifier(type)] ?? "\(type)"), got null"
    case .dataCorrupted(let context): return "not JSON at \(place(context)): \(context.debugDescription)"
    @unknown default: return "\(error)"
    }
  }

  private static let words: [ObjectIdentifier: String] = [
    ObjectIdentifier(String.self): "a string", ObjectIdentifier(Int.self): "a whole number",
    ObjectIdentifier(Double.self): "a number", ObjectIdentifier(Float.self): "a number",
    ObjectIdentifier(Bool.self): "true or false",
  ]
}
