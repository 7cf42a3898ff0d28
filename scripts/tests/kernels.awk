# What scripts/tests/kernels makes, of the table of cases or a list of files that it is given. -v from=DIR -v to=OUT

function fail(sentence) {
    print from (table ? "/cases.tsv:" NR : "") ": " sentence >"/dev/stderr"
    failed = 1
    exit 1
}

# Puts values for ${x}.
function fill(text, value,    name) {
    while (match(text, /\$\{[a-z_]+\}/)) {
        name = substr(text, RSTART + 2, RLENGTH - 3)
        if (!(name in value)) fail("there is no value for ${" name "}")
        text = substr(text, 1, RSTART - 1) value[name] substr(text, RSTART + RLENGTH)
    }
    return text
}

# "word,x=value" into the set of its words, and values by name.
function read_words(list, words, value,    part, i, at) {
    split("", words)
    at = split(list, part, ",")
    for (i = 1; i <= at; i++) {
        words[part[i]] = 1
        if (match(part[i], /=/)) value[substr(part[i], 1, RSTART - 1)] = substr(part[i], RSTART + 1)
    }
}

# Whether a condition holds: one of a list by commas, all of a list by &.
function holds(condition, words,    any, all, i, j) {
    for (i = split(condition, any, ","); i > 0; i--) {
        for (j = split(any[i], all, "&"); j > 0 && all[j] in words; j--) continue
        if (j == 0) return 1
    }
    return 0
}

function load(template,    path, line, name) {
    path = from "/" template ".in"
    size[template] = 0
    while ((getline line <path) > 0) {
        text[template, ++size[template]] = line
        if (line ~ /^ *\/\/\$ [^ ]/) {
            name = line
            sub(/^ *\/\/\$ /, "", name)
            sub(/[:+].*/, "", name)
            gsub(/[,&]/, "\n", name)
            mentions[template] = mentions[template] "\n" name "\n"
        }
        while (match(line, /\$\{[a-z_]+\}/)) {
            mentions[template] = mentions[template] "\n" substr(line, RSTART + 2, RLENGTH - 3) "=\n"
            line = substr(line, RSTART + RLENGTH)
        }
    }
    close(path)
    if (size[template] == 0) fail("there is no " path)
}

# A word that a template does not know would leave it as it stands.
function check_words(template, words,    word, name) {
    for (word in words) {
        name = word
        sub(/=.*/, "=", name)
        if (word !~ /=$/ && !index(mentions[template], "\n" word "\n") && !index(mentions[template], "\n" name "\n"))
            fail(template ".in has no variant " word)
    }
}

# The comment at the head, as one paragraph.
function print_comment(path,    count, word, i, line) {
    if (comment == "") return
    count = split(comment, word, " ")
    line = "//"
    for (i = 1; i <= count; i++) {
        if (length(line) + 1 + length(word[i]) > 120) {
            print line >path
            line = "//"
        }
        line = line " " word[i]
    }
    print line >path
    comment = ""
}

function put(line, path) {
    if (heading && line ~ /^\/\/ /) {
        comment = comment substr(line, 3)
        return
    }
    heading = 0
    print_comment(path)
    print line >path
}

# Puts a line of a template, or what replaces it (which is there already), and what comes after it.
function put_base(base, replaced, count, after, path,    i) {
    if (!replaced) put(base, path)
    for (i = 1; i <= count; i++) put(after[i], path)
}

