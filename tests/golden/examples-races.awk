# What `weir check --format json examples/races` finds, beside what examples/races/expected.tsv says it should.
#
# Prints a line for each broken kernel with the rules of its findings, and for each kernel of which the verdict differs
# from the expected one, or the expected rule is not among those found; then how many there are of each.

FNR == NR {
    if (FNR > 1) {
        split($0, column, "\t")
        verdict[column[1]] = column[2]
        rule[column[1]] = column[3]
    }
    next
}

function settle(    wrong) {
    if (file == "")
        return
    wrong = found != verdict[file] || (rule[file] != "-" && index(rules " ", " " rule[file] " ") == 0)
    if (wrong)
        printf "%s:%s; expected: %s %s\n", file, rules == "" ? " " found : rules, verdict[file], rule[file]
    else if (found != "clean")
        printf "%s:%s\n", file, rules
    count[wrong ? "other than expected" : found]++
    delete verdict[file]
}

/^ *{"file": .*"kernel": / {
    settle()
    split($0, word, "\"")
    file = word[4]
    sub(".*/", "", file)
    found = word[12]
    rules = ""
}

/^ *{"rule": / {
    split($0, word, "\"")
    if (index(rules " ", " " word[4] " ") == 0)
        rules = rules " " word[4]
}

END {
    settle()
    for (file in verdict)
        print file ": not there"
    printf "clean: %d, findings: %d, other than expected: %d\n", count["clean"], count["findings"], count["other than expected"]
}
