public import Kelvin
import KelvinBasics
import KelvinEvaluation
public import KelvinVision

extension RegressionEvaluation {
  public static var task: String { "regression" }
  public static var exampleName: String { "row" }
  public static var measures: [EvaluationMeasure] {
    [
      .error("MAE"), .error("RMSE"), .error("Largest"),
      EvaluationMeasure(name: "R²", unit: .number, isBetterWhenLarger: true),
    ]
  }

  public static func request(
    for model: Model, _ options: EvaluationOptions
  ) throws(VisionError) -> RegressionRequest {
    var request = try RegressionRequest(model: model, output: options.output, normalization: options.normalization)
    request.cropAndScaleAction = options.cropAndScale ?? request.cropAndScaleAction
    return request
  }

  public static func question(of example: RegressionTable.Row) throws(VisionError) -> RegressionRequest.Question {
    var images: [String: DecodedImage] = [:]
    for (column, path) in example.images {
      do throws(ImageError) { images[column] = try ImageCodec.decode(path: path) } catch { throw .image(error) }
    }
    return RegressionRequest.Question(row: example.cells, images: images)
  }

  public func image(of example: Int, by contender: Int) throws(VisionError) -> PixelBuffer? {
    guard let path = examples[example].images.values.min() else { return nil }
    do throws(ImageError) {
      let image = try ImageCodec.decode(path: path)
      return try image.pixels.oriented(image.orientation)
    } catch { throw .image(error) }
  }

  public var subject: String {
    let (least, most) = (truths.min() ?? 0, truths.max() ?? 0)
    return "\(counted(examples.count)), '\(target)' from \(HumanReadable.significant(least)) to "
      + HumanReadable.significant(most)
  }

  public func figures(of contender: Int) -> [Double?] {
    let errors = results[contender].errors
    return [errors?.meanAbsolute, errors?.rootMeanSquare, errors?.largest, errors?.determination]
  }

  public func interval(of contender: Int) -> ClosedRange<Double>? { results[contender].interval }

  public func notes(on contender: Int) -> [String] {
    guard let worst = mistakes(of: contender).first else { return [] }
    return ["\(results[contender].name) is worst at \(examples[worst.example].name): \(worst.caption)"]
  }

  public func sections(on contender: Int) -> [EvaluationSection] {
    let worst = mistakes(of: contender).prefix(20).map { mistake in
      [examples[mistake.example].name] + mistake.answers.map(\.figure)
    }
    return [
      .scatter(
        title: "Answers against the right values",
        zip(truths, results[contender].answers).map { (truth: $0, answer: $1) }),
      .table(title: "The worst rows", columns: ["Row", "Right", "Answer", "Off by"], rows: worst),
    ]
  }

  public func mistakes(of contender: Int) -> [EvaluationMistake] {
    let result = results[contender]
    func size(_ row: Int) -> Double { result.distances[row].isNaN ? .infinity : result.distances[row] }
    return result.distances.indices.filter { size($0) > 0 }.sorted { (size($1), $0) < (size($0), $1) }.map { row in
      let figures = [truths[row], result.answers[row], result.distances[row]].map(HumanReadable.significant)
      return EvaluationMistake(
        example: row, caption: "off by \(figures[2])",
        answers: [("right", figures[0]), ("answer", figures[1]), ("off by", figures[2])])
    }
  }

  public func details(of contender: Int) -> any Encodable & Sendable {
    let result = results[contender]
    return [
      "target": target, "meanAbsoluteError": result.errors?.meanAbsolute, "interval": result.interval?.ends,
      "rootMeanSquareError": result.errors?.rootMeanSquare, "largestError": result.errors?.largest,
      "determination": result.errors?.determination,
    ] as JSONObject
  }
}
