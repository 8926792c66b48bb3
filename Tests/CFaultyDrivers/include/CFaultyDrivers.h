#pragma once

/// Simulated Vulkan and OpenCL loaders. They forward every call to the real ones, and inject the faults that they are
/// ordered to. There is one set for the process.

/// The fault to inject.
typedef struct {
  /// The function that fails; NULL for none.
  const char *_Nullable function;
  /// Which call of it is the first to fail, from 1, and how many do from there on.
  unsigned first, count;
  /// The result of a failing call, which is not forwarded.
  int code;
  /// A FaultyHang that replaces the result.
  int hangs;
} FaultyFault;

typedef enum {
  FaultyAnswers,
  /// The work that the call submits never ends, nor does any work after it on this device. Vulkan's waits then time out at once;
  /// OpenCL's queue really blocks.
  FaultyQueueHangs,
  /// The call itself does not return before the next order; then it returns the code. For clSetEventCallback, which is
  /// called for unfinished events, the kernels that it waits for do not begin either.
  FaultyCallHangs,
  /// The call uses as many milliseconds of processor time as the code says; then it is forwarded.
  FaultyCallComputes
} FaultyHang;

/// The kind of device that is reported.
typedef enum { FaultyCardAsItIs, FaultyCardDiscrete, FaultyCardIntegrated, FaultyCardSmall } FaultyCard;

typedef struct {
  FaultyFault fault;
  FaultyCard card;
  /// The number of the faulty kernel, which does nothing although the driver reports success: the first, second, …
  /// kernel (a shader module, a kernel's name) created since the order; 0 for none.
  unsigned lie;
  /// The group size limit that the faulty kernel reports instead of doing nothing (OpenCL); 0 for the actual limit.
  unsigned group;
  /// Of the kernels that run, each n-th is left out, or has a wrong word in its result; 0 for none. Vulkan's count when
  /// they are recorded.
  unsigned drop, flip;
  /// How many kernels run correctly before.
  unsigned after;
  /// Milliseconds that each submission takes in addition.
  unsigned slow;
  /// The number of versions by which the driver is reported as newer.
  unsigned newer;
  /// The number of devices that each real one is listed as; 0 for one.
  unsigned cards;
  /// Bytes of device memory, which is reported and limits what can be held at a time; 0 for no limit.
  unsigned long memory;
  /// Bytes of it that other processes hold; above 0, Vulkan reports them (VK_EXT_memory_budget).
  unsigned long taken;
  /// Further bytes of it that other processes hold, which no driver reports.
  unsigned long hidden;
  /// The byte that fills new device memory; 0 for the actual contents.
  unsigned char fill;
} FaultyOrder;

/// Applies an order and counts calls from 0, once the queues have finished their work; work that hung continues and
/// ends. A process that lets a driver end at exit gives a last order.
void faulty_order(FaultyOrder order);

/// Every function, Vulkan's first; NULL behind the last.
const char *_Nullable faulty_function(unsigned index);

/// Whether a function has a result that can be a failure.
int faulty_can_fail(const char *_Nonnull function);

/// Calls since the latest order.
unsigned faulty_calls(const char *_Nonnull function);

/// How many kernels were made since the latest order, each counted once.
unsigned faulty_kernels(void);

/// How many calls have failed or hung since the latest order.
unsigned faulty_failures(void);

/// Returns once a call has failed or hung since the latest order.
void faulty_await_failure(void);

/// The bytes of device memory that are held now, and the most that were held since the latest order. Memory that a card
/// has beside its own does not count.
unsigned long faulty_held_bytes(void);
unsigned long faulty_peak_bytes(void);

/// Returns the address of a vkGetInstanceProcAddr; NULL if there is no real one.
const void *_Nullable faulty_vulkan(void);

/// The functions of an OpenCL loader.
void *_Nullable faulty_opencl(const char *_Nonnull name);
