# Plays a clinic with its laboratory: it lets the patients of a table come one after the other, looks up what
# lao asks for, and reports it, until all patients have come.
#
# usage: sh laboratory.sh STUDY TABLE TARGET
study=$1 table=$2 target=$3
left=$(($(wc -l < "$table") - 1))
while [ "$left" -gt 0 ] && lao study ask -S "$study" -n "$left" > slots.txt 2> notes.txt; do
    left=$((left - $(wc -l < slots.txt)))
    # A line of slots.txt is like `slot 3: bmi, ltg`; the patient of slot 3 is the third of the table.
    awk -F, -v target="$target" '
        FNR == NR && FNR == 1 { for (i = 1; i <= NF; i++) place[$i] = i }
        FNR == NR { patient[FNR - 1] = $0; next }
        {
            split($0, parts, ": "); split(parts[1], slot, " "); split(patient[slot[2]], cells, ",")
            count = split(parts[2], names, ", "); names[++count] = target
            header = "slot"; line = slot[2]
            for (i = 1; i <= count; i++) {
                header = header "," names[i]
                line = line "," cells[place[names[i]]]
            }
            if (FNR == 1) print header
            print line
        }' "$table" slots.txt > results.csv
    lao study tell -S "$study" --from results.csv > told.txt 2> notes.txt || exit
done
