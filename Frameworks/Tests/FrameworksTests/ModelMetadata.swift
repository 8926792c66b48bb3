import Foundation

/// Writes custom metadata into the specification of a model, a protobuf message.
enum ModelMetadata {
  /// Returns a specification with one more custom entry: field 100 of the metadata, field 100 of the description,
  /// field 2 of the model.
  static func adding(_ key: String, _ value: String, to model: Data) -> Data {
    let entry = field(1, Data(key.utf8)) + field(2, Data(value.utf8))
    return appending(field(100, entry), at: [2, 100][...], of: model)
  }

  private static func appending(_ addition: Data, at path: ArraySlice<UInt64>, of message: Data) -> Data {
    guard let next = path.first else { return message + addition }
    var (result, at, isDone) = (Data(), message.startIndex, false)
    while at < message.endIndex {
      let start = at
      let tag = varint(message, &at)
      switch tag & 7 {
      case 0: _ = varint(message, &at)
      case 1: at += 8
      case 5: at += 4
      default:
        let end = Int(varint(message, &at)) + at
        if tag >> 3 == next, !isDone {
          isDone = true
          result += field(next, appending(addition, at: path.dropFirst(), of: message[at..<end]))
          at = end
          continue
        }
        at = end
      }
      result += message[start..<at]
    }
    return isDone ? result : result + field(next, appending(addition, at: path.dropFirst(), of: Data()))
  }

  private static func varint(_ data: Data, _ at: inout Int) -> UInt64 {
    var (value, shift) = (UInt64(0), UInt64(0))
    while true {
      let byte = data[at]
      at += 1
      value |= UInt64(byte & 127) << shift
      if byte < 128 { return value }
      shift += 7
    }
  }

  private static func field(_ number: UInt64, _ payload: Data) -> Data {
    varint(number << 3 | 2) + varint(UInt64(payload.count)) + payload
  }

  private static func varint(_ value: UInt64) -> Data {
    var (rest, bytes) = (value, Data())
    while rest >= 128 {
      bytes.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
    return bytes
  }
}
