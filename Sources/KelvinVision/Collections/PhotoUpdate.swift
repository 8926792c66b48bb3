#if Collections
/// How an index is brought up to date.
public struct PhotoUpdateOptions: Hashable, Sendable {
  /// Images that are decoded and predicted at a time; as many as the machine has processors where nil, and one more
  /// where the model runs on another device.
  public var workerCount: Int?
  /// Whether symbolic links are followed, which may lead out of the folder.
  public var followsLinks = false
  /// Whether an index of another model, or of other settings, is emptied first, which else is an error.
  public var rebuilds = false

  /// The usual ones.
  public init() {}
}

/// Something that happens while an index is brought up to date.
public enum PhotoUpdateEvent: Hashable, Sendable {
  /// The folder is looked through; so many images have been found.
  case looking(found: Int)
  /// Another process fills the index, and is waited for. Its number, where it says so.
  case waiting(process: Int?)
  /// One more image is done.
  case progress(PhotoUpdateProgress)
  /// A file or folder could not be read. Its path is from the folder of the index on.
  case fault(path: String, reason: String)
}

/// How far an update has come.
public struct PhotoUpdateProgress: Hashable, Sendable {
  /// New and changed images that are done.
  public let done: Int
  /// New and changed images there are.
  public let total: Int
  /// Images a second so far; 0 where none is done.
  public let rate: Double
  /// Seconds to the end at that rate; nil where it cannot be told.
  public let secondsLeft: Double?
  /// What was done last, from the folder of the index on.
  public let path: String
}

/// What an update did.
public struct PhotoUpdate: Hashable, Sendable {
  /// Images that the model saw.
  public internal(set) var seen = 0
  /// Images that had not changed.
  public internal(set) var unchanged = 0
  /// Files that were moved, copied or only touched: recognised by their contents.
  public internal(set) var recognized = 0
  /// Images that are gone.
  public internal(set) var dropped = 0
  /// Files and folders that could not be read, those known from before among them.
  public internal(set) var unreadable = 0
  /// Whether all was done, which it was not where the task was cancelled.
  public internal(set) var isComplete = false
  /// How long it took.
  public internal(set) var seconds = 0.0
}
#endif
