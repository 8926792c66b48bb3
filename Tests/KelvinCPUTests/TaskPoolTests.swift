import CKelvinKernels
import Glibc
import Synchronization
import TestSupport
import Testing

/// Marks, one byte an item, that a task leaves behind.
private final class Marks: @unchecked Sendable {
  let items: UnsafeMutableBufferPointer<UInt8>
  init(_ count: Int) {
    items = .allocate(capacity: count)
    items.initialize(repeating: 0)
  }
  deinit { items.deallocate() }

  var areAll: (UInt8) -> Bool { { [items] mark in items.allSatisfy { $0 == mark } } }

  func task(grain: Int) -> ck_task {
    ck_task(
      run: { arguments, begin, end, _ in
        let items = UnsafeMutableRawPointer(mutating: arguments)!.assumingMemoryBound(to: UInt8.self)
        for index in begin..<end { items[index] += 1 }
      }, args: items.baseAddress, count: items.count, grain: grain)
  }
}

/// Two items that wait for each other, so that a worker runs one of them and says which signals it blocks.
///
/// The thread reports its own mask: until it first runs, the C library blocks all its signals.
private final class Meeting: Sendable {
  private let owner = pthread_self()
  private let arrived = Atomic(0)
  /// Signal n is bit n - 1.
  let workersMask = Atomic<UInt64>(0)

  var task: ck_task {
    ck_task(
      run: { meeting, _, _, _ in
        Unmanaged<Meeting>.fromOpaque(meeting!).takeUnretainedValue().attend()
      }, args: Unmanaged.passUnretained(self).toOpaque(), count: 2, grain: 1)
  }

  private func attend() {
    if pthread_equal(pthread_self(), owner) == 0 {
      var mask = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      workersMask.store(withUnsafeBytes(of: mask) { $0.load(as: UInt64.self) }, ordering: .relaxed)
    }
    arrived.add(1, ordering: .acquiringAndReleasing)
    while arrived.load(ordering: .acquiring) < 2 { sched_yield() }
  }
}

private func run(_ tasks: [ck_task], threads: Int) {
  tasks.withUnsafeBufferPointer { tasks in
    var job = ck_job()
    job.tasks = tasks.baseAddress
    job.count = tasks.count
    job.threads = threads
    ck_thread_pool_run(ck_thread_pool_shared(), &job)
  }
}

@Suite struct TaskPoolTests {
  @Test(arguments: [1, 2]) func stopFlagPreventsFurtherTasks(threads: Int) {
    let marks = (0..<3).map { _ in Marks(64) }
    let stop = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    stop.initialize(to: 0)
    defer { stop.deallocate() }
    let stopping = ck_task(
      run: { arguments, _, _, _ in
        UnsafeMutableRawPointer(mutating: arguments)!.assumingMemoryBound(to: UInt32.self).pointee = 1
      }, args: stop, count: 1, grain: 1)
    let tasks = [marks[0].task(grain: 4), stopping, marks[1].task(grain: 4), marks[2].task(grain: 4)]
    tasks.withUnsafeBufferPointer { tasks in
      var job = ck_job()
      job.tasks = tasks.baseAddress
      job.count = tasks.count
      job.threads = threads
      job.stop = UnsafePointer(stop)
      #expect(ck_thread_pool_run(ck_thread_pool_shared(), &job) == 1)
      #expect(marks[0].areAll(1))
      #expect(marks[1].areAll(0) && marks[2].areAll(0))
      stop.pointee = 0
      job.stop = nil
      #expect(ck_thread_pool_run(ck_thread_pool_shared(), &job) == 0)
      #expect(marks[2].areAll(1))
    }
  }

  @Test func everyItemRunsOnce() {
    for count in [1, 2, 7, 64, 1009] {
      for grain in [1, 3, 1024] {
        for threads in [1, 2, 3, 8] {
          let marks = (0..<5).map { _ in Marks(count) }
          run(marks.map { $0.task(grain: grain) }, threads: threads)
          #expect(marks.allSatisfy { $0.areAll(1) }, "\(count) items, grain \(grain), \(threads) threads")
        }
      }
    }
  }

