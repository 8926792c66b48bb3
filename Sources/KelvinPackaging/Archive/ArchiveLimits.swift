/// The limits of an archive from an untrusted source.
package struct ArchiveLimits: Sendable {
  /// The largest number of files and folders.
  package var entries = 10_000
  /// The largest number of bytes after decompression.
  package var bytes = 64 << 30
  /// The largest multiple of the archive's own size, beyond `freeBytes`.
  package var ratio = 200
  /// The number of bytes after decompression that have no limit of ratio.
  package var freeBytes = 64 << 20

  package init() {}

  package static let standard = ArchiveLimits()
}
