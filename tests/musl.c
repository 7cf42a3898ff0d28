/* What a jansson that was built with checks for buffers asks of its C library, for one that does not have it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int __vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, va_list arguments);
int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...);
char *__strncpy_chk(char *to, const char *from, size_t size, size_t room);

int __vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, va_list arguments) {
    (void)flag;
    return vsnprintf(to, size < room ? size : room, format, arguments);
}

int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int count = __vsnprintf_chk(to, size, flag, room, format, arguments);
    va_end(arguments);
    return count;
}

char *__strncpy_chk(char *to, const char *from, size_t size, size_t room) {
    return strncpy(to, from, size < room ? size : room);
}
