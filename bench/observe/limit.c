/* The limit: the same bytes of the same files, read backwards in 64 KB blocks, every line end found. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 64 * 1024 };
static char buffer[BLOCK];

long count_lines_backwards(const char **paths, const long *bytes, int files) {
    long lines = 0;
    for (int i = 0; i < files; i++) {
        int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
        struct stat about;
        if (fd < 0 || fstat(fd, &about) != 0) return -1;
        long position = about.st_size, left = bytes[i];
        while (left > 0) {
            long want = left < BLOCK ? left : BLOCK;
            if (pread(fd, buffer, want, position - want) != want) return -1;
            position -= want;
            left -= want;
            for (char *end = buffer + want; (end = memrchr(buffer, '\n', end - buffer)); ) lines++;
        }
        close(fd);
    }
    return lines;
}
