import KelvinGraph

/// Heads that need no description, because a model's outputs or metadata say what they are.
enum KnownHeads {
  /// The head of a model, and what to know of it; nil where its file does not say.
  ///
  /// - Parameter metadata: what the file says of the model, by keys.
  static func head(_ outputs: [HeadOutput], metadata: [String: String]) -> (head: DetectionHead, remark: String?)? {
    if let head = suppressed(outputs) { return (head, nil) }
    if let head = queries(outputs) {
      return (
        head, "output '\(head.scoresOutput ?? "")' is taken for logits whose last class is that there is nothing (DETR)"
      )
    }
    return ultralytics(outputs, metadata).map { ($0, nil) }
  }

  /// Boxes that the model has suppressed itself: boxes, scores and whole numbers of classes, one for each.
  private static func suppressed(_ outputs: [HeadOutput]) -> DetectionHead? {
    var head = DetectionHead(.boxes)
    head.maximumOverlap = 1
    // As object detectors of TensorFlow name what they leave.
    let names = Set(outputs.map(\.name))
    if names.isSuperset(of: ["detection_boxes", "detection_scores", "detection_classes"]) {
      (head.boxesOutput, head.scoresOutput) = ("detection_boxes", "detection_scores")
      head.classesOutput = "detection_classes"
      head.countOutput = names.contains("num_detections") ? "num_detections" : nil
      (head.boxForm, head.unit) = (.cornersYX, .shares)
      return head
    }
    // As torchvision's detectors: in pixels of the model's input.
    let floats = outputs.filter(\.isFloat)
    let boxes = floats.filter { $0.shape.count == 2 && $0.shape[1] == 4 }
    let scores = floats.filter { $0.shape.count == 1 }
    let classes = outputs.filter { !$0.isFloat && $0.shape.count == 1 }
    guard boxes.count == 1, scores.count == 1, classes.count == 1 else { return nil }
    (head.boxesOutput, head.scoresOutput, head.classesOutput) = (boxes[0].name, scores[0].name, classes[0].name)
    return head
  }

  /// Queries' boxes and logits under the names that DETR and its descendants give them.
  private static func queries(_ outputs: [HeadOutput]) -> DetectionHead? {
    let names = Set(outputs.map(\.name))
    guard names.contains("pred_boxes"), let logits = ["pred_logits", "logits"].first(where: names.contains) else {
      return nil
    }
    var head = DetectionHead(.detr)
    (head.boxesOutput, head.scoresOutput) = ("pred_boxes", logits)
    return head
  }

  /// Files of Ultralytics' exporter say what the model is for and how its classes are called.
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

/// A dictionary of numbers and names as Python prints it: `{0: 'person', 1: "driver's seat"}`.
enum DictionaryText {
  /// The names by their numbers, which are 0, 1, 2 and so on; none where the text is anything else.
  static func names(_ text: String) -> [String] {
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
