public import Kelvin
import KelvinBasics
import KelvinEvaluation
public import KelvinVision

extension SegmentationEvaluation {
  private static let shownConfusions = 12

  public static var task: String { "segmentation" }
  public static var exampleName: String { "image" }
  public static var measures: [EvaluationMeasure] { [.share("Mean IoU"), .share("Pixels")] }

  public static func request(
    for model: Model, _ options: EvaluationOptions
  ) throws(VisionError) -> SegmentationRequest {
    var request = try SegmentationRequest(
      model: model, output: options.output, labels: options.labels, normalization: options.normalization)
    request.cropAndScaleAction = options.cropAndScale ?? request.cropAndScaleAction
    return request
  }

  public static func question(of example: SegmentedImages.Image) throws(VisionError) -> SegmentationQuestion {
    let image: DecodedImage
    do throws(ImageError) { image = try ImageCodec.decode(path: example.path, below: example.folder) } catch {
      throw .image(error)
    }
    return SegmentationQuestion(image: image, truth: try example.labelMap(of: image))
  }

  /// Returns the image with the contender's label map drawn over it.
  public func image(of example: Int, by contender: Int) throws(VisionError) -> PixelBuffer? {
    let image: DecodedImage
    do throws(ImageError) {
      image = try ImageCodec.decode(path: examples[example].path, below: examples[example].folder)
    } catch { throw .image(error) }
    return try contenders[contender].request.segment(image.pixels, orientation: image.orientation)
      .overlay(on: image.pixels, orientation: image.orientation)
  }

  public var subject: String {
    let count = overlaps(of: 0).count
    return "\(counted(examples.count)), \(count) class\(count == 1 ? "" : "es"), "
      + "\(results[0].scores.accuracy.trials) pixels judged"
  }

  public func figures(of contender: Int) -> [Double?] {
    let scores = results[contender].scores
    return [scores.meanIntersectionOverUnion, scores.accuracy.share]
  }

  public func interval(of contender: Int) -> ClosedRange<Double>? { results[contender].interval }

  /// Returns the intersection over union of each class that any pixel has or is assigned to.
  func overlaps(of contender: Int) -> [(label: Int, share: Double)] {
    labels.indices.compactMap { label in
      results[contender].scores.intersectionOverUnion(of: label).map { (label, $0) }
    }
  }

  public func notes(on contender: Int) -> [String] {
    noteOnWorst(overlaps(of: contender).map { (labels[$0.label], $0.share) }, of: contender)
  }

  public func sections(on contender: Int) -> [EvaluationSection] {
    let confusion = results[contender].scores.confusion
    let share = EvaluationMeasure.share("")
    let rows = overlaps(of: contender).map { label, overlap in
      let (shared, truth) = (confusion[label][label], results[contender].scores.pixelCount(of: label))
      let answer = confusion.reduce(0) { $0 + $1[label] }
      return [
        labels[label], "\(truth)", share.text(overlap), share.text(answer > 0 ? Double(shared) / Double(answer) : nil),
        share.text(truth > 0 ? Double(shared) / Double(truth) : nil),
      ]
    }
    var confusions: [(truth: Int, answer: Int, count: Int)] = []
    for truth in confusion.indices {
      for answer in confusion.indices where answer != truth && confusion[truth][answer] > 0 {
        confusions.append((truth, answer, confusion[truth][answer]))
      }
    }
    let worst = confusions.sorted { ($1.count, $0.truth, $0.answer) < ($0.count, $1.truth, $1.answer) }
      .prefix(Self.shownConfusions)
    return [
      .table(title: "Each class", columns: ["Class", "Pixels", "IoU", "Precision", "Recall"], rows: rows),
      .table(
        title: "Most frequent confusions", columns: ["Class", "taken for", "Pixels"],
        rows: worst.isEmpty
          ? [["nothing", "another class", "0"]] : worst.map { [labels[$0.truth], labels[$0.answer], "\($0.count)"] }),
    ]
  }

  public func mistakes(of contender: Int) -> [EvaluationMistake] {
    let images = results[contender].images
    let shares = images.indices.compactMap { index in images[index].meanOverTrueClasses.map { (index, $0) } }
    return shares.filter { $0.1 < 1 }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map { index, share in
      EvaluationMistake(
        example: index, caption: "mean IoU \(HumanReadable.percent(share))", answers: Self.parts(images[index], labels))
    }
  }

  /// Returns the most frequent confusions of an image's pixels, the largest first.
  private static func parts(_ image: SegmentedImage, _ labels: [String]) -> [(name: String, figure: String)] {
    let total = Double(image.counts.values.reduce(0, +))
    return image.counts.filter { $0.key.truth != $0.key.answer }
      .sorted { ($1.value, $0.key.truth, $0.key.answer) < ($0.value, $1.key.truth, $1.key.answer) }.prefix(3)
      .map { pair, count in
        let answer = Int(pair.answer) < labels.count ? labels[Int(pair.answer)] : "no class of the data set"
        let truth = Int(pair.truth) < labels.count ? labels[Int(pair.truth)] : "class \(pair.truth)"
        return ("\(truth) as \(answer)", HumanReadable.percent(Double(count) / total))
      }
  }

  public func details(of contender: Int) -> any Encodable & Sendable {
    let result = results[contender]
    return [
      "meanIntersectionOverUnion": result.scores.meanIntersectionOverUnion, "interval": result.interval?.ends,
      "pixelAccuracy": result.scores.accuracy.share, "pixels": result.scores.accuracy.trials,
      "classes": overlaps(of: contender).map { one -> JSONObject in
        [
          "label": labels[one.label], "pixels": result.scores.pixelCount(of: one.label),
          "intersectionOverUnion": one.share,
        ]
      },
    ] as JSONObject
  }
}

/// An image with the correct class of each pixel.
public struct SegmentationQuestion: Sendable {
  /// The decoded image.
  public let image: DecodedImage
  let truth: [UInt8]
}

extension SegmentationRequest: EvaluatedRequest {
  /// Segments an image and discards the result.
  public func answer(_ question: SegmentationQuestion) throws(VisionError) {
    _ = try segment(question.image.pixels, orientation: question.image.orientation)
  }

  /// The names of the classes; empty where the model does not name them.
  var labels: [String] { segmenter.classes.names }

  /// Returns the label of a class.
  func label(_ index: Int) -> String { segmenter.classes.label(index) }
}
