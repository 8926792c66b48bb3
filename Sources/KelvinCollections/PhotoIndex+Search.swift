public import FoundationEssentials
public import Kelvin
import KelvinBasics
public import KelvinIndex
public import KelvinVision

/// The result of a search.
public struct PhotoSearchResult: Hashable, Sendable {
  /// The best matches, up to the query's limit.
  public let matches: [PhotoMatch]
  /// The number of all matches.
  public let count: Int
  /// The number of further images that satisfy the query but share no label with the given image, where the model gives
  /// no vectors to compare. 0 for a search without similarity.
  public let unrelatedCount: Int
}

extension PhotoIndex {
  /// Searches for images that satisfy a query: the most confident first, or the newest first where the query names no
  /// label.
  ///
  /// - Throws: `VisionError.index`: `absent`, `unusable`; `query` for a syntax error in the words; `notIndexed` where
  ///   precision or recall is required of a model without curves.
  public func search(_ query: PhotoQuery) throws(VisionError) -> PhotoSearchResult {
    try search(query, like: nil, in: try reader())
  }

  /// Searches for the images most similar to an image among those that satisfy a query.
  ///
  /// With vectors, scores are the cosine similarities, computed exactly over all images. Without vectors, images are
  /// compared by their class probabilities (Bhattacharyya coefficient over the labels that the index stores). Images
  /// that share no label are only counted.
  ///
  /// - Parameters:
  ///   - query: The query that matches must satisfy.
  ///   - image: Any file. An image of the index is recognized by its content; for any other image the model is run.
  ///   - model: Called where the image is not in the index, for a model with the index's settings.
  /// - Throws: Errors of `search(_:)`; `image` where the image cannot be read, `index` with `otherModel` where the
  ///   model differs from the index's.
  public func search(
    _ query: PhotoQuery, like image: URL, model: (PhotoIndex.Settings) throws(VisionError) -> PhotoModel
  ) throws(VisionError) -> PhotoSearchResult {
    let reader = try reader()
    return try search(query, like: try similarity(of: image.relativePath, in: reader, model), in: reader)
  }

  private func search(
    _ query: PhotoQuery, like similarity: Similarity?, in reader: IndexReader
  ) throws(VisionError) -> PhotoSearchResult {
    try indexing { () throws(PhotoIndexError) in
      var question = IndexReader.Question(limit: max(query.limit, 0))
      question.words = try query.words.map { words throws(PhotoIndexError) in try LabelQuery(words) }
      question.limits = query.filter.limits
      question.similarity = similarity
      // Clamped to the range of file times.
      question.since = query.since.map { Int64((min(max($0.timeIntervalSince1970, -9e9), 9e9) * 1e9).rounded(.up)) }
      let answer = try reader.search(question)
      return PhotoSearchResult(
        matches: answer.matches, count: answer.count, unrelatedCount: answer.unrelatedCount)
    }
  }

  private func similarity(
    of path: String, in reader: IndexReader, _ model: (PhotoIndex.Settings) throws(VisionError) -> PhotoModel
  ) throws(VisionError) -> Similarity {
    let open: OpenFile
    let content: [UInt8]
    do throws(FileError) {
      open = try OpenFile(path)
      content = try ContentDigest.digest(of: open)
    } catch { throw .image(ImageError(.unreadable, path, "cannot \(error.action) it: \(error.reason)")) }
    let known = try indexing { () throws(PhotoIndexError) in try reader.similarity(ofContent: content) }
    if let known { return known }
    let image: DecodedImage
    do throws(ImageError) { image = try ImageCodec.decode(open) } catch { throw .image(error) }
    let model = try model(Settings(reader.facts))
    guard model.facts.identity == reader.facts.identity else {
      throw .index(
        PhotoIndexError(
          .otherModel,
          "'\(file.path)' was made by the model \(reader.facts.modelName) (\(reader.facts.modelPath)), "
            + "not by \(model.facts.modelName) with these settings; name that model with --model"))
    }
    do throws(ModelError) {
      let seen = try model.look(at: image, nil)
      return seen.vector.map(Similarity.vector) ?? .labels(seen.classes)
    } catch { throw .prediction(error) }
  }

  /// Returns the most confident labels of the images with their counts, the most frequent first.
  ///
  /// - Throws: `VisionError.index` as `search(_:)` does.
  public func categories(_ filter: ConfidenceFilter = ConfidenceFilter()) throws(VisionError) -> [PhotoCategory] {
    let reader = try reader()
    return try indexing { () throws(PhotoIndexError) in try reader.categories(filter.limits) }
  }

  /// Returns groups of images that look almost the same, the largest first.
  ///
  /// - Parameter distance: The largest Hamming distance of two 64-bit perceptual hashes, 0…7.
  /// - Throws: `VisionError.index` as `search(_:)` does.
  public func duplicates(within distance: Int = 3) throws(VisionError) -> [PhotoDuplicates] {
    let reader = try reader()
    return try indexing { () throws(PhotoIndexError) in try reader.duplicates(within: distance) }
  }

  /// Returns the number of images in the index.
  ///
  /// - Throws: `VisionError.index` as `search(_:)` does.
  public func count() throws(VisionError) -> Int {
    let reader = try reader()
    return try indexing { () throws(PhotoIndexError) in try reader.count() }
  }

  /// Returns the files that could not be read, by their paths relative to the folder, with the reasons.
  ///
  /// - Throws: `VisionError.index` as `search(_:)` does.
  public func unreadableFiles() throws(VisionError) -> [(path: String, reason: String)] {
    let reader = try reader()
    return try indexing { () throws(PhotoIndexError) in try reader.unreadable() }
  }
}

extension PhotoIndex {
  /// The model and settings that an index was created with.
  public struct Settings: Hashable, Sendable {
    /// The file URL of the model at the time of indexing.
    public let model: URL
    /// The names of the classes, where they are not the model's own.
    public let labels: [String]?
    /// The normalization of pixels for a model whose input is a plain tensor.
    public let normalization: PixelNormalization?
    /// The name of the output with an image's vector.
    public let embedding: String?
    /// The method that fits an image to the model's input size.
    public let cropAndScaleAction: ImageCropAndScale

    init(_ facts: IndexFacts) {
      model = URL(filePath: facts.modelPath)
      labels = facts.settings["labels"]?.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      normalization = facts.settings["normalization"].flatMap(PixelNormalization.init(rawValue:))
      embedding = facts.settings["embedding"]
      cropAndScaleAction = facts.settings["crop"].flatMap(ImageCropAndScale.init(rawValue:)) ?? .centerCrop
    }
  }

  /// Returns the model and settings that the index was created with.
  ///
  /// - Throws: `VisionError.index` as `search(_:)` does.
  public func settings() throws(VisionError) -> Settings { Settings(try reader().facts) }
}
