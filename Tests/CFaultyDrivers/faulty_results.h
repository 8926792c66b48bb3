#pragma once

#include "CFaultyDrivers.h"
#include "CKelvinSupport.h"

/// The memory that kernels write, to which a wrong word can be written.

typedef enum { FaultyKernelRuns, FaultyKernelDropped, FaultyKernelFlipped } FaultyKernel;

/// Counts a kernel from 1 since `faulty_count_again`, and says what happens to it.
FaultyKernel faulty_next_kernel(const FaultyOrder *order);
void faulty_count_again(void);

/// Notes the first binding of each descriptor set.
void faulty_note_writes(uint32_t count, const VkWriteDescriptorSet *writes);
/// Notes the descriptor set that this thread has bound.
void faulty_note_bound(VkDescriptorSet set);
/// Records the writing of a wrong word to the first binding of the bound set.
void faulty_flip_vulkan(PFN_vkCmdFillBuffer fill, VkCommandBuffer commands);

/// Notes a kernel's memory: a kernel's last buffer, which a page of 256 bytes follows, is the one that it writes.
void faulty_note_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value);
/// Runs a kernel without its work: the events that it waits for complete. `mark` is clEnqueueMarkerWithWaitList.
uintptr_t faulty_drop_opencl(
    const void *mark, cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *event);
/// Writes a wrong word to the memory that a kernel writes. `write` is clEnqueueWriteBuffer.
void faulty_flip_opencl(const void *write, cl_command_queue queue, cl_kernel kernel);

/// Uses this much processor time, or lets time pass.
void faulty_compute(int milliseconds);
void faulty_wait(unsigned milliseconds);
