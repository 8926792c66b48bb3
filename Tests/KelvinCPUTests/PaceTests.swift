import CKelvinKernels
import Glibc
import Testing

/// What runs of one job take on a machine.
private struct Machine {
  /// Seconds by way: together, parked, alone.
  var seconds: [Double]
  /// The part of a run together in which the caller sleeps.
  var asleep: Double

  /// Runs `count` times; how many went each way.
  func run(_ count: Int, _ pace: inout ck_pace) -> [Int] {
    var went = [0, 0, 0]
    for _ in 0..<count {
      let way = Int(ck_pace_next(&pace).rawValue)
      ck_pace_ran(&pace, seconds[way], way == 0 ? asleep * seconds[way] : 0)
      went[way] += 1
    }
    return went
  }
}

@Suite struct PaceTests {
  private let free = Machine(seconds: [4, 5, 7], asleep: 0.02)

  @Test func threadsThatSeldomWaitGoNoOtherWay() {
    var pace = ck_pace()
    #expect(free.run(1000, &pace) == [1000, 0, 0])
  }

  /// Whichever it is.
  @Test(arguments: [[15.0, 8, 10], [15, 12, 9]]) func inACrowdNearlyAllRunsGoTheFastestWay(seconds: [Double]) {
    let crowded = Machine(seconds: seconds, asleep: 0.4)
    let fastest = seconds.firstIndex(of: seconds.min()!)!
    var pace = ck_pace()
    _ = free.run(100, &pace)
    #expect(crowded.run(1000, &pace)[fastest] >= 850)
  }

  @Test(arguments: [[15.0, 8, 10], [15, 12, 9]]) func afterTheCrowdThreadsSpinTogetherAgain(seconds: [Double]) {
    var pace = ck_pace()
    _ = Machine(seconds: seconds, asleep: 0.4).run(1000, &pace)
    _ = free.run(80, &pace)
    #expect(free.run(1000, &pace) == [1000, 0, 0])
  }

  @Test func waitingThatNoWayWouldShortenIsTriedEverMoreSeldom() {
    var pace = ck_pace()
    let uneven = Machine(seconds: [6, 6, 9], asleep: 0.3)
    #expect(uneven.run(100, &pace)[0] < 100)
    #expect(uneven.run(1000, &pace)[0] >= 900)
  }

  @Test func aJobThatIsToGoAloneRunsOnItsCaller() {
    let caller = UnsafeMutablePointer<pthread_t>.allocate(capacity: 2)
    caller.initialize(repeating: pthread_self(), count: 2)
    defer { caller.deallocate() }
    // Overwrites the second where another thread runs an item.
    let task = ck_task(
      run: { arguments, _, _, _ in
        let threads = UnsafeMutableRawPointer(mutating: arguments)!.assumingMemoryBound(to: pthread_t.self)
        if pthread_equal(threads[0], pthread_self()) == 0 { threads[1] = pthread_self() }
      }, args: caller, count: 4096, grain: 1)
    var pace = ck_pace()
    pace.usual_way = ck_alone
    (pace.usual, pace.pause, pace.until_trial) = (1e-9, 32, 1000)
    withUnsafePointer(to: task) { tasks in
      withUnsafeMutablePointer(to: &pace) { pace in
        var job = ck_job()
        job.tasks = tasks
        job.count = 1
        job.threads = 4
        job.pace = pace
        for _ in 0..<20 { #expect(ck_pool_run(ck_pool_shared(), &job) == 0) }
      }
    }
    #expect(pthread_equal(caller[0], caller[1]) != 0)
    #expect(pace.until_trial == 980 && pace.usual > 1e-9)
  }
}
