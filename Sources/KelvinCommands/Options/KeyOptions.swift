import ArgumentParser
import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinPackaging
import Synchronization

/// The options that give the key of an encrypted model. A key is never an argument itself, because other users of the
/// machine can read arguments.
struct KeyOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The file with the key of an encrypted model: 32 bytes, or 64 hexadecimal digits.", valueName: "file"))
  var keyFile: String?

  @Option(help: ArgumentHelp("Read the key of an encrypted model from this open file descriptor.", valueName: "n"))
  var keyFd: Int32?

  @Option(
    help: ArgumentHelp(
      "The environment variable that has the key of an encrypted model, as hexadecimal digits.", valueName: "name"))
  var keyEnv: String?

  /// Whether one of the options is given.
  var isGiven: Bool { keyFile != nil || keyFd != nil || keyEnv != nil }

  func validate() throws {
    guard [keyFile != nil, keyFd != nil, keyEnv != nil].count(where: { $0 }) <= 1 else {
      throw ValidationError("give one of --key-file, --key-fd and --key-env, not several")
    }
    if let keyFd, keyFd < 0 { throw ValidationError("--key-fd \(keyFd) is not a file descriptor") }
  }

  /// Reads the key.
  ///
  /// - Throws: `InputError` if it cannot be read; `ModelError` if it is not a key.
  func key() throws -> ModelKey {
    if let keyFile { return try Self.named("'\(keyFile)'") { try ModelKey(try LocalFile.read(keyFile)) } }
    if let keyFd { return try Self.named("file descriptor \(keyFd)") { try ModelKey(try Self.read(keyFd)) } }
    guard let keyEnv else { throw InputError("no key is given; give it with --key-file, --key-fd or --key-env") }
    guard let text = getenv(keyEnv) else { throw InputError("the environment has no variable '\(keyEnv)'") }
    return try Self.named("$\(keyEnv)") { try ModelKey(Data(bytes: text, count: strlen(text))) }
  }

  private static func named(_ source: String, _ read: () throws -> ModelKey) throws -> ModelKey {
    do { return try read() } catch let error as ModelError where error.code == .parameters {
      throw InputError("\(source): \(error.description)")
    }
  }

  /// The most bytes that are read from a descriptor.
  private static let longest = 4096

  private static func read(_ descriptor: Int32) throws -> Data {
    var all = Data()
    var piece = [UInt8](repeating: 0, count: longest)
    while all.count <= longest {
      let count = Glibc.read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw InputError("file descriptor \(descriptor) cannot be read: \(String(cString: strerror(errno)))")
      }
      guard count > 0 else { break }
      all += piece.prefix(count)
    }
    return all
  }

  /// Lets this process load encrypted models by their paths. The key is read when the first is loaded.
  ///
  /// - Parameter options: the options of the command; nil for a command without them.
  static func openEncryptedModels(_ options: KeyOptions?) {
    let known = Mutex<ModelKey?>(nil)
    EncryptedModels.open { (url) throws(ModelError) in
      guard let options, options.isGiven else {
        let remedy =
          options == nil ? "this command cannot read it" : "give its key with --key-file, --key-fd or --key-env"
        throw ModelError(.parameters, "'\(url.relativePath)' is an encrypted model; \(remedy)")
      }
      return try known.withLock { (known) throws(ModelError) in
        if let known { return known }
        do {
          let key = try options.key()
          known = key
          return key
        } catch { throw ModelError(.parameters, "\(error)") }
      }
    }
  }
}

/// A command that loads models, which may be encrypted.
protocol KeyedCommand {
  var key: KeyOptions { get }
}

extension ModelCommand {
  var key: KeyOptions { options.key }
}
