import CKelvinSupport
import Glibc
import KelvinBasics
import KelvinEngine
import KelvinImages
import KelvinImport
import KelvinIsolation

extension FuzzTarget {
  /// The messages between a worker and its parent. A message ends at the byte 0xFF, which UTF-8 does not contain.
  static let worker = [
    // The parent's messages. The first byte of each chooses its descriptor.
    FuzzTarget("requests", WorkerRefusal.self, longest: 256, seeds: Seeds.requests) { bytes in
      var sockets: [Int32] = [-1, -1]
      precondition(ck_worker_sockets(&sockets) == 0)
      defer { sockets.forEach { close($0) } }
      for message in bytes.split(separator: 0xFF) {
        let descriptor = SentFiles.open(message[message.startIndex])
        _ = ck_worker_send(sockets[0], Array(message.dropFirst()), message.count - 1, descriptor)
        close(descriptor)
      }
      shutdown(sockets[0], Int32(SHUT_WR))
      answer(WorkerService(socket: sockets[1], ended: { WorkerMessage([]) }))
      try examine(sockets[0])
    },
    // The worker's messages. The first byte chooses the request that they answer, and whether links are followed.
    FuzzTarget("replies", WorkerRefusal.self, longest: 256, seeds: Seeds.replies) { bytes in
      let messages = bytes.dropFirst().split(separator: 0xFF).map { WorkerMessage($0, descriptor: -1) }
      guard let choice = bytes.first, choice % 3 > 0 else { return try imageAnswers(messages) }
      try modelAnswers(messages, allowsLinks: choice % 3 == 2)
    },
  ]

  /// Answers requests as a worker does, except for those that end or examine its process.
  private static func answer(_ service: WorkerService) {
    while case let request = service.receive(), !request.fields.isEmpty {
      switch request[0] {
      case "image": ImageCodec.decode(for: service, request)
      case "model":
        readModel(for: service, request)
        fallthrough
      default: close(request.descriptor)
      }
    }
  }

  /// Reads a worker's messages.
  private static func examine(_ socket: Int32) throws(WorkerRefusal) {
    var (buffer, count, last) = ([UInt8](repeating: 0, count: 1 << 16), 0, WorkerMessage([]))
    repeat {
      count = ck_worker_receive(socket, &buffer, buffer.count, nil, 0)
      if count > 0 { last = WorkerMessage(buffer.prefix(count), descriptor: -1) }
    } while count > 0
    if last[0] == "failed" { throw WorkerRefusal(description: last.fields.dropFirst().joined(separator: " ")) }
    guard last[0] == "done" else { throw WorkerRefusal(description: "no request") }
  }

  private static func imageAnswers(_ messages: [WorkerMessage]) throws {
    var answers = WorkerImageAnswers(name: "image", maximumPixels: 1 << 12)
    let image = try result(messages) { message throws(WorkerFailure) in try answers.take(message) }
    do { _ = try image.get() } catch { throw WorkerRefusal(description: error.description) }
  }

  private static func modelAnswers(_ messages: [WorkerMessage], allowsLinks: Bool) throws {
    let broker = ModelBroker(SentFiles.model, allowsLinks: allowsLinks)
    let failure = try result(messages) { message throws(WorkerFailure) in
      let step = try broker.take(message)
      if case .reply(let answer) = step { SentFiles.check(answer.descriptor, allowsLinks: allowsLinks) }
      return step
    }
    if let failure { throw WorkerRefusal(description: failure.description) }
  }

  /// The result that the parent takes from messages.
  private static func result<Result>(
    _ messages: [WorkerMessage], _ take: (WorkerMessage) throws(WorkerFailure) -> WorkerStep<Result>
  ) throws(WorkerRefusal) -> Result {
    do throws(WorkerFailure) {
      for message in messages {
        if case .result(let result) = try take(message) { return result }
      }
    } catch { throw WorkerRefusal(description: error.reason) }
    throw WorkerRefusal(description: "no result")
  }
}

/// The error in which a request ends.
private struct WorkerRefusal: Error, CustomStringConvertible {
  let description: String
}

