import Glibc

/// Work on a separate thread, for tests of concurrent work.
final class BackgroundThread {
  private var thread = pthread_t()

  init(_ body: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Work(body)).toOpaque()
    let status = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
        return nil
      }, context)
    precondition(status == 0, "no thread can be started")
  }

  func join() { pthread_join(thread, nil) }

  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
