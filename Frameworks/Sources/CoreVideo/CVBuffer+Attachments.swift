/// Whether an attachment passes to buffers that are made from a buffer.
public enum CVAttachmentMode: UInt32, Sendable {
  /// It does not.
  case shouldNotPropagate = 0
  /// It does.
  case shouldPropagate = 1
}

/// Attaches a value to a buffer. Only ``kCVImageBufferYCbCrMatrixKey`` has an effect.
public func CVBufferSetAttachment(
  _ buffer: CVBuffer, _ key: CFString, _ value: CFTypeRef, _ attachmentMode: CVAttachmentMode
) {
  buffer.attachments["\(key)"] = (value: value, mode: attachmentMode)
}

/// Returns an attached value; nil if there is none.
public func CVBufferCopyAttachment(
  _ buffer: CVBuffer, _ key: CFString, _ attachmentMode: UnsafeMutablePointer<CVAttachmentMode>?
) -> CFTypeRef? {
  guard let attachment = buffer.attachments["\(key)"] else { return nil }
  attachmentMode?.pointee = attachment.mode
  return attachment.value
}

/// Removes an attached value.
public func CVBufferRemoveAttachment(_ buffer: CVBuffer, _ key: CFString) {
  buffer.attachments["\(key)"] = nil
}

/// Removes all attached values.
public func CVBufferRemoveAllAttachments(_ buffer: CVBuffer) { buffer.attachments = [:] }

/// Copies the attachments that propagate.
public func CVBufferPropagateAttachments(_ sourceBuffer: CVBuffer, _ destinationBuffer: CVBuffer) {
  for (key, attachment) in sourceBuffer.attachments where attachment.mode == .shouldPropagate {
    destinationBuffer.attachments[key] = attachment
  }
}
