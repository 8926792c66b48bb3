#pragma once

#include "CFaultyDrivers.h"
#include "CKelvinSupport.h"

/// The reported properties of the simulated devices: each function changes an actual answer to that of a card.

void faulty_describe(VkPhysicalDeviceProperties2 *properties, FaultyCard card);
/// Raises the driver's version by this number of versions.
void faulty_renew(VkPhysicalDeviceProperties2 *properties, unsigned versions);
void faulty_describe_memory(VkPhysicalDeviceMemoryProperties2 *memory, FaultyCard card, unsigned long byteCount);
void faulty_allow_memory(VkMemoryRequirements *requirements, FaultyCard card);

/// The driver's own type of memory for one of a card's.
void faulty_real_memory_type(uint32_t *index, FaultyCard card);

void faulty_answer(
    cl_device_info question, size_t size, void *answer, size_t *written, FaultyCard card, unsigned long byteCount);
