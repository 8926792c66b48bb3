import Glibc
package import KelvinBasics
package import KelvinFeatures

/// An error in an archive, a manifest, a signature, a key or an encrypted model. `description` is one line.
package struct PackagingError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: Hashable, Sendable {
    /// The system refused a file, or it changed while it was read.
    case io
    /// The disk is full, or a limit of the size of files is reached.
    case noSpace
    /// An archive, a manifest or an encrypted model is damaged or cut short.
    case malformed
    /// The contents exceed a limit, or could harm: a path that leaves the folder, a link, a device.
    case refused
    /// The contents are of a kind or version that Kelvin does not read.
    case unsupported
    /// The library that decompresses Zstandard is missing.
    case libraryMissing
    /// A manifest has no such model or version.
    case absent
    /// A signature does not belong to the manifest and the key.
    case signature
    /// A manifest has expired by the clock of this machine.
    case expired
    /// A key is not valid, or it does not match.
    case key
    /// The folder has the same version of the model with other contents.
    case exists
  }

  package let code: Code
  package let description: String

  package init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description.printableMessage
  }

  package init(_ error: FileError) {
    self.init([ENOSPC, EDQUOT, EFBIG].contains(error.code) ? .noSpace : .io, error.description)
  }

  /// Runs work on files.
  static func wrapping<Value>(_ work: () throws(FileError) -> Value) throws(PackagingError) -> Value {
    do throws(FileError) { return try work() } catch { throw PackagingError(error) }
  }

  /// The error as the public interface throws it.
  package var modelError: ModelError {
    switch code {
    case .io, .malformed, .key, .signature, .absent, .expired, .exists, .refused: ModelError(.io, description)
    case .unsupported: ModelError(.unsupported, description)
    case .noSpace, .libraryMissing: ModelError(.io, description, fault: .own)
    }
  }
}
