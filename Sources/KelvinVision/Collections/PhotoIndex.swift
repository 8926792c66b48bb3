#if Collections
public import FoundationEssentials
import Kelvin
import KelvinEngine
import KelvinIndex

/// The images of a folder and those below it as a model sees them, in one SQLite file that outlives the process: found
/// by the words of their labels, by likeness to an image, or as near-duplicates.
///
/// ```swift
/// let index = PhotoIndex(folder: URL(filePath: "Images"))
/// try await index.update(with: PhotoModel(model: model))
/// for match in try index.search(PhotoQuery("otter OR badger")).matches { print(match.path, match.labels[0]) }
/// ```
///
/// Any number of processes read an index, also while one fills it. The file's format is public (docs/index-format.md).
public struct PhotoIndex: Sendable {
  /// The folder.
  public let folder: URL
  /// The index.
  public let url: URL

  let file: IndexFile

  /// The index of a folder, which need not be there yet.
  ///
  /// - Parameters:
  ///   - folder: whose images it holds, with those below it.
  ///   - url: the index; `.kelvin-index.sqlite` inside the folder where nil.
  public init(folder: URL, url: URL? = nil) {
    self.folder = folder
    file = IndexFile(folder: folder.relativePath, path: url?.relativePath)
    self.url = url ?? URL(filePath: file.path)
  }

  /// Brings the index up to date with the folder: new and changed images are seen by the model, files that were moved
  /// or copied are recognised by their contents, and what is gone is dropped.
  ///
  /// An image that cannot be read is an event and never the end. Cancelling the task ends the work between two
  /// images; what was done is kept, and the next update goes on from there.
  ///
  /// - Parameters:
  ///   - model: what sees the images.
  ///   - options: how.
  ///   - listener: told what happens, from any thread.
  /// - Throws: `VisionError`: `index` where the file cannot be used or holds what another model saw; `prediction` where
  ///   the model fails; `image` where no images can be decoded at all.
  @discardableResult
  public func update(
    with model: PhotoModel, options: PhotoUpdateOptions = PhotoUpdateOptions(),
    listener: @escaping @Sendable (PhotoUpdateEvent) -> Void = { _ in }
  ) async throws(VisionError) -> PhotoUpdate {
    let file = file
    return try await unblocked { (cancellation) throws(VisionError) in
      try IndexingRun.update(file, model, options, listener, cancellation)
    }
  }

  /// Opens the index as it is now.
  func reader() throws(VisionError) -> IndexReader {
    try indexing { () throws(PhotoIndexError) in try IndexReader(file) }
  }
}

/// Gives what fails in an index the form of what fails with images.
func indexing<Result>(_ body: () throws(PhotoIndexError) -> Result) throws(VisionError) -> Result {
  do throws(PhotoIndexError) { return try body() } catch { throw .index(error) }
}
#endif
