import KelvinGraph

/// Heads that are recognized by a model's outputs or metadata.
enum KnownHeads {
  /// Returns the head of a model with a remark for the user; nil where it is not recognized.
  ///
  /// - Parameter metadata: The custom metadata of the model file.
  static func head(_ outputs: [HeadOutput], metadata: [String: String]) -> (head: DetectionHead, remark: String?)? {
    if let head = suppressed(outputs) { return (head, nil) }
    if let head = queries(outputs) {
      return (
        head, "output '\(head.scoresOutput ?? "")' is read as logits whose last class means no object (DETR)"
      )
    }
    return ultralytics(outputs, metadata).map { ($0, nil) }
  }

  /// Returns the family that the shapes of the outputs suggest; nil where they suggest none.
  static func likely(_ outputs: [HeadOutput]) -> DetectionHead.Family? {
    let arrays = outputs.filter { $0.isFloat && $0.shape.count == 3 }
    guard arrays.count == 1, let shape = arrays.first?.shape else { return nil }
    if shape[2] == 6 { return .yolov10 }
    if shape[1] > 4, shape[1] < shape[2] { return .yolov8 }
    return shape[2] > 5 && shape[2] < shape[1] ? .yolov5 : nil
  }

  /// Recognizes boxes after suppression: boxes, scores and integer classes, one of each per object.
  private static func suppressed(_ outputs: [HeadOutput]) -> DetectionHead? {
    var head = DetectionHead(.boxes)
    head.maximumOverlap = 1
    // The output names of TensorFlow's object detectors.
    let names = Set(outputs.map(\.name))
    if names.isSuperset(of: ["detection_boxes", "detection_scores", "detection_classes"]) {
      (head.boxesOutput, head.scoresOutput) = ("detection_boxes", "detection_scores")
      head.classesOutput = "detection_classes"
      head.countOutput = names.contains("num_detections") ? "num_detections" : nil
      (head.boxForm, head.unit) = (.cornersYX, .shares)
      return head
    }
    // The outputs of torchvision's detectors, in pixels of the model's input.
    let floats = outputs.filter(\.isFloat)
    let boxes = floats.filter { $0.shape.count == 2 && $0.shape[1] == 4 }
    let scores = floats.filter { $0.shape.count == 1 }
    let classes = outputs.filter { !$0.isFloat && $0.shape.count == 1 }
    guard boxes.count == 1, scores.count == 1, classes.count == 1 else { return nil }
    (head.boxesOutput, head.scoresOutput, head.classesOutput) = (boxes[0].name, scores[0].name, classes[0].name)
    return head
  }

  /// Recognizes the boxes and logits of queries by the output names of DETR and its descendants.
  private static func queries(_ outputs: [HeadOutput]) -> DetectionHead? {
    let names = Set(outputs.map(\.name))
    guard names.contains("pred_boxes"), let logits = ["pred_logits", "logits"].first(where: names.contains) else {
      return nil
    }
    var head = DetectionHead(.detr)
    (head.boxesOutput, head.scoresOutput) = ("pred_boxes", logits)
    return head
  }

  /// Recognizes files of Ultralytics' exporter, whose metadata contains the task and the names of the classes.
  private static func ultralytics(_ outputs: [HeadOutput], _ metadata: [String: String]) -> DetectionHead? {
    guard let names = metadata["names"].map(DictionaryText.names), !names.isEmpty,
      metadata["task"].map({ $0 == "detect" }) ?? true
    else { return nil }
    let arrays = outputs.filter { $0.isFloat && $0.shape.count == 3 }
    guard arrays.count == 1, let shape = arrays.first?.shape else { return nil }
    let families: [(DetectionHead.Family, Bool)] = [
      (.yolov8, shape[1] == 4 + names.count), (.yolov5, shape[2] == 5 + names.count), (.yolov10, shape[2] == 6),
    ]
    guard let family = families.first(where: \.1)?.0 else { return nil }
    var head = DetectionHead(family)
    head.outputs = [arrays[0].name]
    head.labels = names
    return head
  }
}

/// A parser for dictionaries of integers and strings as Python prints them: `{0: 'person', 1: "driver's seat"}`.
enum DictionaryText {
  /// Returns the names in the order of their keys, which must be 0, 1, 2 and so on; empty for any other string.
  package static func names(_ text: String) -> [String] {
    var rest = text.unicodeScalars[...].drop(while: \.properties.isWhitespace)
    func skip(_ wanted: Unicode.Scalar) -> Bool {
      rest = rest.drop(while: \.properties.isWhitespace)
      guard rest.first == wanted else { return false }
      rest.removeFirst()
      rest = rest.drop(while: \.properties.isWhitespace)
      return true
    }
    var names: [String] = []
    guard skip("{") else { return [] }
    while !skip("}") {
      let digits = rest.prefix { ("0"..."9").contains($0) }
      rest = rest[digits.endIndex...]
      guard Int(String(digits)) == names.count, skip(":"), let quote = rest.popFirst(),
        "'\"".unicodeScalars.contains(quote)
      else { return [] }
      var name = String.UnicodeScalarView()
      while let next = rest.popFirst(), next != quote {
        if next == "\\", let escaped = rest.popFirst() { name.append(escaped) } else { name.append(next) }
      }
      names.append(String(name))
      guard skip(",") || rest.first == "}" else { return [] }
    }
    return names
  }
}
