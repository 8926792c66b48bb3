#include "CKelvinCrypto.h"

#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <sys/random.h>

/// Prepares OpenSSL without its configuration files, which could replace the algorithms, and without work at exit.
static bool prepare(void) {
  return OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL) == 1;
}

bool kelvin_ed25519_public(const uint8_t *private_key, uint8_t *public_key) {
  if (!prepare()) return false;
  EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, private_key, KELVIN_KEY_SIZE);
  size_t count = KELVIN_KEY_SIZE;
  bool is_done = key && EVP_PKEY_get_raw_public_key(key, public_key, &count) == 1 && count == KELVIN_KEY_SIZE;
  EVP_PKEY_free(key);
  return is_done;
}

bool kelvin_ed25519_sign(const uint8_t *private_key, const void *bytes, size_t count, uint8_t *signature) {
  if (!prepare()) return false;
  EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, private_key, KELVIN_KEY_SIZE);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  size_t size = KELVIN_SIGNATURE_SIZE;
  bool is_done = key && context && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
                 EVP_DigestSign(context, signature, &size, bytes, count) == 1 && size == KELVIN_SIGNATURE_SIZE;
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(key);
  return is_done;
}

bool kelvin_ed25519_verify(const uint8_t *public_key, const void *bytes, size_t count, const uint8_t *signature) {
  if (!prepare()) return false;
  EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key, KELVIN_KEY_SIZE);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  bool is_valid = key && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
                  EVP_DigestVerify(context, signature, KELVIN_SIGNATURE_SIZE, bytes, count) == 1;
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(key);
  return is_valid;
}

bool kelvin_hkdf(
  const uint8_t *key, size_t key_count, const uint8_t *salt, size_t salt_count, const uint8_t *purpose,
  size_t purpose_count, uint8_t *derived) {
  uint8_t extracted[KELVIN_KEY_SIZE], block[257];
  unsigned size = 0;
  if (!prepare() || key_count > INT_MAX || salt_count > INT_MAX || purpose_count >= sizeof block) return false;
  if (purpose_count) memcpy(block, purpose, purpose_count);
  block[purpose_count] = 1;
  const void *given = salt_count ? (const void *)salt : "";
  bool is_done = HMAC(EVP_sha256(), given, (int)salt_count, key, key_count, extracted, &size) &&
                 HMAC(EVP_sha256(), extracted, sizeof extracted, block, purpose_count + 1, derived, &size);
  OPENSSL_cleanse(extracted, sizeof extracted);
  return is_done;
}

bool kelvin_gcm_seal(
  const uint8_t *key, const uint8_t *nonce, const void *bound, size_t bound_count, const void *plain, size_t count,
  void *sealed, uint8_t *tag) {
  if (!prepare() || count > INT_MAX || bound_count > INT_MAX) return false;
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int size = 0, rest = 0;
  uint8_t none[1];
  bool is_done = context && EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, nonce) == 1 &&
                 (!bound_count || EVP_EncryptUpdate(context, NULL, &size, bound, (int)bound_count) == 1) &&
                 (!count || EVP_EncryptUpdate(context, sealed, &size, plain, (int)count) == 1) &&
                 EVP_EncryptFinal_ex(context, none, &rest) == 1 &&
                 EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, KELVIN_TAG_SIZE, tag) == 1;
  EVP_CIPHER_CTX_free(context);
  return is_done;
}

bool kelvin_gcm_open(
  const uint8_t *key, const uint8_t *nonce, const void *bound, size_t bound_count, const void *sealed, size_t count,
  void *plain, const uint8_t *tag) {
  if (!prepare() || count > INT_MAX || bound_count > INT_MAX) return false;
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int size = 0, rest = 0;
  uint8_t none[1];
  bool is_valid = context && EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, nonce) == 1 &&
                  (!bound_count || EVP_DecryptUpdate(context, NULL, &size, bound, (int)bound_count) == 1) &&
                  (!count || EVP_DecryptUpdate(context, plain, &size, sealed, (int)count) == 1) &&
                  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, KELVIN_TAG_SIZE, (void *)tag) == 1 &&
                  EVP_DecryptFinal_ex(context, none, &rest) == 1;
  EVP_CIPHER_CTX_free(context);
  if (!is_valid && count) OPENSSL_cleanse(plain, count);
  return is_valid;
}

bool kelvin_random(void *bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    ssize_t got = getrandom((uint8_t *)bytes + done, count - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += (size_t)got;
  }
  return true;
}

void kelvin_wipe(void *bytes, size_t count) { OPENSSL_cleanse(bytes, count); }
