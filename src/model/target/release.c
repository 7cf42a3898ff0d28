/* Names of releases. */
#include "model/target/release.h"

static const char *const names[RELEASES] = {
    [RELEASE_3_5] = "3.5",     [RELEASE_3_6] = "3.6", [RELEASE_3_7_0] = "3.7.0",
    [RELEASE_3_7_1] = "3.7.1", [RELEASE_3_8] = "3.8", [RELEASE_3_9] = "3.9",
};

/* ---- Names ---------------------------------------------------------------------------------------- */

/* "3.7.1" as three numbers; returns how many there are, 0 if it is something else. */
static unsigned read_numbers(Str name, unsigned numbers[3]) {
    enum { MOST = 1000 };
    unsigned count = 0;
    bool digit = false;
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        if (c == '.' && digit && count < 2) {
            count++;
            digit = false;
        } else if (c >= '0' && c <= '9' && numbers[count] < MOST) {
            numbers[count] = numbers[count] * 10 + (unsigned)(c - '0');
            digit = true;
        } else {
            return 0;
        }
    }
    return digit ? count + 1 : 0;
}

ReleaseSet releases_named(Str name) {
    unsigned numbers[3] = {0};
    if (name.size && name.data[0] == 'v')
        name = (Str){name.data + 1, name.size - 1};
    unsigned count = read_numbers(name, numbers);
    if (count < 2 || numbers[0] < 3 || (numbers[0] == 3 && numbers[1] < 5))
        return 0;
    if (numbers[0] > 3 || numbers[1] >= 9)
        return 1 << RELEASE_3_9;
    switch (numbers[1]) {
    case 5:
        return 1 << RELEASE_3_5;
    case 6:
        return 1 << RELEASE_3_6;
    case 7:
        if (count < 3)
            return 1 << RELEASE_3_7_0 | 1 << RELEASE_3_7_1;
        return numbers[2] ? 1 << RELEASE_3_7_1 : 1 << RELEASE_3_7_0;
    default:
        return 1 << RELEASE_3_8;
    }
}

void releases_describe(ReleaseSet set, Text *to) {
    bool any = false;
    for (unsigned i = 0; i < RELEASES; i++) {
        unsigned last = i;
        if (!release_in(set, i))
            continue;
        while (last + 1 < RELEASES && release_in(set, last + 1))
            last++;
        text_addf(to, "%s%s", any ? ", " : "", names[i]);
        if (last + 1 == RELEASES)
            text_addf(to, " and later");
        else if (last > i)
            text_addf(to, " to %s", names[last]);
        any = true;
        i = last;
    }
}
