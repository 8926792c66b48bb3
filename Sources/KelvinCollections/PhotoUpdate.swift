/// Options for updating an index.
public struct PhotoUpdateOptions: Hashable, Sendable {
  /// The number of images that are processed concurrently. If nil, it is one per processor, plus one if the model runs
  /// on another device.
  public var workerCount: Int?
  /// Whether symbolic links are followed, which may lead out of the folder.
  public var followsLinks = false
  /// Whether an index of another model or other settings is emptied first. Otherwise such an index is an error.
  public var rebuilds = false

  /// Creates the default options.
  public init() {}
}

/// An event during an update of an index.
public enum PhotoUpdateEvent: Hashable, Sendable {
  /// The folder is being scanned; `found` images have been found so far.
  case looking(found: Int)
  /// The update waits for another process that updates the index. Its process identifier, where known.
  case waiting(process: Int?)
  /// One more image is done.
  case progress(PhotoUpdateProgress)
  /// A file or folder could not be read. The path is relative to the index's folder.
  case fault(path: String, reason: String)
}

/// The progress of an update.
public struct PhotoUpdateProgress: Hashable, Sendable {
  /// The number of new and changed images that are done.
  public let done: Int
  /// The number of new and changed images.
  public let total: Int
  /// The average number of images per second so far; 0 before the first.
  public let rate: Double
  /// The estimated remaining time; nil where unknown.
  public let timeLeft: Duration?
  /// The path of the last finished image, relative to the index's folder.
  public let path: String
}

/// The result of an update.
public struct PhotoUpdate: Hashable, Sendable {
  /// The number of images on which the model was run.
  public internal(set) var seen = 0
  /// The number of unchanged images.
  public internal(set) var unchanged = 0
  /// The number of files that were moved, copied or only touched, recognized by their content.
  public internal(set) var recognized = 0
  /// The number of images that were removed from the index.
  public internal(set) var dropped = 0
  /// The number of files and folders that could not be read, including earlier ones.
  public internal(set) var unreadable = 0
  /// Whether the update finished; false where the task was cancelled.
  public internal(set) var isComplete = false
  /// The duration.
  public internal(set) var duration = Duration.zero
}
