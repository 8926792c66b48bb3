#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Signatures and encryption by OpenSSL, whose code is linked into the program. Its configuration files are not read.
/// A function returns false if OpenSSL has no memory, or as its description says.

enum { KELVIN_KEY_SIZE = 32, KELVIN_SIGNATURE_SIZE = 64, KELVIN_NONCE_SIZE = 12, KELVIN_TAG_SIZE = 16 };

/// Ed25519 (RFC 8032): computes the public key of a private one.
bool kelvin_ed25519_public(const uint8_t *_Nonnull private_key, uint8_t *_Nonnull public_key);

/// Ed25519: signs bytes.
bool kelvin_ed25519_sign(
  const uint8_t *_Nonnull private_key, const void *_Nullable bytes, size_t count, uint8_t *_Nonnull signature);

/// Ed25519: returns whether a signature of these bytes belongs to the key.
bool kelvin_ed25519_verify(
  const uint8_t *_Nonnull public_key, const void *_Nullable bytes, size_t count, const uint8_t *_Nonnull signature);

/// HKDF with SHA-256 (RFC 5869): derives the first 32 bytes from a key, a salt and a purpose of at most 256 bytes.
bool kelvin_hkdf(
  const uint8_t *_Nonnull key, size_t key_count, const uint8_t *_Nullable salt, size_t salt_count,
  const uint8_t *_Nullable purpose, size_t purpose_count, uint8_t *_Nonnull derived);

/// AES-256-GCM (NIST SP 800-38D): encrypts up to 2 GiB. A nonce must not repeat under one key.
///
/// `bound` is authenticated and not encrypted. `sealed` has `count` bytes and may be `plain` itself.
bool kelvin_gcm_seal(
  const uint8_t *_Nonnull key, const uint8_t *_Nonnull nonce, const void *_Nullable bound, size_t bound_count,
  const void *_Nullable plain, size_t count, void *_Nullable sealed, uint8_t *_Nonnull tag);

/// AES-256-GCM: decrypts, and returns false if the key, nonce, bound bytes, contents or tag differ from those of the
/// encryption. `plain` then holds zeros.
bool kelvin_gcm_open(
  const uint8_t *_Nonnull key, const uint8_t *_Nonnull nonce, const void *_Nullable bound, size_t bound_count,
  const void *_Nullable sealed, size_t count, void *_Nullable plain, const uint8_t *_Nonnull tag);

/// Fills a buffer from the system's source of random numbers.
bool kelvin_random(void *_Nonnull bytes, size_t count);

/// Overwrites bytes with zeros, which the compiler does not leave out.
void kelvin_wipe(void *_Nonnull bytes, size_t count);
