public import FoundationEssentials
import Kelvin
import KelvinEngine
import KelvinIndex
public import KelvinVision

/// An index of the images in a folder and its subfolders, stored in one SQLite file. Images are found by the words of
/// their labels, by similarity to an image, or as near-duplicates.
///
/// ```swift
/// let index = PhotoIndex(folder: URL(filePath: "Images"))
/// try await index.update(with: PhotoModel(model: model))
/// for match in try index.search(PhotoQuery("otter OR badger")).matches { print(match.path, match.labels[0]) }
/// ```
///
/// Any number of processes may read an index, even while another process updates it. The file format is public
/// (docs/index-format.md).
public struct PhotoIndex: Sendable {
  /// The folder with the images.
  public let folder: URL
  /// The file of the index.
  public let url: URL

  let file: IndexFile

  /// Creates a reference to the index of a folder. The index need not exist yet.
  ///
  /// - Parameters:
  ///   - folder: The folder whose images, including subfolders, are indexed.
  ///   - url: The file of the index; `.kelvin-index.sqlite` inside the folder where nil.
  public init(folder: URL, url: URL? = nil) {
    self.folder = folder
    file = IndexFile(folder: folder.relativePath, path: url?.relativePath)
    self.url = url ?? URL(filePath: file.path)
  }

  /// Updates the index to the folder's current content. The model is run on new and changed images, moved and copied
  /// files are recognized by their content, and deleted images are removed.
  ///
  /// An unreadable image is reported as an event and does not end the update. Cancelling the task ends the update
  /// between two images. Finished work is kept, and the next update continues from there.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - options: Options of the update.
  ///   - listener: Called with events, from any thread.
  /// - Throws: `VisionError`: `index` where the file cannot be used or was created with another model; `prediction`
  ///   where the model fails; `image` where no images can be decoded at all.
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

  /// Opens the index for reading.
  func reader() throws(VisionError) -> IndexReader {
    try indexing { () throws(PhotoIndexError) in try IndexReader(file) }
  }
}

/// Converts errors of an index to `VisionError`.
func indexing<Result>(_ body: () throws(PhotoIndexError) -> Result) throws(VisionError) -> Result {
  do throws(PhotoIndexError) { return try body() } catch { throw .index(error) }
}
