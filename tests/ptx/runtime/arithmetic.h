/* What PTX computes and C does not, or leaves undefined. `width` is the number of bits of the instruction's type. */
#ifndef ARITHMETIC_H
#define ARITHMETIC_H

#include <math.h>

#include "words.h"

/* Division. By zero, GPUs give all ones, and the dividend as remainder; PTX leaves it open. */

static inline s64 quotient_s64(s64 a, s64 b)
{
    if (b == 0)
        return -1;
    return b == -1 ? (s64)(0 - (u64)a) : a / b;
}

static inline u64 quotient_u64(u64 a, u64 b)
{
    return b == 0 ? ~(u64)0 : a / b;
}

static inline s64 remainder_s64(s64 a, s64 b)
{
    if (b == 0)
        return a;
    return b == -1 ? 0 : a % b;
}

static inline u64 remainder_u64(u64 a, u64 b)
{
    return b == 0 ? a : a % b;
}

/* Shifts: amounts beyond the width are clamped to it. */

static inline u64 shifted_left(u64 a, u32 amount, u32 width)
{
    return amount >= width ? 0 : a << amount;
}

static inline u64 shifted_right_u64(u64 a, u32 amount, u32 width)
{
    return amount >= width ? 0 : a >> amount;
}

static inline s64 shifted_right_s64(s64 a, u32 amount, u32 width)
{
    return a >> (amount >= width ? width - 1 : amount);
}

static inline u32 funnel_l(u32 a, u32 b, u32 amount)
{
    u64 both = (u64)b << 32 | a;
    return amount >= 32 ? a : (u32)(both << amount >> 32);
}

static inline u32 funnel_r(u32 a, u32 b, u32 amount)
{
    u64 both = (u64)b << 32 | a;
    return amount >= 32 ? b : (u32)(both >> amount);
}

/* Bits. */

static inline u32 count_of_ones(u64 a, u32 width)
{
    return __builtin_popcountll(a);
}

static inline u32 leading_zeros(u64 a, u32 width)
{
    return a == 0 ? width : __builtin_clzll(a) - (64 - width);
}

static inline u64 reversed_bits(u64 a, u32 width)
{
    u64 reversed = 0;
    for (u32 i = 0; i < width; i++)
        reversed |= (a >> i & 1) << (width - 1 - i);
    return reversed;
}

static inline u32 highest_bit_u64(u64 a)
{
    return a == 0 ? ~0u : 63 - __builtin_clzll(a);
}

/* The highest bit that is not a copy of the sign. */
static inline u32 highest_bit_s64(s64 a)
{
    return highest_bit_u64(a < 0 ? ~a : a);
}

/* Position and length of a field are their lowest eight bits. */

static inline u64 extracted_field_u64(u64 a, u32 position, u32 length, u32 width)
{
    u64 field = shifted_right_u64(a, position & 255, width);
    length &= 255;
    return length >= 64 ? field : field & (((u64)1 << length) - 1);
}

/* Bits beyond the field, or beyond the width, are copies of the field's last bit within the width. */
static inline s64 extracted_field_s64(s64 a, u32 position, u32 length, u32 width)
{
    position &= 255;
    length &= 255;
    if (length == 0)
        return 0;
    u32 last = position + length - 1;
    u64 sign = a >> (last < width ? last : width - 1) & 1, field = 0;
    for (u32 i = 0; i < 64; i++) {
        u64 bit = i < length && position + i < width ? (u64)(a >> (position + i) & 1) : sign;
        field |= bit << i;
    }
    return (s64)field;
}

static inline u64 inserted_field(u64 a, u64 b, u32 position, u32 length, u32 width)
{
    position &= 255;
    length &= 255;
    for (u32 i = 0; i < length && position + i < width; i++) {
        u64 place = (u64)1 << (position + i);
        b = a >> i & 1 ? b | place : b & ~place;
    }
    return b;
}

/* Each hexadecimal digit of `choice` picks a byte of b:a, or, with its highest bit, that byte's sign eight times. */
static inline u32 permuted_bytes(u32 a, u32 b, u32 choice)
{
    u64 both = (u64)b << 32 | a;
    u32 result = 0;
    for (u32 i = 0; i < 4; i++) {
        u32 digit = choice >> (4 * i) & 15;
        u32 byte = both >> (8 * (digit & 7)) & 255;
        if (digit & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}

/* Bit i of `table` is the result where the bits of a, b and c, read as a number, are i. */
static inline u32 looked_up_bits(u32 a, u32 b, u32 c, u32 table)
{
    u32 result = 0;
    for (u32 i = 0; i < 8; i++)
        if (table >> i & 1)
            result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}

/* Floating point. */

static inline f32 without_subnormals(f32 x)
{
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

/* Between zero and one; NaN is zero. */
static inline f64 saturated(f64 x)
{
    if (!(x > 0))
        return 0;
    return x > 1 ? 1 : x;
}

/* A number is preferred to NaN, and -0 is less than +0. */

static inline f64 least_f64(f64 a, f64 b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

static inline f64 largest_f64(f64 a, f64 b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    if (a == b)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static inline f32 least_f32(f32 a, f32 b)
{
    return least_f64(a, b);
}

static inline f32 largest_f32(f32 a, f32 b)
{
    return largest_f64(a, b);
}

/* Conversion: what does not fit is the nearest number that does. */

static inline s128 clamped(s128 x, s128 least, s128 largest)
{
    if (x < least)
        return least;
    return x > largest ? largest : x;
}

/* x is a whole number already; `nan` are the bits that stand for NaN. */

static inline s64 clamped_to_s64(f64 x, u32 width, u64 nan)
{
    if (isnan(x))
        return (s64)nan;
    s64 largest = (s64)(((u64)1 << (width - 1)) - 1);
    if (x >= ldexp(1, width - 1))
        return largest;
    return x <= -ldexp(1, width - 1) ? -largest - 1 : (s64)x;
}

static inline u64 clamped_to_u64(f64 x, u32 width, u64 nan)
{
    if (isnan(x))
        return nan;
    if (x >= ldexp(1, width))
        return ~(u64)0 >> (64 - width);
    return x <= 0 ? 0 : (u64)x;
}

#endif
