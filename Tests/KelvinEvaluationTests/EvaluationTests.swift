import KelvinEvaluation
import KelvinHostOperations
import Testing

/// Scores against those of scikit-learn, pycocotools and other established programs.
@Suite struct EvaluationTests {
  private func isClose(_ value: Double?, _ expected: Double) -> Bool {
    value.map { abs($0 - expected) < 1e-12 } ?? false
  }

  @Test func averagePrecisionMatchesPycocotools() throws {
    let vectors = try EvaluationVectors.read()
    let images = vectors.images.map(\.evaluated)
    let expected = vectors.detection
    let found = AveragePrecision(images)
    #expect(isClose(found.mean, expected.mean))
    #expect(isClose(found.atHalf, expected.atHalf))
    #expect(isClose(found.atThreeQuarters, expected.atThreeQuarters))
    #expect(isClose(found.recall, expected.recall))
    #expect(Set(found.byClass.keys.map(String.init)) == Set(expected.byClass.keys))
    for (label, share) in found.byClass { #expect(isClose(share, expected.byClass["\(label)"] ?? -1)) }
    #expect(isClose(AveragePrecision(images, size: .small).mean, expected.small))
    #expect(isClose(AveragePrecision(images, size: .medium).mean, expected.medium))
    #expect(isClose(AveragePrecision(images, size: .large).mean, expected.large))
  }

  @Test func emptyGroundTruthHasNoPrecision() {
    let box = EvaluatedBox(x: 0, y: 0, width: 1, height: 1)
    let images = [DetectedImage(detections: [.init(label: 0, confidence: 1, box: box)], truths: [])]
    #expect(AveragePrecision(images).mean == nil)
    let crowd = DetectedImage(detections: [], truths: [.init(label: 0, box: box, isCrowd: true)])
    #expect(AveragePrecision([crowd]).mean == nil)
  }

  @Test func classificationScoresMatchScikitLearn() throws {
    let expected = try EvaluationVectors.read().classification
    let scores = ClassificationScores(expected.images)
    #expect(isClose(scores.top1.share, expected.top1))
    #expect(isClose(scores.top5.share, expected.top5))
    #expect(isClose(scores.balancedAccuracy, expected.balanced))
    for one in scores.classes {
      #expect(isClose(one.precision.share, expected.precision[one.label]))
      #expect(isClose(one.recall.share, expected.recall[one.label]))
    }
    for one in scores.confusions { #expect(expected.confusion[one.truth][one.answer] == one.count) }
    let wrong = expected.confusion.indices.reduce(0) { sum, row in
      sum + expected.confusion[row].reduce(0, +) - expected.confusion[row][row]
    }
    #expect(scores.confusions.reduce(0) { $0 + $1.count } == wrong)
    #expect(scores.confusions.map(\.count) == scores.confusions.map(\.count).sorted(by: >))
  }

  @Test func curvesMatchScikitLearn() throws {
    let expected = try EvaluationVectors.read().classification
    let curve = try #require(PrecisionRecallCurve(of: 2, in: expected.images))
    #expect((60...101).contains(curve.precision.count))
    for (precision, recall) in zip(curve.precision, curve.recall) {
      let place = try #require(expected.curve.thresholds.firstIndex(of: precision.threshold))
      #expect(abs(Double(precision.value) - expected.curve.precision[place]) < 1e-6)
      #expect(abs(Double(recall.value) - expected.curve.recall[place]) < 1e-6)
    }
    #expect(curve.recall.first?.value == 1)
  }

  @Test func proportionIntervalsMatchStatsmodels() throws {
    for one in try EvaluationVectors.read().proportions {
      let interval = Proportion(one.hits, of: one.trials).interval
      #expect(abs(interval.lowerBound - one.interval[0]) < 1e-9)
      #expect(abs(interval.upperBound - one.interval[1]) < 1e-9)
    }
    #expect(Proportion(0, of: 0).interval == 0...1)
    #expect(Proportion(0, of: 0).share == nil)
  }

  @Test func mcNemarTestMatchesSciPy() throws {
    for one in try EvaluationVectors.read().mcnemar {
      var pairs = PairedProportions()
      (pairs.onlyFirst, pairs.onlySecond) = (one.onlyFirst, one.onlySecond)
      #expect(abs(pairs.probability - one.probability) < 1e-10)
    }
  }

  /// Example 1 of Newcombe 1998, method 10.
  @Test func pairedIntervalMatchesThePublishedExample() {
    var pairs = PairedProportions()
    (pairs.both, pairs.onlySecond, pairs.onlyFirst) = (36, 12, 2)
    #expect(isClose(pairs.difference, 0.2))
    #expect(abs(pairs.interval.lowerBound - 0.0569) < 5e-5)
    #expect(abs(pairs.interval.upperBound - 0.3404) < 5e-5)
    let interval = pairs.interval
    (pairs.onlySecond, pairs.onlyFirst) = (2, 12)
    #expect(abs(pairs.interval.lowerBound + interval.upperBound) < 1e-12)
    #expect(abs(pairs.interval.upperBound + interval.lowerBound) < 1e-12)
    #expect(PairedProportions().interval == -1...1)
  }

  @Test func calibrationErrorIsTheMeanBinDistance() {
    let answers = [(0.95, true), (0.95, true), (0.97, false), (0.5, true), (0.5, false), (1.0, true), (0.0, false)]
    let calibration = Calibration(answers.map { (confidence: $0.0, isRight: $0.1) })
    // The last bin holds the first three and the one of 1; 0.5 lies in the eighth; 0 in the first.
    #expect(calibration.bins.map(\.right.trials).filter { $0 > 0 } == [1, 2, 4])
    let last = abs((0.95 + 0.95 + 0.97 + 1) / 4 - 0.75) * 4
    #expect(isClose(calibration.expectedError, last / 7))
    #expect(Calibration([]).expectedError == nil)
  }

  @Test func segmentationCountsPixels() {
    var scores = SegmentationScores(classCount: 3)
    scores.add(truth: [0, 0, 1, 1, 2, 255], answer: [0, 1, 1, 1, 7, 0])
    #expect(isClose(scores.intersectionOverUnion(of: 0), 1.0 / 2))
    #expect(isClose(scores.intersectionOverUnion(of: 1), 2.0 / 3))
    #expect(isClose(scores.intersectionOverUnion(of: 2), 0))
    #expect(isClose(scores.meanIntersectionOverUnion, (1.0 / 2 + 2.0 / 3) / 3))
    #expect(scores.accuracy == Proportion(3, of: 5))
  }

  @Test func regressionErrorsMatchTheirDefinitions() throws {
    let errors = try #require(RegressionErrors([(1, 2), (2, 2), (3, 1)]))
    #expect(isClose(errors.meanAbsolute, 1))
    #expect(isClose(errors.rootMeanSquare, (5.0 / 3).squareRoot()))
    #expect(errors.largest == 2)
    #expect(isClose(errors.determination, 1 - 5.0 / 2))
    #expect(RegressionErrors([]) == nil)
    #expect(RegressionErrors([(1, 1), (1, 2)])?.determination == nil)
  }
}
