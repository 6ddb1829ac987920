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

/* The same bits as a value of another type. */
#define REINTERPRETED(name, from, to) \
    static inline to name(from value) \
    { \
        to made; \
        memcpy(&made, &value, sizeof made); \
        return made; \
    }

REINTERPRETED(as_f32, u32, f32)
REINTERPRETED(as_f64, u64, f64)
REINTERPRETED(bits_f32, f32, u32)
REINTERPRETED(bits_f64, f64, u64)

#endif
