#!/bin/bash
#BSUB -J batch-0[1-2]
#BSUB -x
#BSUB -m haswell
#BSUB -n 16 -R "span[ptile=16]"
#BSUB -W 2:15
#BSUB -o /home/user/mpicampaign/results/golden/logs/batch-0-%J_%I.log
#
# A job array of 2 blocks with at most 3 runs each, of campaign golden. Submit with: bsub < batch-0.sh.
# Each line of this file is a task: the folders of its runs, whose own job scripts it starts one after the other.
tasks=/home/user/mpicampaign/results/golden/batches/batch-0.runs
cd /home/user/mpicampaign/results/golden || exit 73
IFS=$'\t' read -ra folders < <(sed -n "$((${LSB_JOBINDEX:-0} ? LSB_JOBINDEX : 1))p" "$tasks") || exit 73
# The runs of a block are compared with each other: requeued on other nodes it is left once a run has ended well.
nodes=${tasks%.runs}.nodes-$((${LSB_JOBINDEX:-0} ? LSB_JOBINDEX : 1)) here="${LSB_MCPU_HOSTS-}" due=()
for folder in "${folders[@]}"; do
    [ -e "$folder/result.txt" ] || [ -e "$folder/result/output.txt" ] || due+=("$folder/left")
done
if [ "$(cat "$nodes" 2>/dev/null)" = "$here" ] || [ "${#due[@]}" -eq "${#folders[@]}" ]; then
    echo "$here" >"$nodes" || exit 73
elif [ "${#due[@]}" -gt 0 ]; then
    echo "it began on $(cat "$nodes") and was requeued on $here" | tee -- "${due[@]}"
    exit 76
fi
status=0
for folder in "${folders[@]}"; do
    timeout --kill-after=60 2700 bash "$PWD/$folder/job.sh" || status=$?
done
exit "$status"
