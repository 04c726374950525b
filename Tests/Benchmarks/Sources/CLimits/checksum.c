#include "internal.h"

#if defined(__x86_64__)

// V. Gopal and others: "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction", 2011. shift[n] advances a register
// by 8 n bytes.
enum { LONGEST = 1024, SHORTEST = 96 };
static uint32_t shift[2 * LONGEST / 8 + 1];

__attribute__((constructor)) static void fill(void) {
    uint32_t power = 0x80000000u;
    for (int bit = 1, n = 1; n <= 2 * LONGEST / 8; bit++) {
        power = (power >> 1) ^ (0x82F63B78u & (0u - (power & 1)));
        if (bit == 64 * n - 33) shift[n++] = power;
    }
}

__attribute__((target("sse4.2,pclmul"))) static uint32_t moved(uint64_t state, size_t bytes) {
    __m128i factor = _mm_cvtsi32_si128((int)shift[bytes / 8]);
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)state), factor, 0);
    return (uint32_t)_mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

__attribute__((target("sse4.2,pclmul")))
uint32_t cl_crc32c(uint32_t state, const void *bytes, size_t length) {
    const uint8_t *p = bytes;
    uint64_t word, words[3];
    while (length >= SHORTEST) {
        size_t stretch = length / 24 * 8;
        if (stretch > LONGEST) stretch = LONGEST;
        uint64_t a = state, b = 0, c = 0;
        for (const uint8_t *end = p + stretch; p < end; p += 8) {
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
    for (; length >= 8; p += 8, length -= 8) {
        memcpy(&word, p, 8);
        state = (uint32_t)_mm_crc32_u64(state, word);
    }
    while (length--) state = _mm_crc32_u8(state, *p++);
    return state;
}

#else

uint32_t cl_crc32c(uint32_t state, const void *bytes, size_t length) {
    const uint8_t *p = bytes;
#if defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
    for (; length >= 8; p += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        state = __crc32cd(state, word);
    }
    while (length--) state = __crc32cb(state, *p++);
#else
    for (; length--; p++) {
        state ^= *p;
        for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ (0x82F63B78u & (0u - (state & 1)));
    }
#endif
    return state;
}

#endif
