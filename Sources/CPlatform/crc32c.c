#include "CPlatform.h"

#include <string.h>
#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

// Slicing by 8: table[k][b] is the register after byte b and k zero bytes. Filled before main, so
// readers need no synchronisation.
static uint32_t table[8][256];

__attribute__((constructor)) static void fill_table(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t state = byte;
        for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ (0x82F63B78u & (0u - (state & 1)));
        table[0][byte] = state;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int k = 1; k < 8; k++)
            table[k][byte] = (table[k - 1][byte] >> 8) ^ table[0][table[k - 1][byte] & 0xff];
}

uint32_t cp_crc32c_portable(uint32_t state, const void *bytes, size_t length) {
    const uint8_t *p = bytes;
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        word ^= state;
        state = 0;
        for (int k = 0; k < 8; k++) state ^= table[7 - k][(word >> (8 * k)) & 0xff];
        p += 8;
        length -= 8;
    }
    while (length--) state = (state >> 8) ^ table[0][(state ^ *p++) & 0xff];
    return state;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t hardware(uint32_t state, const uint8_t *p, size_t length) {
    uint64_t wide = state;
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        wide = _mm_crc32_u64(wide, word);
        p += 8;
        length -= 8;
    }
    state = (uint32_t)wide;
    while (length--) state = _mm_crc32_u8(state, *p++);
    return state;
}

static int has_hardware;
__attribute__((constructor)) static void detect(void) {
    __builtin_cpu_init();
    has_hardware = __builtin_cpu_supports("sse4.2");
}

uint32_t cp_crc32c(uint32_t state, const void *bytes, size_t length) {
    return has_hardware ? hardware(state, bytes, length) : cp_crc32c_portable(state, bytes, length);
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

uint32_t cp_crc32c(uint32_t state, const void *bytes, size_t length) {
    const uint8_t *p = bytes;
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        state = __crc32cd(state, word);
        p += 8;
        length -= 8;
    }
    while (length--) state = __crc32cb(state, *p++);
    return state;
}

#else

uint32_t cp_crc32c(uint32_t state, const void *bytes, size_t length) {
    return cp_crc32c_portable(state, bytes, length);
}

#endif
