/* Types of known width, and values taken as bits. */
#ifndef WORDS_H
#define WORDS_H

#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef unsigned __int128 u128;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef __int128 s128;
typedef float f32;
typedef double f64;

static inline f32 as_f32(u32 bits)
{
    f32 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline f64 as_f64(u64 bits)
{
    f64 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline u32 bits_f32(f32 value)
{
    u32 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline u64 bits_f64(f64 value)
{
    u64 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
