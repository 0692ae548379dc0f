#define _GNU_SOURCE
#include "checksum.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 64, CHUNK = 1 << 16 };

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t value, int by) { return value >> by | value << (32 - by); }

static void expand(const unsigned char *block, uint32_t schedule[64]) {
    for (int i = 0; i < 16; i++)
        schedule[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                      (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t early = schedule[i - 15], late = schedule[i - 2];
        schedule[i] = schedule[i - 16] + schedule[i - 7] +
                      (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3) +
                      (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10);
    }
}

static void add_block(uint32_t state[8], const unsigned char *block) {
    uint32_t schedule[64], v[8];
    expand(block, schedule);
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t one = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + choice +
                       round_constants[i] + schedule[i];
        uint32_t two = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + majority;
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

/* The last bytes, the end mark and the length in bits fill one block or two. */
static void add_end(uint32_t state[8], const unsigned char *rest, size_t length, uint64_t total) {
    unsigned char block[2 * BLOCK] = {0};
    size_t size = length + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    memcpy(block, rest, length);
    block[length] = 0x80;
    for (int i = 0; i < 8; i++)
        block[size - 1 - (size_t)i] = (unsigned char)(8 * total >> 8 * i);
    for (size_t at = 0; at < size; at += BLOCK)
        add_block(state, block + at);
}

bool sha256_of(reading *next, int descriptor, char text[CHECKSUM_DIGITS + 1]) {
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char buffer[CHUNK];
    uint64_t total = 0;
    size_t held = 0, at;
    for (ssize_t n; (n = next(descriptor, buffer + held, CHUNK - held)) != 0;) {
        if (n < 0)
            return false;
        total += (uint64_t)n;
        held += (size_t)n;
        for (at = 0; at + BLOCK <= held; at += BLOCK)
            add_block(state, buffer + at);
        memmove(buffer, buffer + at, held -= at);
    }
    add_end(state, buffer, held, total);
    for (int i = 0; i < 8; i++)
        sprintf(text + 8 * i, "%08x", state[i]);
    return true;
}
