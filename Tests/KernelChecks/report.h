/* The beginning and end of a case. */
#pragma once
#include "check.h"

void begin_case(const char *family, const char *variant, uint64_t seed, size_t number, size_t index);
/* Frees the case's memory; returns false if a result differed, and then `text` describes the difference. */
bool end_case(char *text, size_t size);
