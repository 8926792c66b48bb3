extension DetectionHead {
  /// Selects the outputs that the head uses, in the order that `parts` expects: maps from the largest on, an array of
  /// boxes, or boxes, scores and classes.
  ///
  /// - Throws: `VisionError.invalidModel` naming the missing or the candidate outputs.
  func chosen(from all: [HeadOutput]) throws(VisionError) -> [HeadOutput] {
    switch family {
    case .boxes, .detr: return try separate(from: all)
    case .yolov8, .yolov10, .yolox: return [try table(from: all, field: "outputs")]
    case .yolov3, .yolov5:
      if let outputs { return try outputs.map { (name) throws(VisionError) in try named(name, all, field: "outputs") } }
      let floats = all.filter(\.isFloat)
      let tables = floats.filter { $0.shape.count == 3 }
      let maps = floats.filter { $0.shape.count > 3 }
      // A file with both has the maps for training only.
      if tables.count == 1 { return tables }
      guard !maps.isEmpty else { throw none(all, "maps of boxes, or one array of them") }
      return maps.sorted { Self.area($0) > Self.area($1) }
    }
  }

  private static func area(_ output: HeadOutput) -> Int { output.shape.reduce(1) { $0 * max($1, 1) } }

  private func table(from all: [HeadOutput], field: String) throws(VisionError) -> HeadOutput {
    if let outputs {
      guard outputs.count == 1 else {
        throw .invalidModel("the head's 'outputs' names \(outputs.count); family '\(family.rawValue)' has one")
      }
      return try named(outputs[0], all, field: "outputs")
    }
    let candidates = all.filter { $0.isFloat && (2...4).contains($0.shape.count) }
    if candidates.count > 1, candidates.filter({ $0.shape.count == 3 }).count == 1 {
      return candidates.filter { $0.shape.count == 3 }[0]
    }
    guard candidates.count == 1 else { throw none(all, "one array of boxes") }
    return candidates[0]
  }

  private func separate(from all: [HeadOutput]) throws(VisionError) -> [HeadOutput] {
    func columns(_ output: HeadOutput) -> Int { output.shape.last ?? 0 }
    let floats = all.filter(\.isFloat)
    func choose(_ name: String?, _ field: String, _ signs: [String], among: [HeadOutput]) throws(VisionError)
      -> HeadOutput
    {
      if let name { return try named(name, all, field: field) }
      if among.count == 1 { return among[0] }
      for sign in signs {
        let told = among.filter { $0.name.lowercased().contains(sign) }
        if told.count == 1 { return told[0] }
      }
      throw none(all, "an output for '\(field)'")
    }
    let boxes = try choose(
      boxesOutput, "boxes", ["box"], among: floats.filter { $0.shape.count >= 2 && columns($0) == 4 })
    let rest = all.filter { $0.name != boxes.name && $0.name != classesOutput && $0.name != countOutput }
    let scores = try choose(
      scoresOutput, "scores", ["score", "logit", "conf", "prob"], among: rest.filter(\.isFloat))
    if let countOutput { _ = try named(countOutput, all, field: "count") }
    let found = [boxes, scores]
    guard let classesOutput else { return found }
    return found + [try named(classesOutput, all, field: "classes")]
  }

  private func named(_ name: String, _ all: [HeadOutput], field: String) throws(VisionError) -> HeadOutput {
    guard let output = all.first(where: { $0.name == name }) else {
      throw none(all, "the head's '\(field)' '\(name)'")
    }
    return output
  }

  private func none(_ all: [HeadOutput], _ what: String) -> VisionError {
    .invalidModel(
      "the model's outputs do not show \(what); they are \(all.map(\.text).joined(separator: ", ")); name them in the head"
    )
  }
}
