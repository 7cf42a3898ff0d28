# Whether what a GPU has shown is what the model allows: awk -f seen.awk cases.tsv seen.tsv. Prints what is not, and
# `N passed, N failed`.
/^#/ { next }
FNR == NR { allowed[$1] = " " $3 " "; next }
{
    wrong = ""
    count = split($3, outcomes, " ")
    for (i = 1; i <= count; i++) {
        outcome = outcomes[i]
        sub(/:.*/, "", outcome)
        if (!index(allowed[$1], " " outcome " "))
            wrong = wrong " " outcome
    }
    if (wrong != "" || count == 0 || !($1 in allowed)) {
        print "failed: " $1 ": a GPU has shown" wrong ", which is not allowed"
        failed++
    } else {
        passed++
    }
    seen[$1] = 1
}
END {
    for (name in allowed)
        if (!(name in seen)) {
            print "failed: " name ": nothing is known of it from a GPU"
            failed++
        }
    print passed + 0 " passed, " failed + 0 " failed"
}
