import Glibc
package import KelvinBasics
package import KelvinIsolation

extension ImageCodec {
  /// Decodes the image in an open file in a worker, with the errors of `decode(_:orientation:maximumPixels:)` and those
  /// of workers.
  package static func decode(
    _ file: OpenFile, in pool: WorkerPool, orientation: ImageOrientation? = nil, maximumPixels: Int = maximumPixels
  ) throws(ImageError) -> DecodedImage {
    try withExtendedLifetime(file) { () throws(ImageError) in
      try decode(
        descriptor: file.descriptor, name: file.path, in: pool, orientation: orientation, maximumPixels: maximumPixels)
    }
  }

  /// Decodes an image in a worker. The worker is untrusted: only an image of the size that it names is taken from it.
  private static func decode(
    descriptor: Int32, name: String, in pool: WorkerPool, orientation: ImageOrientation?, maximumPixels: Int
  ) throws(ImageError) -> DecodedImage {
    let request = WorkerMessage(
      ["image", orientation.map { "\($0.rawValue)" } ?? "", "\(maximumPixels)"], descriptor: descriptor)
    var answers = WorkerImageAnswers(name: name, maximumPixels: maximumPixels)
    let result: Result<DecodedImage, ImageError>
    do throws(WorkerFailure) {
      result = try pool.run(request) { (message) throws(WorkerFailure) in try answers.take(message) }
    } catch { throw ImageError(error, name) }
    return try result.get()
  }

  /// Decodes an image in a worker, from a copy of its bytes.
  static func decodeInWorker(
    _ bytes: UnsafeRawBufferPointer, name: String, orientation: ImageOrientation?, maximumPixels: Int
  ) throws(ImageError) -> DecodedImage {
    guard !bytes.isEmpty else { throw ImageError(.corrupt, name, "the file is empty") }
    let file: SealedFile
    do throws(WorkerFailure) { file = try SealedFile(copying: bytes) } catch { throw ImageError(error, name) }
    return try withExtendedLifetime(file) { () throws(ImageError) in
      try decode(
        descriptor: file.descriptor, name: name, in: .standard, orientation: orientation, maximumPixels: maximumPixels)
    }
  }

  /// Decodes an image for the parent of this process, which is a worker.
  package static func decode(for parent: WorkerService, _ request: WorkerMessage) {
    do throws(ImageError) {
      let file: OpenFile
      do throws(FileError) { file = try OpenFile(descriptor: request.descriptor, path: "") } catch {
        throw ImageError(.unreadable, "", "cannot \(error.action) it: \(error.reason)")
      }
      let orientation = Int(request[1]).flatMap { ImageOrientation(rawValue: $0) }
      let image = try decode(file, orientation: orientation, maximumPixels: Int(request[2]) ?? maximumPixels)
      try hand(image, to: parent)
    } catch { parent.send(.failed(error.code.rawValue, error.reason, error.remedy)) }
  }

  /// Writes the pixels into memory that the parent provides.
  private static func hand(_ image: DecodedImage, to parent: WorkerService) throws(ImageError) {
    parent.send(
      WorkerMessage(["pixels", "\(image.pixels.width)", "\(image.pixels.height)", "\(image.orientation.rawValue)"]))
    let memory = parent.receive().descriptor
    defer { close(memory) }
    let bytes = image.pixels.bytes
    guard let target = mmap(nil, bytes.count, PROT_WRITE, MAP_SHARED, memory, 0), target != MAP_FAILED else {
      let reason = String(cString: strerror(errno))
      throw ImageError(.unreadable, "", "the memory for its pixels cannot be mapped: \(reason)")
    }
    bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: target, count: bytes.count).copyMemory(from: $0) }
    munmap(target, bytes.count)
    parent.send(WorkerMessage(["done"]))
  }
}

/// The answers of a worker that decodes an image. They are untrusted.
package struct WorkerImageAnswers {
  private let name: String
  private let maximumPixels: Int
  private var target: WorkerImage?

  package init(name: String, maximumPixels: Int) { (self.name, self.maximumPixels) = (name, maximumPixels) }

  /// - Throws: `WorkerFailure` for an answer that does not follow from the request.
  package mutating func take(
    _ message: WorkerMessage
  ) throws(WorkerFailure) -> WorkerStep<Result<DecodedImage, ImageError>> {
    switch message[0] {
    case "pixels":
      let image = try WorkerImage(message, maximumPixels)
      target = image
      return .reply(WorkerMessage(["memory"], descriptor: image.memory.descriptor))
    case "done":
      guard let image = target else { throw .invalidAnswer }
      return .result(.success(try image.decoded()))
    case "failed":
      let code = ImageError.Code(rawValue: message[1]) ?? .corrupt
      return .result(.failure(ImageError(code, name, message[2], remedy: message.optional(3))))
    default: throw .invalidAnswer
    }
  }
}

/// The image that a worker announced, with the memory for its pixels.
private struct WorkerImage {
  let memory: SealedFile
  private let width: Int
  private let height: Int
  private let orientation: ImageOrientation

  /// - Throws: `WorkerFailure` for a size that is not positive, or above the limit.
  init(_ message: WorkerMessage, _ maximumPixels: Int) throws(WorkerFailure) {
    guard let width = Int(message[1]), let height = Int(message[2]), width > 0, height > 0,
      width <= maximumPixels / height, let orientation = Int(message[3]).flatMap({ ImageOrientation(rawValue: $0) })
    else { throw .invalidAnswer }
    (self.width, self.height, self.orientation) = (width, height, orientation)
    memory = try SealedFile(byteCount: width * height * PixelFormat.rgb8.channelCount)
  }

  func decoded() throws(WorkerFailure) -> DecodedImage {
    let bytes = try memory.bytes(width * height * PixelFormat.rgb8.channelCount)
    return DecodedImage(
      pixels: PixelBuffer(trusted: bytes, width: width, height: height, format: .rgb8), orientation: orientation)
  }
}

extension ImageError {
  /// Describes a failure of a worker that decoded an image.
  init(_ failure: WorkerFailure, _ name: String) {
    let code: Code =
      switch failure.kind {
      case .unavailable: .decoderMissing
      case .crashed, .invalidAnswer: .corrupt
      case .limit: .tooLarge
      }
    self.init(code, name, failure.reason, remedy: failure.remedy)
  }
}