/// The files that messages carry, or name.
private enum SentFiles {
  /// Larger than the pixels of every image here.
  private static let memoryBytes = 1 << 16
  private static let folder = MemoryFolder.path("broker")
  private static let outside = MemoryFolder.path("beside")

  /// A model beside another file and a link that leads out of its folder.
  static let model: String = {
    let path = "\(folder)/model.onnx"
    let tensor = SmallNetwork.tensor(type: 1, [2, 3], external: [(Array("location".utf8), Array("w.bin".utf8))])
    SmallNetwork.sum(withConstant: tensor).withUnsafeBytes { MemoryFolder.write($0, to: path) }
    [UInt8](repeating: 0, count: 24).withUnsafeBytes {
      MemoryFolder.write($0, to: "\(folder)/w.bin")
      MemoryFolder.write($0, to: "\(outside)/w.bin")
    }
    MemoryFolder.link("\(folder)/out.bin", to: "\(outside)/w.bin")
    MemoryFolder.link("\(folder)/out", to: outside)
    return path
  }()

  /// A descriptor that the caller closes; -1 for none.
  static func open(_ choice: UInt8) -> Int32 {
    switch choice {
    case 1: Glibc.open("\(Seeds.root)/Tests/Images/files/color.bmp", O_RDONLY)
    case 2: ck_sealed_file(nil, memoryBytes)
    case 3: Glibc.open(model, O_RDONLY)
    case 4: Glibc.open("\(folder)/w.bin", O_RDONLY)
    case 5: Glibc.open(folder, O_RDONLY | O_DIRECTORY)
    case 6: Glibc.open("\(Seeds.root)/Tests/Images/files/bits1.bmp", O_RDONLY)
    default: -1
    }
  }

  /// Checks that a file that may be read is not outside the folder.
  static func check(_ descriptor: Int32, allowsLinks: Bool) {
    guard descriptor >= 0, !allowsLinks, fcntl(descriptor, F_GETFL) & FileBrokers.pathOnly == 0 else { return }
    var (opened, other) = (stat(), stat())
    precondition(fstat(descriptor, &opened) == 0)
    for path in [outside, "\(outside)/w.bin"] where stat(path, &other) == 0 {
      precondition(opened.st_ino != other.st_ino || opened.st_dev != other.st_dev, "'\(path)' was opened")
    }
  }
}

extension Seeds {
  /// Messages, each with a first byte for its descriptor.
  private static func messages(_ messages: (first: UInt8?, fields: [String])...) -> [UInt8] {
    Array(
      messages.map { ($0.first.map { [$0] } ?? []) + Array($0.fields.joined(separator: "\0").utf8) }
        .joined(separator: [0xFF]))
  }

  fileprivate static var requests: [[UInt8]] {
    [
      messages((1, ["image", "", "4096"]), (2, ["memory"])), messages((6, ["image", "6", "100"]), (2, ["memory"])),
      messages((0, ["model", SentFiles.model, "false"]), (3, ["file"]), (3, ["file"]), (4, ["file"]), (4, ["file"])),
      messages((0, ["model", SentFiles.model, "true"]), (0, ["system", "2"]), (0, ["link", "a", "b"])),
      messages((0, ["model", "/model.mlpackage", "false"]), (5, ["file"]), (0, ["folder", "20"])),
    ]
  }

  fileprivate static var replies: [[UInt8]] {
    let folder = SentFiles.model.parentPath
    let open = ["open", SentFiles.model, "", "", "0", "true"]
    return [
      [0] + messages((nil, ["pixels", "8", "4", "1"]), (nil, ["done"])),
      [0] + messages((nil, ["failed", "corrupt", "it is damaged", "copy it again"])),
      [1] + messages((nil, open), (nil, ["open", "w.bin", "below", folder, "0", "false"]), (nil, ["done"])),
      [2] + messages((nil, ["open", "out.bin", "below", folder, "0", "true"]), (nil, ["done"])),
      [1] + messages((nil, open), (nil, ["failed", "malformed", SentFiles.model, "node 'a'", "7", "odd", ""])),
    ]
  }
}
