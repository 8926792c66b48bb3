@_exported public import Dispatch
@_exported public import Foundation

#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#endif

// Names of Core Foundation that programs for Core ML use, as Foundation's classes. Apple's modules export them.

/// A string of Core Foundation.
public typealias CFString = NSString
/// A dictionary of Core Foundation.
public typealias CFDictionary = NSDictionary
/// Bytes of Core Foundation.
public typealias CFData = NSData
/// A location of Core Foundation.
public typealias CFURL = NSURL
/// A number of Core Foundation.
public typealias CFNumber = NSNumber
/// A truth value of Core Foundation.
public typealias CFBoolean = NSNumber
/// A source of memory. Only ``kCFAllocatorDefault`` exists.
public typealias CFAllocator = NSObject
/// An object of Core Foundation.
public typealias CFTypeRef = AnyObject

/// The usual source of memory.
public nonisolated(unsafe) let kCFAllocatorDefault: CFAllocator? = nil
/// The value true.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
/// The value false.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

/// A code of four characters, or a small number.
public typealias OSType = UInt32
/// A code of four characters.
public typealias FourCharCode = UInt32
/// The result of a function; 0 for success.
public typealias OSStatus = Int32

/// A point in time, in seconds since the beginning of 2001.
public typealias CFAbsoluteTime = Double
/// A duration in seconds.
public typealias CFTimeInterval = Double

/// Returns the current time.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date().timeIntervalSinceReferenceDate }

/// Returns the result of `body`. On Linux objects are released when their last reference ends, so that no pool exists.
public func autoreleasepool<Result, Failure: Error>(
  invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  try body()
}
