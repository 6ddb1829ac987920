/*
 * Binary files of integers and of solutions, one byte per bit: read and written whole, or not at all.
 */
#ifndef BITS_H
#define BITS_H

#include "common.h"

typedef unsigned char Bit;

static void read_exactly(void *p, size_t size, size_t count, FILE *file)
{
    if (fread(p, size, count, file) != count)
        die("the input file is too short");
}

static int64_t read_int64(FILE *file)
{
    int64_t value;
    read_exactly(&value, sizeof value, 1, file);
    return value;
}

static inline void read_bits(Bit *bits, size_t count, FILE *file)
{
    read_exactly(bits, 1, count, file);
    for (size_t k = 0; k < count; k++)
        if (bits[k] > 1)
            die("a solution holds a byte other than 0 and 1");
}

static void write_exactly(const void *p, size_t size, size_t count, FILE *file)
{
    if (fwrite(p, size, count, file) != count)
        die("cannot write the output file");
}

#endif
