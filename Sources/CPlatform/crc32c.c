#include "CPlatform.h"

#include <string.h>
#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

// Slicing by 8: table[k][b] is the register after byte b and k zero bytes. Filled before main, so readers need no
// synchronization.
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

// Excluded from the thread sanitizer: other processes may change the memory, and callers detect torn bytes by their checksum.
#define UNSYNCHRONIZED __attribute__((no_sanitize("thread")))

UNSYNCHRONIZED uint32_t cp_crc32c_portable(uint32_t state, const void *bytes, size_t length) {
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

UNSYNCHRONIZED __attribute__((target("sse4.2"))) static uint32_t hardware(
    uint32_t state, const uint8_t *p, size_t length) {
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

// The instruction takes three cycles, and one can begin in each cycle. So three adjacent ranges are processed side by
// side, and their registers combined: advancing a register by n zero bytes multiplies it by x^(8n) modulo the
// polynomial. The carry-less product of two reflected numbers is shifted by one bit, and the instruction that reduces
// it multiplies by x^32, hence shift[n / 8] = x^(8n - 33). (V. Gopal and others: "Fast CRC Computation for iSCSI
// Polynomial Using CRC32 Instruction", 2011.)
enum { LONGEST_STRETCH = 1024, SHORTEST_THREE = 96 };
static uint32_t shift[2 * LONGEST_STRETCH / 8 + 1];

static void fill_shifts(void) {
    uint32_t power = 0x80000000u;
    for (int bit = 1, n = 1; n <= 2 * LONGEST_STRETCH / 8; bit++) {
        power = (power >> 1) ^ (0x82F63B78u & (0u - (power & 1)));
        if (bit == 64 * n - 33) shift[n++] = power;
    }
}

__attribute__((target("sse4.2,pclmul"))) static uint32_t moved(uint64_t state, size_t bytes) {
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(state), _mm_cvtsi32_si128(shift[bytes / 8]), 0);
    return (uint32_t)_mm_crc32_u64(0, _mm_cvtsi128_si64(product));
}

UNSYNCHRONIZED __attribute__((target("sse4.2,pclmul"))) static uint32_t three(
    uint32_t state, const uint8_t *p, size_t length) {
    while (length >= SHORTEST_THREE) {
        size_t stretch = length / 24 * 8;
        if (stretch > LONGEST_STRETCH) stretch = LONGEST_STRETCH;
        uint64_t a = state, b = 0, c = 0;
        // Prefetches the next ranges: at each jump the processor would have to detect again that memory is read in order.
        size_t behind = length - 3 * stretch;
        if (behind > 3 * stretch) behind = 3 * stretch;
        for (size_t place = 0; place < behind; place += 64) __builtin_prefetch(p + 3 * stretch + place);
        for (const uint8_t *end = p + stretch; p < end; p += 8) {
            uint64_t words[3];
            memcpy(&words[0], p, 8);
            memcpy(&words[1], p + stretch, 8);
            memcpy(&words[2], p + 2 * stretch, 8);
            a = _mm_crc32_u64(a, words[0]);
            b = _mm_crc32_u64(b, words[1]);
            c = _mm_crc32_u64(c, words[2]);
        }
        state = moved(a, 2 * stretch) ^ moved(b, stretch) ^ (uint32_t)c;
        p += 2 * stretch;
        length -= 3 * stretch;
    }
    return hardware(state, p, length);
}

static int has_hardware, has_multiplication;
__attribute__((constructor)) static void detect(void) {
    __builtin_cpu_init();
    has_hardware = __builtin_cpu_supports("sse4.2");
    has_multiplication = has_hardware && __builtin_cpu_supports("pclmul");
    fill_shifts();
}

uint32_t cp_crc32c(uint32_t state, const void *bytes, size_t length) {
    if (has_multiplication) return three(state, bytes, length);
    return has_hardware ? hardware(state, bytes, length) : cp_crc32c_portable(state, bytes, length);
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

UNSYNCHRONIZED uint32_t cp_crc32c(uint32_t state, const void *bytes, size_t length) {
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
