/*
 * Binary files of integers and of solutions, one byte per bit: read and written whole, or not at all. A program is
 * given the name of one to read and of one to write.
 */
#ifndef BITS_H
#define BITS_H

#include "common.h"

typedef unsigned char Bit;

static FILE *open_input(int argc, char **argv)
{
    FILE *file;

    if (argc != 3)
        die("usage: " PROGRAM " input.bin output.bin");
    file = fopen(argv[1], "rb");
    if (file == NULL)
        die("cannot open the input file");
    return file;
}

static void close_input(FILE *file)
{
    if (fgetc(file) != EOF)
        die("the input file is too long");
    fclose(file);
}

static FILE *create_output(char **argv)
{
    FILE *file = fopen(argv[2], "wb");

    if (file == NULL)
        die("cannot create the output file");
    return file;
}

static void close_output(FILE *file)
{
    if (fclose(file) != 0)
        die("cannot write the output file");
}

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
