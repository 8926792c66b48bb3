#pragma once

#include "CFaultyDrivers.h"
#include "CKelvinSupport.h"

/// The memory of the simulated devices, which is counted.

/// Whether a type of memory that a card reports is the device's own.
int faulty_is_device_memory(uint32_t type, FaultyCard card);

/// Reserves this many bytes; 0 if they are not available.
int faulty_reserve(const FaultyOrder *order, unsigned long count);
/// Counts reserved bytes for an object, or returns them if it is NULL.
void faulty_hold(const void *object, unsigned long count);
/// Returns the bytes of an object, if it has any.
void faulty_release(const void *object);
/// Counts the peak anew.
void faulty_count_peak_again(void);

/// Adds VK_EXT_memory_budget to a driver's answer to vkEnumerateDeviceExtensionProperties.
void faulty_offer_budget(uint32_t *count, VkExtensionProperties *properties);
/// Reports the order's memory and what is held of it, if the budget is asked for.
void faulty_report_budget(VkPhysicalDeviceMemoryProperties2 *properties, const FaultyOrder *order);