# Writes a template from a line on, to its end or `//$ launch`; gives back the line after that.
function write(template, first, words, value, path,    i, line, indent, condition, mark, base, count, after, replaced) {
    heading = table
    for (i = first; i <= size[template] + 1; i++) {
        line = i > size[template] ? "//$ launch" : text[template, i]
        if (!match(line, /^ *\/\/\$ /) || line == "//$ launch") {
            if (i > first) put_base(base, replaced, count, after, path)
            if (line == "//$ launch") break
            base = fill(line, value)
            replaced = count = 0
            continue
        }
        indent = substr(line, 1, index(line, "/") - 1)
        line = substr(line, RLENGTH + 1)
        match(line, /[:+]/)
        condition = substr(line, 1, RSTART - 1)
        mark = substr(line, RSTART, 1)
        line = substr(line, RSTART + 2)
        if (!holds(condition, words)) continue
        line = (base ~ /^\/\/ / ? "// " : indent) fill(line, value)
        if (mark == "+")
            after[++count] = line
        else {
            replaced = 1
            if (line !~ /^(\/\/)? *$/) put(line, path)
        }
    }
    print_comment(path)
    close(path)
    return i + 1
}

# A file of a template, as T.ttgir, and its launch, if it has one.
function make(template, list, name, value,    words, ending, i) {
    ending = template
    sub(/.*\./, "", ending)
    if (made[name]++) fail("there are two kernels " name)
    if (!(template in size)) load(template)
    read_words(list, words, value)
    check_words(template, words)
    i = write(template, 1, words, value, to "/" name "." ending)
    if (i <= size[template]) write(template, i, words, value, to "/" name ".launch.json")
}

# What is between the parentheses of T(words).
function words_of(kernel) {
    return match(kernel, /\(.*\)$/) ? substr(kernel, RSTART + 1, RLENGTH - 2) : ""
}

function one_test(name, kernels, rest,    count, kernel, value, words, list, i, file, files) {
    count = split(kernels, kernel, " ")
    for (i = 1; i <= count; i++) read_words(words_of(kernel[i]), words, value)
    name = fill(name, value)
    for (i = 1; i <= count; i++) {
        file = kernel[i]
        if (file !~ /\.ttgir$/) {
            file = count == 1 ? name : name "-" substr("abcdefgh", i, 1)
            list = words_of(kernel[i])
            sub(/\(.*/, "", kernel[i])
            make(kernel[i] ".ttgir", list, file, value)
            file = file ".ttgir"
        }
        files = files " " file
    }
    print name "\t" substr(files, 2) "\t" fill(rest, value) >(to "/expected.tsv")
}

# A line is as many tests as the values of its sweeps allow.
function sweep(name, kernels, rest,    before, after, list, value, count, i) {
    if (!match(kernels, /=[^,()]*\|[^,()]*/)) {
        one_test(name, kernels, rest)
        return
    }
    before = substr(kernels, 1, RSTART)
    after = substr(kernels, RSTART + RLENGTH)
    list = substr(kernels, RSTART + 1, RLENGTH - 1)
    count = split(list, value, "|")
    for (i = 1; i <= count; i++) sweep(name, before value[i] after, rest)
}

# K-WORD.mlir, of a folder without a table of cases.
function one_file(file,    template, word, value) {
    if (!match(file, /-[a-z]+\.[a-z]+$/)) fail(file " does not exist")
    word = substr(file, RSTART + 1)
    template = substr(file, 1, RSTART - 1) substr(word, index(word, "."))
    word = substr(word, 1, index(word, ".") - 1)
    sub(/\.[a-z]+$/, "", file)
    system("mkdir -p \"$(dirname " to "/" file ")\"")
    make(template, word == "broken" ? word : "", file, value)
}

/^#/ { next }
NF == 1 { one_file($1); next }
NF != 6 { table = 1; fail("a line has 6 columns") }
!table++ {
    print $1 "\tfiles\t" $3 "\t" $4 "\t" $5 "\t" $6 >(to "/expected.tsv")
    next
}
{ sweep($1, $2, $3 "\t" $4 "\t" $5 "\t" $6) }
END {
    if (failed) exit 1
    templates = "cd " from " && find * -name \"*.in\""
    while ((templates | getline file) > 0)
        if (!(substr(file, 1, length(file) - 3) in size)) fail(file " is used nowhere")
}