  @Test func tasksSeeTheWritesOfEarlierTasks() {
    // Each item adds its neighbour's mark from the task before; without a barrier some would still be zero.
    struct Step {
      var from: UnsafeMutablePointer<Int>
      var to: UnsafeMutablePointer<Int>
      var count: Int
    }
    let count = 257
    let buffers = (0..<2).map { _ in UnsafeMutablePointer<Int>.allocate(capacity: count) }
    for buffer in buffers { buffer.initialize(repeating: 1, count: count) }
    defer { for buffer in buffers { buffer.deallocate() } }
    var steps = [
      Step(from: buffers[0], to: buffers[1], count: count), Step(from: buffers[1], to: buffers[0], count: count),
    ]
    steps.withUnsafeMutableBufferPointer { steps in
      let tasks = (0..<100).map { index in
        ck_task(
          run: { arguments, begin, end, _ in
            let step = arguments!.assumingMemoryBound(to: Step.self).pointee
            for index in begin..<end { step.to[index] = step.from[(index + 131) % step.count] + 1 }
          }, args: steps.baseAddress! + index % 2, count: count, grain: 1)
      }
      run(tasks, threads: 4)
    }
    #expect((0..<count).allSatisfy { buffers[0][$0] == 101 })
  }

  @Test func nestedJobsRun() {
    struct Outer {
      var inner: ck_task
    }
    let marks = (0..<16).map { _ in Marks(33) }
    var jobs = marks.map { Outer(inner: $0.task(grain: 1)) }
    jobs.withUnsafeMutableBufferPointer { jobs in
      let outer = ck_task(
        run: { arguments, begin, end, _ in
          let jobs = arguments!.assumingMemoryBound(to: Outer.self)
          for index in begin..<end { run([jobs[index].inner], threads: 4) }
        }, args: jobs.baseAddress, count: jobs.count, grain: 1)
      run([outer], threads: 3)
    }
    #expect(marks.allSatisfy { $0.areAll(1) })
  }

  @Test func concurrentJobsAllFinish() async {
    let marks = (0..<8).map { _ in (0..<50).map { _ in Marks(101) } }
    await withTaskGroup(of: Void.self) { group in
      for (index, session) in marks.enumerated() {
        group.addTask { run(session.map { $0.task(grain: 2) }, threads: 1 + index % 4) }
      }
    }
    #expect(marks.allSatisfy { $0.allSatisfy { $0.areAll(1) } })
  }

  @Test func threadsHaveSeparateScratch() {
    let threads = 4
    let stride = 64
    let scratch = UnsafeMutableRawPointer.allocate(byteCount: threads * stride, alignment: 64)
    scratch.initializeMemory(as: UInt8.self, repeating: 0, count: threads * stride)
    defer { scratch.deallocate() }
    let failures = Marks(1)
    let task = ck_task(
      run: { arguments, begin, _, scratch in
        // Another thread in the same scratch would disturb the value while it is counted up.
        let own = scratch!.assumingMemoryBound(to: Int.self)
        own.pointee = begin
        for _ in 0..<1000 { own.pointee += 1 }
        if own.pointee != begin + 1000 {
          UnsafeMutableRawPointer(mutating: arguments)!.storeBytes(of: 1, as: UInt8.self)
        }
      }, args: failures.items.baseAddress, count: 2000, grain: 1)
    withUnsafePointer(to: task) { task in
      var job = ck_job()
      job.tasks = task
      job.count = 1
      job.threads = threads
      job.scratch = scratch
      job.scratch_stride = stride
      ck_thread_pool_run(ck_thread_pool_shared(), &job)
    }
    #expect(failures.areAll(0))
  }

  /// A blocked fault signal ends the process even if it has a handler: truncated packs are read here.
  @Test func workersBlockAllButFaultSignals() async {
    // A separate process: in this one, other tests may hold the pool, and no worker would join.
    await #expect(processExitsWith: .success) {
      let meeting = Meeting()
      run([meeting.task], threads: 2)
      let mask = meeting.workersMask.load(ordering: .relaxed)
      func isBlocked(_ signal: Int32) -> Bool { mask & 1 << UInt64(signal - 1) != 0 }
      #expect([SIGTERM, SIGINT, SIGALRM].allSatisfy(isBlocked))
      #expect(![SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP].contains(where: isBlocked))
    }
  }

  @Test func everyTaskIsTimed() {
    let marks = (0..<3).map { _ in Marks(1000) }
    let tasks = marks.map { $0.task(grain: 10) }
    var times = [ck_task_time](repeating: ck_task_time(start: -1, seconds: -1), count: 3)
    tasks.withUnsafeBufferPointer { tasks in
      times.withUnsafeMutableBufferPointer { times in
        var job = ck_job()
        job.tasks = tasks.baseAddress
        job.count = 3
        job.threads = 2
        job.times = times.baseAddress
        ck_thread_pool_run(ck_thread_pool_shared(), &job)
      }
    }
    // The tasks point into the marks' memory, so the marks must outlive the run.
    #expect(marks.allSatisfy { $0.areAll(1) })
    #expect(times.allSatisfy { $0.start >= 0 && $0.seconds >= 0 })
    #expect(zip(times, times.dropFirst()).allSatisfy { $0.start + $0.seconds <= $1.start })
  }
}
