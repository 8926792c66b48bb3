#if Collections
public import FoundationEssentials
public import Kelvin
import KelvinBasics
public import KelvinIndex

/// What a search found.
public struct PhotoSearchResult: Hashable, Sendable {
  /// The best first, as many as were wanted.
  public let matches: [PhotoMatch]
  /// How many there are.
  public let count: Int
  /// Of how many more all holds that a query says, but they share no label with the image they are to be like, and the model
  /// gives no vectors to compare them by. 0 where no likeness was asked.
  public let unrelatedCount: Int
}

extension PhotoIndex {
  /// The images of which all that a query says holds: the surest first, or the newest where it names no label.
  ///
  /// - Throws: `VisionError.index`: `absent`, `unusable`; `query` for words that are not put together as they must be;
  ///   `notIndexed` where precision or recall is asked of a model without curves.
  public func search(_ query: PhotoQuery) throws(VisionError) -> PhotoSearchResult {
    try search(query, like: nil, in: try reader())
  }

  /// The images that are most like one, of those of which all that a query says holds.
  ///
  /// Where the model gives vectors, scores are the cosines of their angles, exact over all of them; else images are
  /// compared by their classes' probabilities (Bhattacharyya's coefficient over the labels that the index keeps); those that share
  /// none are only counted.
  ///
  /// - Parameters:
  ///   - query: what has to hold of those that are found.
  ///   - image: a file anywhere. One of the index is known by its contents; any other is seen by the model.
  ///   - model: called where the image is not in the index, for a model with the index's settings.
  /// - Throws: as `search(_:)`; `image` where the image cannot be read, `index` with `otherModel` where the model is
  ///   another one.
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
      // Within the times that a file can have.
      question.since = query.since.map { Int64((min(max($0, -9e9), 9e9) * 1e9).rounded(.up)) }
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
    do throws(ImageError) { image = try ImageFile.decode(open) } catch { throw .image(error) }
    let model = try model(Settings(reader.facts))
    guard model.facts.identity == reader.facts.identity else {
      throw .index(
        PhotoIndexError(
          .otherModel,
          "'\(file.path)' holds what \(reader.facts.modelName) saw (\(reader.facts.modelPath)), "
            + "which \(model.facts.modelName) by these settings is not; name that model with --model"))
    }
    do throws(ModelError) {
      let seen = try model.look(at: image, nil)
      return seen.vector.map(Similarity.vector) ?? .labels(seen.classes)
    } catch { throw .prediction(error) }
  }

  /// Which labels images have as their surest, the most frequent first.
  ///
  /// - Throws: `VisionError.index` as `search(_:)` does.
  public func categories(_ filter: ConfidenceFilter = ConfidenceFilter()) throws(VisionError) -> [PhotoCategory] {
    let reader = try reader()
    return try indexing { () throws(PhotoIndexError) in try reader.categories(filter.limits) }
  }

  /// Groups of images that look almost the same, the largest first.
  ///
  /// - Parameter distance: bits of 64 in which perceptual hashes may differ, 0…7.
  /// - Throws: `VisionError.index` as `search(_:)` does.
  public func duplicates(within distance: Int = 3) throws(VisionError) -> [PhotoDuplicates] {
    let reader = try reader()
    return try indexing { () throws(PhotoIndexError) in try reader.duplicates(within: distance) }
  }

  /// How many images the index holds.
  ///
  /// - Throws: `VisionError.index` as `search(_:)` does.
  public func count() throws(VisionError) -> Int {
    let reader = try reader()
    return try indexing { () throws(PhotoIndexError) in try reader.count() }
  }

  /// Files that could not be read, with why, by their paths from the folder on.
  ///
  /// - Throws: `VisionError.index` as `search(_:)` does.
  public func unreadableFiles() throws(VisionError) -> [(path: String, reason: String)] {
    let reader = try reader()
    return try indexing { () throws(PhotoIndexError) in try reader.unreadable() }
  }
}

extension PhotoIndex {
  /// What the images of an index were seen by.
  public struct Settings: Hashable, Sendable {
    /// Where the model lay.
    public let model: URL
    /// The classes' names, where they are not the model's own.
    public let labels: [String]?
    /// How pixels enter it, where it does not say so itself.
    public let normalization: PixelNormalization?
    /// The output with an image's vector.
    public let embedding: String?
    /// How an image is brought to the model's size.
    public let cropAndScaleAction: ImageCropAndScale

    init(_ facts: IndexFacts) {
      model = URL(filePath: facts.modelPath)
      labels = facts.settings["labels"]?.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      normalization = facts.settings["normalization"].flatMap(PixelNormalization.init(rawValue:))
      embedding = facts.settings["embedding"]
      cropAndScaleAction = facts.settings["crop"].flatMap(ImageCropAndScale.init(rawValue:)) ?? .centerCrop
    }
  }

  /// What the images of the index were seen by.
  ///
  /// - Throws: `VisionError.index` as `search(_:)` does.
  public func settings() throws(VisionError) -> Settings { Settings(try reader().facts) }
}
#endif
